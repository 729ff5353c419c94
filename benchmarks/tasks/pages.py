"""Find the pages of the tasks on disk, and serve them on loopback with their media types.

A page is served at `/TASK/NAME`, so that each task fetches a page that the session has not seen.
"""

from __future__ import annotations

import gzip
import json
import lzma
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any, Final

from benchmarks.extraction.manuals.packages import CACHE, unpack_package
from benchmarks.tasks.tasks import Task

MEDIA_TYPES: Final = {
    ".html": "text/html",
    ".htm": "text/html",
    ".en": "text/html",
    ".de": "text/html",
    ".pdf": "application/pdf",
    ".json": "application/json",
    ".csv": "text/csv",
    ".tab": "text/tab-separated-values",
}
"""The media type of each suffix; other files are plain text, as most web servers say."""


@dataclass(frozen=True, slots=True)
class Page:
    """A file as a web server sends it."""

    name: str
    body: bytes
    media_type: str

    @property
    def is_text(self) -> bool:
        """True if the body is text in any format."""
        return self.media_type != "application/pdf"

    @property
    def is_html(self) -> bool:
        """True if the body is HTML."""
        return self.media_type == "text/html"

    @property
    def content_type(self) -> str:
        """The header field. The charset is stated where the body is UTF-8."""
        return f"{self.media_type}; charset=utf-8" if self.is_text and self.charset == "utf-8" else self.media_type

    @property
    def charset(self) -> str:
        """`utf-8`, or `latin-1` for a body that is not."""
        try:
            self.body.decode()
        except UnicodeDecodeError:
            return "latin-1"
        return "utf-8"


def find_pages(tasks: Sequence[Task], data: Sequence[Path]) -> dict[str, Page]:
    """Return the page of each task by the task's id. A task whose page is on neither side has none."""
    ids = {task.page.removeprefix("wcxb:") for task in tasks if task.needs_data}
    published = _published_pages(data, ids)
    found = {
        task.id: published.get(task.page.removeprefix("wcxb:")) if task.needs_data else _package_page(task.page)
        for task in tasks
    }
    return {id: page for id, page in found.items() if page}


def _published_pages(files: Sequence[Path], ids: set[str]) -> dict[str, Page]:
    pages: dict[str, Page] = {}
    for file in files:
        opener: Any = lzma.open if file.suffix == ".xz" else gzip.open
        with opener(file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["id"] in ids:
                    name = PurePosixPath(row["url"].split("?")[0]).name or "index"
                    pages[row["id"]] = Page(f"{PurePosixPath(name).stem}.html", row["html"].encode(), "text/html")
    return pages


def _package_page(place: str) -> Page | None:
    package, _, path = place.partition(":")
    unpacked = next(CACHE.glob(f"{package}_*"), None) or unpack_package(package)
    file = unpacked / path if unpacked else None
    if not (file and file.is_file()):
        return None
    body = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    name = file.name.removesuffix(".gz")
    return Page(name, body, MEDIA_TYPES.get(PurePosixPath(name).suffix, "text/plain"))


@contextmanager
def serve_pages(pages: Mapping[str, Page]) -> Iterator[str]:
    """Serve the page of each task at `/TASK/NAME` on loopback until the block ends; yield the site's URL."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path.split("/")[1])
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", page.content_type if page else "text/plain")
            self.send_header("Content-Length", str(len(page.body) if page else 0))
            self.end_headers()
            if page:
                self.wfile.write(page.body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the output is the table."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()
