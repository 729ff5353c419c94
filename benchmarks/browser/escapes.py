"""Count the packets that a page sends around the gateway when it tries every way out of the browser.

    python -m benchmarks.browser.escapes

The page has the ways of tests/support/ways_out.py, over TLS and over plain http, each to a name of its own and to
loopback by three hosts. Each installed browser visits it with all flags, then without each of those that keep it behind
the gateway. No request is refused in the browser itself. strace sees every socket of the browser's processes, so the
counts include connections that fail. Takes about a minute for each browser.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.support.observed_browser import MISSING, Visit, installed_browsers
from tests.support.socket_calls import MISSING as NO_STRACE
from tests.support.socket_calls import can_trace
from tests.support.trap_site import HOST, LITERALS, spring
from tests.support.ways_out import HEADERS, WAYS, trap_host

RUNS: Final[tuple[tuple[str, str, tuple[str, ...], str], ...]] = (
    ("all flags, https", "https", (), HOST),
    ("all flags, http", "http", (), HOST),
    ("images loaded too, https", "https", ("--blink-settings",), HOST),
    ("images loaded too, http", "http", ("--blink-settings",), HOST),
    ("without --proxy-server", "https", ("--proxy-server",), "127.0.0.1"),
    ("without --proxy-bypass-list", "https", ("--proxy-bypass-list",), HOST),
    (
        "without --…webrtc-ip-handling-policy",
        "https",
        ("--force-webrtc-ip-handling-policy", "--webrtc-ip-handling-policy"),
        HOST,
    ),
    ("without --host-resolver-rules", "https", ("--host-resolver-rules",), HOST),
)
"""The name of each run, its scheme, the flags left out, and the page's host."""


def main() -> int:
    """Print one line for each browser and run. Return 1 if a packet went around the gateway with all flags."""
    browsers = installed_browsers()
    if not browsers or not can_trace():
        print(NO_STRACE if browsers else MISSING)
        return 2
    print(f"{len(WAYS)} ways and {len(HEADERS)} fields of the response, each to {1 + len(LITERALS)} hosts")
    print(f"{'run':36} {'TCP':>5} {'UDP':>5} {'ways that asked the gateway':>28}  browser")
    escaped = 0
    for program, (name, scheme, without, host) in itertools.product(browsers, RUNS):
        with tempfile.TemporaryDirectory() as folder:
            visit = spring(Path(folder), WAYS, _has_finished, without, scheme=scheme, host=host, program=program)
            tcp, udp = _packets(visit, "TCP"), _packets(visit, "UDP")
        asked = sum(trap_host(way) in visit.refused for way in WAYS)
        print(f"{name:36} {tcp:5} {udp:5} {asked:28}  {program}", flush=True)
        escaped += 0 if name.startswith("without") else tcp + udp
    return 1 if escaped else 0


def _has_finished(visit: Visit) -> bool:
    return visit.finished.is_set()


def _packets(visit: Visit, protocol: str) -> int:
    return sum(call.protocol == protocol for call in visit.calls)


if __name__ == "__main__":
    sys.exit(main())
