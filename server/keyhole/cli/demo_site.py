"""Recorded pages served on loopback, for the demo, the tests and the benchmarks. Serves only what it was given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded response."""

    name: str
    url: str
    content_type: str
    body: bytes


def fixtures_folder() -> Path:
    """`fixtures/` of the checkout, or its copy inside an installed wheel."""
    here = Path(__file__).resolve().parent
    inside = here / "fixtures"
    return inside if inside.is_dir() else here.parent.parent / "fixtures"


def recorded_pages(folder: Path | None = None) -> dict[str, Recorded]:
    """Every recorded page by its folder's name."""
    pages = {}
    for response in sorted((folder or fixtures_folder()).glob("*/response.json")):
        facts = json.loads(response.read_text(encoding="utf-8"))
        name = response.parent.name
        pages[name] = Recorded(
            name, facts["url"], facts["headers"]["content-type"], response.with_name("body").read_bytes()
        )
    return pages


@contextmanager
def serve(pages: dict[str, Recorded]) -> Iterator[int]:
    """Serve each page at `/NAME` on a free loopback port, which is yielded."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path.strip("/"))
            body = page.body if page else b"not here"
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", page.content_type if page else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet: the terminal belongs to the demo."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
