"""Check that Keyhole is registered with the clients on this machine and that the registered commands start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from keyhole.cli.report import Finding, Level
from keyhole.config.parse import parse_config
from keyhole.errors import KeyholeError
from keyhole.extensions.install.arguments import DEFAULT_NAME
from keyhole.extensions.install.discover import Registration, find_registrations, these_servers, this_machine
from keyhole.extensions.install.doctor.conversation import StartResult, try_start
from keyhole.extensions.install.doctor.network import try_connection
from keyhole.extensions.install.entries import Server
from keyhole.extensions.install.output import mask_command, mask_secrets

AREA: Final = "Clients"
START_TIMEOUT: Final = 10.0
"""Seconds for a server to start and list its tools; clients wait 10 to 60 seconds."""
PARALLEL_STARTS: Final = 2
"""Servers that are started at the same time; each start uses a processor completely."""
CommandKey = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]
"""Command, arguments and settings of a server."""


def check(*, offline: bool) -> list[Finding]:
    """Return one finding for each client on this machine, and one that lists the known clients not found."""
    registrations = find_registrations(this_machine(), DEFAULT_NAME)
    servers = {
        _key(each.server): each.server
        for each in registrations
        if each.server and each.state in {"registered", "other copy"}
    }
    starts = asyncio.run(_start_servers(servers.values()))
    findings = [_check_registration(each, starts, offline=offline) for each in registrations if each.found]
    if not any(each.server and each.state != "name taken" for each in registrations):
        fix = "keyhole install lists the clients on this machine; keyhole install CLIENT registers Keyhole with one."
        findings.append(Finding(AREA, "none", Level.WARN, "Keyhole is not registered with any client", fix))
    absent = [each.client.title for each in registrations if not each.found]
    return [*findings, Finding(AREA, "not found", Level.NOTE, ", ".join(absent))] if absent else findings


async def _start_servers(servers: Iterable[Server]) -> dict[CommandKey, StartResult]:
    """Start each server once and return the results.

    Those of this installation start alone, because a shared server would go on running after the check.
    """
    ours = {each.command for each in these_servers()}
    slots = asyncio.Semaphore(PARALLEL_STARTS)

    async def start(server: Server) -> StartResult:
        async with slots:
            alone = {"KEYHOLE_SHARED": "off"} if server.command in ours else {}
            return await try_start(replace(server, env={**server.env, **alone}), START_TIMEOUT)

    distinct = list(servers)
    return dict(zip(map(_key, distinct), await asyncio.gather(*map(start, distinct)), strict=True))


def _key(server: Server) -> CommandKey:
    return server.command, server.args, tuple(sorted(server.env.items()))


def _check_registration(registration: Registration, starts: dict[CommandKey, StartResult], *, offline: bool) -> Finding:
    name, state, server = registration.client.name, registration.state, registration.server
    install = f"keyhole install {name}"
    if state == "unreadable":
        fix = f"Correct {registration.path}; the client cannot read it either."
        return Finding(AREA, name, Level.FAIL, registration.fault, fix)
    if state == "by hand":
        return Finding(AREA, name, Level.NOTE, "must be registered by hand", f"{install} --print shows what to add.")
    if server is None:
        return Finding(AREA, name, Level.NOTE, "Keyhole is not registered", install)
    if state == "name taken":
        message = f"its entry {DEFAULT_NAME!r} is another program: {server.command or 'none'}"
        return Finding(AREA, name, Level.WARN, message, f"{install} --name NAME registers Keyhole beside it.")
    if server.url:
        return _check_url(name, server.url, offline=offline)
    return _check_program(registration, server, starts[_key(server)], install)


def _check_url(name: str, url: str, *, offline: bool) -> Finding:
    shown = mask_secrets(url)
    if offline:
        return Finding(AREA, name, Level.NOTE, f"not checked: {shown}")
    if fault := try_connection(url, ""):
        fix = "Check that the server runs and that the address is correct."
        return Finding(AREA, name, Level.FAIL, f"{shown}: {fault}", fix)
    return Finding(AREA, name, Level.OK, shown)


def _check_program(registration: Registration, server: Server, start: StartResult, install: str) -> Finding:
    name = registration.client.name
    if fault := _setting_fault(server):
        message = f"a setting in its entry is wrong: {fault}"
        return Finding(AREA, name, Level.FAIL, message, f"Correct it in {registration.path}.")
    if start.fault:
        return Finding(AREA, name, Level.FAIL, f"does not start: {start.fault}", install)
    if registration.state == "other copy":
        command = " ".join(mask_command([server.command, *server.args]))
        message = f"starts another copy of Keyhole: {command}"
        return Finding(AREA, name, Level.WARN, message, f"{install} changes it to this copy.")
    return Finding(AREA, name, Level.OK, f"starts in {start.seconds:.1f} s")


def _setting_fault(server: Server) -> str:
    """Return the fault of a setting in the entry, or ""."""
    try:
        parse_config(server.env)
    except KeyholeError as error:
        return error.message
    return ""
