"""Serve the sites on loopback, over TLS and without it, each under its own host name, and record the requests.

A file is served at its path, a folder as its `index.html`, or else it is missing, as on the web. The first page of a
host whose site is in a folder leads there. Trees of repositories are served as the API of GitHub does.
"""

from __future__ import annotations

import json
import mimetypes
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchmarks.dead_links.sites import Repository, Site

API = "api.github.com"


class Web:
    """All sites by host, and the requests that they received."""

    def __init__(self, sites: Mapping[str, Site | Repository]) -> None:
        self.requests: list[str] = []
        self._bases = [(urlsplit(site.base).hostname or "", urlsplit(site.base).path, site) for site in sites.values()]

    @property
    def hosts(self) -> list[str]:
        """Return the names of all hosts."""
        return sorted({host for host, _, _ in self._bases} | {API})

    def answer(self, host: str, path: str) -> tuple[int, str, bytes]:
        """Return status, media type (or the location of a redirect) and body for a path."""
        self.requests.append(f"{host}{path}")
        path = unquote(path.partition("?")[0])
        if host == API:
            return self._tree(path)
        for name, base, site in self._bases:
            if name == host and path.startswith(base) and site.folder:
                return _file(site, site.folder, path, path.removeprefix(base))
        bases = [base for name, base, site in self._bases if name == host and isinstance(site, Site)]
        if path == "/" and bases:
            links = "".join(f'<li><a href="{base}">Documentation</a>' for base in bases)
            return 200, "text/html", f"<title>{host}</title><h1>{host}</h1><ul>{links}</ul>".encode()
        return _MISSING

    def _tree(self, path: str) -> tuple[int, str, bytes]:
        """Answer `/repos/OWNER/NAME/git/trees/REF`."""
        parts = path.split("/")
        repositories = [site for _, _, site in self._bases if isinstance(site, Repository)]
        for site in repositories:
            is_known = "/".join(parts[2:4]) == site.owner_and_name and parts[-1] in {site.branch, *site.tags, "HEAD"}
            if is_known and site.folder:
                files = sorted(file for file in site.folder.rglob("*") if file.is_file())
                tree = [{"path": file.relative_to(site.folder).as_posix(), "type": "blob"} for file in files]
                return 200, "application/json", json.dumps({"tree": tree, "truncated": False}).encode()
        return 404, "application/json", b'{"message": "Not Found", "status": "404"}'


_MISSING = 404, "text/html", b"<title>404 Not Found</title><h1>Not Found</h1><p>The requested URL was not found.</p>"


def _file(site: Site | Repository, folder: Path, path: str, rest: str) -> tuple[int, str, bytes]:
    file = (folder / rest).resolve()
    if not file.is_relative_to(folder.resolve()):
        return _MISSING
    if isinstance(site, Site) and file.is_dir():
        if not path.endswith("/"):
            return 301, f"{path}/", b""
        file /= "index.html"
    if not file.is_file() or (path.endswith("/") and file.name != "index.html"):
        return _MISSING
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return 200, kind if isinstance(site, Site) else "text/plain", file.read_bytes()


@contextmanager
def serve(web: Web, context: ssl.SSLContext) -> Iterator[tuple[int, int]]:
    """Serve until the block ends; yield the ports without and with TLS."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer one request."""
            status, kind, body = web.answer(self.headers.get("Host", "").partition(":")[0], self.path)
            self.send_response(status)
            self.send_header("Location" if status == 301 else "Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the output is the table."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as plain, ThreadingHTTPServer(("127.0.0.1", 0), Handler) as tls:
        tls.socket = context.wrap_socket(tls.socket, server_side=True, do_handshake_on_connect=False)
        for server in (plain, tls):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        yield plain.server_port, tls.server_port
        plain.shutdown()
        tls.shutdown()
