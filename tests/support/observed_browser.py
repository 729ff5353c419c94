"""Run the browser that Keyhole starts under strace, so that a test sees where all of its processes connect."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from keyhole.config.config import Config
from keyhole.extensions.browser.chromium import NAMES, DevTools, end_browser, find_browser, start_browser
from keyhole.extensions.browser.gateway import USER, GatewayLimits, GatewayTotals, PageConnections, open_gateway
from keyhole.fetch.urls import parse_target
from tests.support.socket_calls import SocketCall, read_calls, read_programs, traced_command

MISSING: Final = "Chromium is not installed (apt-get install chromium)"
PATIENCE: Final = 30.0
"""Seconds after which a visit ends. On an idle machine, one takes about three."""
POLL: Final = 0.1
"""Seconds between two looks at what a browser has done."""
UNLIMITED: Final = GatewayLimits(max_connections=100_000)
AGENT: Final = "Keyhole-Test/1"
_PORT: Final = re.compile(r"--proxy-server=http://127\.0\.0\.1:([0-9]+)")


def installed_browsers() -> list[str]:
    """Return the names of all browsers on this machine that Keyhole would find."""
    return [name for name in NAMES if find_browser(name)]


def observed_program(
    folder: Path, without: tuple[str, ...] = (), flags: tuple[str, ...] = (), program: str = ""
) -> str:
    """Write a program that runs a browser, and records in `folder` what each of its starts does.

    It leaves out the flags that begin with one of `without`, and adds `flags`.
    """
    browser = find_browser(program)
    assert browser, MISSING
    dropped = "|".join(f"{flag}=*|{flag}" for flag in without) or "--no-flag"
    command = shlex.join([*traced_command("LOG"), browser, *flags]).replace("LOG", '"$start.calls"', 1)
    observed = folder / "browser"
    observed.write_text(
        "#!/bin/bash\n"
        f'start={shlex.quote(str(folder))}/$$\necho "$@" > "$start.arguments"\n'
        "arguments=()\n"
        f'for each in "$@"; do case "$each" in {dropped}) ;; *) arguments+=("$each") ;; esac; done\n'
        f'exec {command} "${{arguments[@]}}"\n'
    )
    observed.chmod(0o755)
    return str(observed)


def recorded_calls(folder: Path) -> list[SocketCall]:
    """Return the recorded calls of all starts, without those that connect to the start's own gateway."""
    calls = []
    for file in folder.glob("*.calls"):
        port = _PORT.search(file.with_suffix(".arguments").read_text())
        assert port, "the browser was started without a proxy"
        gateway = SocketCall("connect", "TCP", "127.0.0.1", int(port[1]))
        calls += [call for call in read_calls(file.read_text().splitlines()) if call != gateway]
    return calls


@dataclass(frozen=True, slots=True)
class Visit:
    """What a browser has done so far to show a page."""

    folder: Path
    totals: GatewayTotals
    finished: asyncio.Event
    """Set when the page's script has called `finished('')`."""

    @property
    def calls(self) -> list[SocketCall]:
        """The calls that send a packet to anything but the gateway."""
        return [call for call in recorded_calls(self.folder) if call.is_packet]

    @property
    def programs(self) -> set[str]:
        """The paths of the programs that the browser started or looked for."""
        return read_programs(line for file in self.folder.glob("*.calls") for line in file.read_text().splitlines())

    @property
    def refused(self) -> set[str]:
        """The hosts to which the gateway refused to connect."""
        return {endpoint.rpartition(":")[0] for endpoint in self.totals.refusals}


async def visit(
    url: str,
    folder: Path,
    config: Config,
    is_done: Callable[[Visit], bool],
    *,
    seconds: float = PATIENCE,
    without: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
    program: str = "",
) -> Visit:
    """Show a page until `is_done` is true, at most for some seconds.

    No rules apply but those of the gateway: no request is refused in the browser.
    """
    observed = observed_program(folder, without, flags, program)
    connect = PageConnections(config).of_page(parse_target(url))
    async with open_gateway(connect, UNLIMITED) as gateway:
        visit = Visit(folder, gateway.totals, asyncio.Event())
        browser = await start_browser(observed, gateway.port, AGENT, 2 * PATIENCE)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await _show(browser.devtools, url, gateway.secret, visit.finished)
                    while not is_done(visit):  # noqa: ASYNC110 - the browser's sockets report nothing
                        await asyncio.sleep(POLL)
        finally:
            await end_browser(browser)
        return visit


async def _show(devtools: DevTools, url: str, secret: str, finished: asyncio.Event) -> None:
    def authorize(event: Mapping[str, Any], session: str) -> None:
        answer = {"response": "ProvideCredentials", "username": USER, "password": secret}
        request = {"requestId": event["requestId"], "authChallengeResponse": answer}
        devtools.post("Fetch.continueWithAuth", request, session)

    def proceed(event: Mapping[str, Any], session: str) -> None:
        devtools.post("Fetch.continueRequest", {"requestId": event["requestId"]}, session)

    devtools.on("Fetch.authRequired", authorize)
    devtools.on("Fetch.requestPaused", proceed)
    devtools.on("Runtime.bindingCalled", lambda event, session: finished.set())
    context = await devtools.send("Target.createBrowserContext", {"disposeOnDetach": True})
    target = await devtools.send("Target.createTarget", {"url": "about:blank", **context})
    attached = await devtools.send("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
    session = attached["sessionId"]
    await devtools.send("Fetch.enable", {"handleAuthRequests": True}, session)
    await devtools.send("Runtime.enable", {}, session)
    await devtools.send("Runtime.addBinding", {"name": "finished"}, session)
    answer = await devtools.send("Page.navigate", {"url": url}, session)
    assert "errorText" not in answer, answer
