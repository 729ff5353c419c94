"""No way out of a page leads around the gateway, and each flag that is needed for it is needed.

strace sees all sockets of a real browser's processes, while a page over TLS tries what tests/support/ways_out.py lists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.extensions.browser.chromium import end_browser, find_browser, start_browser
from keyhole.extensions.browser.gateway import USER, PageConnections, open_gateway
from keyhole.extensions.browser.page_session import PageSession
from keyhole.extensions.browser.render import PageRenderer
from keyhole.fetch.urls import parse_target
from tests.fetch.test_client import ANY_PORT
from tests.support.loopback import response, serve
from tests.support.observed_browser import (
    AGENT,
    MISSING,
    PATIENCE,
    Visit,
    installed_browsers,
    observed_program,
    recorded_calls,
)
from tests.support.socket_calls import MISSING as NO_STRACE
from tests.support.socket_calls import can_trace
from tests.support.trap_site import ASKED, HOST, has_tried_all, spring, trap
from tests.support.ways_out import WAYS, trap_host

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason=MISSING),
    pytest.mark.skipif(not can_trace(), reason=NO_STRACE),
]


FLAGS_LEFT_OUT = ("--blink-settings",)
OPENERS = ("gio", "kde-open", "lp", "lpr", "sensible-browser", "xdg-email", "xdg-mime", "xdg-open", "xdg-settings")
"""Programs that open an address, look for one that does, or print."""


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Visit]:
    """Return the function that lets a browser try all ways, once, with all flags but the one that leaves out images."""
    return cache(
        lambda program: spring(tmp_path_factory.mktemp("visit"), WAYS, has_tried_all, FLAGS_LEFT_OUT, program=program)
    )


@pytest.fixture(params=installed_browsers())
def visited(request: pytest.FixtureRequest, visit: Callable[[str], Visit]) -> Visit:
    """Return the visit of each browser. A fixture of the module with parameters would visit again in random order."""
    return visit(request.param)


def test_nothing_that_a_page_does_sends_a_packet_to_anything_but_the_gateway(visited: Visit) -> None:
    assert visited.calls == []


@pytest.mark.parametrize("way", ASKED)
def test_a_way_out_leads_to_the_gateway(visited: Visit, way: str) -> None:
    assert trap_host(way) in visited.refused


def test_the_browser_itself_reaches_nothing_through_the_gateway(visited: Visit) -> None:
    named = {host for host in visited.refused if not host.endswith("trap.example")}
    assert named <= {"127.0.0.1", "::1", "localhost"}


def test_no_program_prints_or_opens_an_address_for_a_page(visited: Visit) -> None:
    programs = {Path(program) for program in visited.programs}
    assert any("chrom" in program.name for program in programs)
    started = {program for program in programs if program.name in OPENERS}
    # In the profile are programs of these names, which do nothing.
    assert [program for program in started if not program.parts[-3].startswith("keyhole-browser-")] == []


@pytest.mark.parametrize(
    ("flags", "way", "protocol", "host"),
    [
        (("--proxy-server",), "fetch", "TCP", "127.0.0.1"),
        (("--proxy-bypass-list",), "fetch", "TCP", HOST),
        (("--force-webrtc-ip-handling-policy", "--webrtc-ip-handling-policy"), "stun", "UDP", HOST),
        (("--host-resolver-rules",), "turn-tcp", "UDP", HOST),
    ],
    ids=["proxy-server", "proxy-bypass-list", "webrtc-ip-handling-policy", "host-resolver-rules"],
)
def test_without_one_flag_a_page_sends_packets_around_the_gateway(
    tmp_path: Path, flags: tuple[str, ...], way: str, protocol: str, host: str
) -> None:
    def is_seen(visit: Visit) -> bool:
        return any(call.protocol.startswith(protocol) for call in visit.calls)

    assert is_seen(spring(tmp_path, (way,), is_seen, flags, host=host))


def test_a_rendered_page_and_the_browser_that_waits_for_the_next_one_stay_behind_their_gateways(tmp_path: Path) -> None:
    async def allow(url: str) -> bool:
        return True

    async def render() -> str:
        renderer = PageRenderer(it.config, AGENT, observed_program(tmp_path, flags=it.flags))
        try:
            loop = asyncio.get_running_loop()
            return (await renderer.render(it.url(), loop.time() + PATIENCE, allow)).html
        finally:
            await renderer.aclose()

    ways = ("fetch", "websocket", "beacon", "service-worker", "iframe", "prefetch", "stun", "turn-tcp")
    with trap(tmp_path, ways) as it:
        assert "text" in asyncio.run(render())
    assert [call for call in recorded_calls(tmp_path) if call.is_packet] == []


def files_in(folder: str, pattern: str) -> list[Path]:
    return list(Path(folder).rglob(pattern))


def test_a_page_reads_no_file_and_leaves_no_download(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the text of a file")
    html = (
        f"<p>text</p><iframe src='{secret.as_uri()}'></iframe><object data='{secret.as_uri()}'></object>"
        "<iframe src=/file></iframe><a href=/file download=left-behind>x</a><script>document.links[0].click();"
        f"fetch('{secret.as_uri()}').then(answer => answer.text()).then(text => document.write(text));"
        f"open('{secret.as_uri()}'); location = '{secret.as_uri()}'</script>"
    )
    download = response(
        b"x" * 1_000, Content_Type="application/zip", Content_Disposition="attachment; filename=left-behind"
    )

    async def show() -> tuple[str, list[Path]]:
        async def allow(url: str) -> bool:
            return True

        async with open_gateway(PageConnections(config).of_page(parse_target(site.url()))) as gateway:
            browser = await start_browser(find_browser() or "", gateway.port, AGENT, PATIENCE)
            try:
                session = PageSession(browser.devtools, USER, gateway.secret)
                await session.open()
                await session.load(site.url(), allow)
                await session.settle(asyncio.get_running_loop().time() + PATIENCE)
                return (await session.read())[0], files_in(browser.profile, "left-behind*")
            finally:
                await end_browser(browser)

    with serve({"/": response(html.encode(), Content_Type="text/html"), "/file": download}) as site:
        config = Config(allow_private=frozenset({site.endpoint}), ports=ANY_PORT)
        shown, files = asyncio.run(show())
    assert site.calls[-1].path == "/file"
    assert "text" in shown
    assert "the text of a file" not in shown
    assert files == []
