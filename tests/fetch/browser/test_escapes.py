"""No way out of a page leads around the gateway, and each flag that is needed for it is needed.

strace sees all sockets of a real browser's processes, while a page over TLS tries what tests/support/ways_out.py lists.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keyhole.fetch.browser.chromium import find_browser
from keyhole.fetch.browser.render import PageRenderer
from tests.support.observed_browser import AGENT, MISSING, PATIENCE, Visit, observed_program, recorded_calls
from tests.support.socket_calls import MISSING as NO_STRACE
from tests.support.socket_calls import can_trace
from tests.support.trap_site import ASKED, HOST, has_tried_all, spring, trap
from tests.support.ways_out import WAYS, trap_host

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason=MISSING),
    pytest.mark.skipif(not can_trace(), reason=NO_STRACE),
]


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """Try all ways with all flags but the one that leaves out images."""
    return spring(tmp_path_factory.mktemp("visit"), WAYS, has_tried_all, without=("--blink-settings",))


def test_nothing_that_a_page_does_sends_a_packet_to_anything_but_the_gateway(visited: Visit) -> None:
    assert visited.calls == []


@pytest.mark.parametrize("way", ASKED)
def test_a_way_out_leads_to_the_gateway(visited: Visit, way: str) -> None:
    assert trap_host(way) in visited.refused


def test_the_browser_itself_reaches_nothing_through_the_gateway(visited: Visit) -> None:
    named = {host for host in visited.refused if not host.endswith("trap.example")}
    assert named <= {"127.0.0.1", "::1", "localhost"}


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
