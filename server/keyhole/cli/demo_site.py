"""Serve recorded pages on loopback, for the demo, the tests and the benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """A recorded response."""

    name: str
    url: str
    content_type: str
    body: bytes


def fixtures_folder() -> Path:
    """Return `fixtures/` of the checkout, or its copy inside an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "fixtures"
    return inside if inside.is_dir() else package.parents[1] / "fixtures"


def recorded_pages(folder: Path | None = None) -> dict[str, RecordedPage]:
    """Return the recorded pages by the names of their folders."""
    pages = {}
    for response in sorted((folder or fixtures_folder()).glob("*/response.json")):
        facts = json.loads(response.read_text(encoding="utf-8"))
        name = response.parent.name
        pages[name] = RecordedPage(
            name, facts["url"], facts["headers"]["content-type"], response.with_name("body").read_bytes()
        )
    return pages


@contextmanager
def serve(pages: dict[str, RecordedPage]) -> Iterator[int]:
    """Serve each page at `/NAME` on a free loopback port, and yield the port."""

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
            """Log nothing, to keep the demo's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
