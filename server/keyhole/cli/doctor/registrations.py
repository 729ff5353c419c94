"""Each client of this machine: whether Keyhole is registered with it, as what, and whether that starts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from keyhole.cli.doctor.conversation import Tried, started
from keyhole.cli.doctor.network import reach
from keyhole.cli.doctor.report import Finding, Level
from keyhole.cli.install.arguments import DEFAULT_NAME
from keyhole.cli.install.discover import Registration, this_machine
from keyhole.cli.install.discover import look as look_at_clients
from keyhole.cli.install.entries import Server
from keyhole.cli.install.output import mask, masked
from keyhole.config.config import load
from keyhole.errors import KeyholeError

AREA: Final = "Clients"
PATIENCE: Final = 10.0
"""Seconds for a server to start and list its tools; clients wait for 10 to 60."""
Key = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]


def look(*, offline: bool) -> list[Finding]:
    """One line for each client that is here."""
    found = look_at_clients(this_machine(), DEFAULT_NAME)
    servers = {
        _key(each.server): each.server for each in found if each.server and each.state in {"registered", "other copy"}
    }
    tried = asyncio.run(_started(servers.values()))
    findings = [_told(each, tried, offline=offline) for each in found if each.found]
    if not any(each.server and each.state != "name taken" for each in found):
        fix = "keyhole install CLIENT registers it; keyhole install lists what is here."
        findings.append(Finding(AREA, "none", Level.WARN, "Keyhole is registered with no client", fix))
    absent = [each.client.title for each in found if not each.found]
    return [*findings, Finding(AREA, "not found here", Level.NOTE, ", ".join(absent))] if absent else findings


async def _started(servers: Iterable[Server]) -> dict[Key, Tried]:
    """Each different command once, two at a time: a start takes a processor."""
    turns = asyncio.Semaphore(2)

    async def one(server: Server) -> Tried:
        async with turns:
            return await started(server, PATIENCE)

    several = list(servers)
    return dict(zip(map(_key, several), await asyncio.gather(*map(one, several)), strict=True))


def _key(server: Server) -> Key:
    return server.command, server.args, tuple(sorted(server.env.items()))


def _told(each: Registration, tried: dict[Key, Tried], *, offline: bool) -> Finding:
    name, install = each.client.name, f"keyhole install {each.client.name}"
    if each.state == "unreadable":
        return Finding(AREA, name, Level.FAIL, each.fault, f"Mend {each.path}, which the client cannot read either.")
    if each.state == "by hand":
        return Finding(AREA, name, Level.NOTE, "is registered by hand", f"{install} --print shows what to add.")
    if each.server is None:
        return Finding(AREA, name, Level.NOTE, "is here, without Keyhole", install)
    if each.state == "name taken":
        said = f"its entry {DEFAULT_NAME!r} is another program: {each.server.command or 'none'}"
        return Finding(AREA, name, Level.WARN, said, f"{install} --name NAME registers Keyhole beside it.")
    if each.server.url:
        shown = mask(each.server.url)
        if offline:
            return Finding(AREA, name, Level.NOTE, f"not tried: {shown}")
        fault = reach(each.server.url, "")
        fix = "See whether that server runs, and whether the address is right." if fault else ""
        said = f"{shown}: {fault}" if fault else shown
        return Finding(AREA, name, Level.FAIL if fault else Level.OK, said, fix)
    return _program(each, each.server, tried[_key(each.server)], install)


def _program(each: Registration, server: Server, tried: Tried, install: str) -> Finding:
    name = each.client.name
    if wrong := _wrong_setting(server):
        return Finding(
            AREA, name, Level.FAIL, f"a setting in its entry is wrong: {wrong}", f"Put it right in {each.path}."
        )
    if tried.fault:
        return Finding(AREA, name, Level.FAIL, f"does not start: {tried.fault}", install)
    words = " ".join(masked([server.command, *server.args]))
    if each.state == "other copy":
        said = f"starts another copy of Keyhole, {words}"
        return Finding(AREA, name, Level.WARN, said, f"{install} has it start this one.")
    return Finding(AREA, name, Level.OK, f"starts in {tried.seconds:.1f} s")


def _wrong_setting(server: Server) -> str:
    try:
        load(server.env)
    except KeyholeError as error:
        return error.message
    return ""
