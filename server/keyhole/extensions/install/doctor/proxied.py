"""Check the servers that clients run behind the proxy: that their programs exist, and that they list their tools."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from keyhole.cli.report import Finding, Level
from keyhole.errors import Code
from keyhole.extensions.install.discover import Proxied, find_proxied, these_programs, this_machine
from keyhole.extensions.install.doctor.conversation import StartResult, try_start
from keyhole.extensions.install.output import mask_secrets

AREA: Final = "Behind the proxy"
SECONDS: Final = 15.0
"""Seconds for all starts together: less than the time of all checks (commands.py)."""
START_SECONDS: Final = 10.0
"""Seconds for one server to start and list its tools, as for Keyhole itself (registrations.py)."""
PARALLEL_STARTS: Final = 2
"""Servers that are started at the same time; each start uses a processor completely."""


def check(*, offline: bool) -> list[Finding]:
    """Return one finding for each server that a client runs behind the proxy."""
    servers = find_proxied(this_machine())
    return asyncio.run(_check_all(servers, offline=offline)) if servers else []


async def _check_all(servers: list[Proxied], *, offline: bool) -> list[Finding]:
    programs = these_programs()
    deadline, slots = time.monotonic() + SECONDS, asyncio.Semaphore(PARALLEL_STARTS)

    async def check_one(each: Proxied) -> Finding:
        if finding := _check_entry(each, offline=offline):
            return finding
        async with slots:
            seconds = min(START_SECONDS, deadline - time.monotonic())
            # With all variables, because some clients hand them on and headers may need them.
            server = replace(each.server, env={**os.environ, **each.server.env})
            result = await try_start(server, seconds, frozenset()) if seconds > 0 else None
        return _judge(each, result, programs)

    return list(await asyncio.gather(*map(check_one, servers)))


def _check_entry(each: Proxied, *, offline: bool) -> Finding | None:
    """Return the finding on an entry that is not to be started, None if it is to be started."""
    words = each.wrapped.words
    if words[0] == "--" and len(words) > 1:
        path = each.server.env.get("PATH") or os.environ.get("PATH")
        if shutil.which(words[1], path=path) is None:
            fix = f"Correct it in {each.path}, or install the program."
            return _finding(each, Level.FAIL, f"its program {words[1]} does not exist", fix)
    if offline and words[0] != "--":
        return _finding(each, Level.NOTE, "not checked, because it may be elsewhere")
    return None


def _judge(each: Proxied, result: StartResult | None, programs: Sequence[tuple[str, ...]]) -> Finding:
    """Return the finding on a server; `result`: None if there was no time to start it."""
    if result is None:
        return _finding(each, Level.NOTE, "not checked: other servers took too long")
    unwrap = f"keyhole install {each.client.name} --unwrap {each.name}"
    if Code.AUTHORIZATION_REQUIRED in result.fault:
        fix = (
            f"{unwrap}; then put the header Authorization into its entry and wrap it again, or let the client sign in "
            "over HTTP: keyhole proxy --http --url URL"
        )
        return _finding(each, Level.FAIL, "the server needs an authorization", fix)
    if result.fault:
        fix = f"If it fails without the proxy too, correct it in {each.path}; {unwrap} takes the proxy away."
        return _finding(each, Level.FAIL, f"does not start: {mask_secrets(result.fault)}", fix)
    if each.wrapped.program not in programs:
        return _finding(each, Level.WARN, "behind another copy of Keyhole", "Unwrap it and wrap it again.")
    return _finding(each, Level.OK, f"starts in {result.seconds:.1f} s")


def _finding(each: Proxied, level: Level, message: str, fix: str = "") -> Finding:
    return Finding(AREA, f"{each.client.name} {each.name}", level, message, fix)
