"""A site over TLS whose page tries ways out of the browser, and a visit to it under observation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keyhole.config.config import Config
from tests.fetch.test_client import ANY_PORT, names
from tests.support.certificates import self_signed
from tests.support.loopback import Site, response, serve, unused_port
from tests.support.observed_browser import Visit, visit
from tests.support.ways_out import HEADERS, WAYS, WORKER, page_with_ways, trap_host

HOST: Final = "site.example"
LITERALS: Final = ("127.0.0.1", "[::1]", "localhost")
"""Hosts that each way tries in addition to its own name. Nothing listens at the port."""
ASKED: Final = (
    "beacon", "blob-frame", "cache", "css-import", "data-frame", "download", "embed", "event-source", "fetch",
    "font-face", "form", "iframe", "import", "keepalive", "module", "object", "post", "preload", "prefetch",
    "sandboxed", "script", "script-navigation", "service-worker", "shared-worker", "srcdoc", "stylesheet", "sync-xhr",
    "turns", "turn-tcp", "video", "websocket", "worker", "worker-websocket", "xhr",
)  # fmt: skip
"""Ways that lead to the gateway in all current versions. The others are stopped in the browser, or depend on it."""


@dataclass(frozen=True, slots=True)
class Trap:
    """A running site, and the settings and flags for a browser that visits it."""

    site: Site
    scheme: str
    config: Config
    flags: tuple[str, ...]

    def url(self, host: str = HOST) -> str:
        """Return the URL of the page."""
        return f"{self.scheme}://{host}:{self.site.port}/"


@contextmanager
def trap(folder: Path, ways: tuple[str, ...] = WAYS, scheme: str = "https") -> Iterator[Trap]:
    """Run the site, with a new certificate for https."""
    certificate, key = self_signed(folder, HOST)
    closed = unused_port()
    html = page_with_ways(ways, tuple(f"{host}:{closed}" for host in LITERALS))
    fields = {name.replace("-", "_"): value for name, value in HEADERS.items()}
    answers = {
        "/": response(html.encode(), Content_Type="text/html", **fields),
        "/worker.js": response(WORKER.encode(), Content_Type="text/javascript"),
    }
    with serve(answers, tls=certificate if scheme == "https" else None) as site, names({HOST: ["127.0.0.1"]}):
        config = Config(allow_private=frozenset({f"{HOST}:{site.port}"}), ports=ANY_PORT)
        yield Trap(site, scheme, config, (f"--ignore-certificate-errors-spki-list={key}",))


def has_tried_all(visit: Visit) -> bool:
    """Return True if the page has finished and the gateway was asked for all hosts that lead to it."""
    return visit.finished.is_set() and {trap_host(way) for way in ASKED} <= visit.refused


def spring(
    folder: Path,
    ways: tuple[str, ...],
    is_done: Callable[[Visit], bool],
    without: tuple[str, ...] = (),
    *,
    scheme: str = "https",
    host: str = HOST,
    program: str = "",
) -> Visit:
    """Visit the page without some of the browser's flags."""
    with trap(folder, ways, scheme) as it:
        visiting = visit(it.url(host), folder, it.config, is_done, without=without, flags=it.flags, program=program)
        return asyncio.run(visiting)
