"""Serve the attacks of the moment on loopback, with and without TLS, each under its host, and note the requests."""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from benchmarks.server.hostile_bodies.attack import Attack, SiteReply

MISSING: Final = SiteReply(
    b"<title>404 Not Found</title><h1>Not Found</h1><p>The requested URL was not found.</p>", status=404
)


class HostileSite:
    """All hosts: what they serve now, and which addresses were requested."""

    def __init__(self, routes: Mapping[str, SiteReply]) -> None:
        """`routes`: replies that are always served, by host and path."""
        self._own = dict(routes)
        self._routes: dict[str, SiteReply] = {}
        self.requested: list[str] = []

    def serve(self, attacks: Sequence[Attack]) -> None:
        """Serve the replies of these attacks instead of those of earlier ones, and forget the requests."""
        self.requested.clear()
        self._routes = {where: reply for attack in attacks for where, reply in attack.routes.items()}

    def find(self, host: str, path: str) -> SiteReply:
        """Return the reply to a request, and note it. A route with a space requires a word in the query."""
        place, _, query = f"{host}{path}".partition("?")
        where = next(
            (each for each in self._routes if each.startswith(f"{place} ") and each.split(" ")[1] in query), place
        )
        self.requested.append(where)
        return self._routes.get(where) or self._own.get(where, MISSING)

    def unrequested(self, attacks: Sequence[Attack]) -> list[str]:
        """Return the targets of the attacks that nobody requested."""
        return [target for attack in attacks for target in attack.targets if target not in self.requested]


@contextmanager
def serve_site(site: HostileSite, context: ssl.SSLContext) -> Iterator[tuple[int, int]]:
    """Serve until the block ends; yield the ports without and with TLS."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer one request. The client may leave at any time."""
            with suppress(OSError):
                _send(self, site.find(re.sub(r":\d+$", "", self.headers.get("Host", "")), self.path))

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the output is the table."""

    with _Listener(("127.0.0.1", 0), Handler) as plain, _Listener(("127.0.0.1", 0), Handler) as tls:
        tls.socket = context.wrap_socket(tls.socket, server_side=True, do_handshake_on_connect=False)
        for server in (plain, tls):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        yield plain.server_port, tls.server_port
        plain.shutdown()
        tls.shutdown()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the errors of connections, which a killed server closes."""


def _send(handler: BaseHTTPRequestHandler, reply: SiteReply) -> None:
    handler.send_response(reply.status)
    named = {name.lower() for name, _ in reply.headers}
    for name, value in reply.headers:
        handler.send_header(name, value)
    if "content-type" not in named:
        handler.send_header("Content-Type", reply.content_type)
    if reply.is_chunked:
        handler.send_header("Transfer-Encoding", "chunked")
    else:
        handler.send_header("Content-Length", str(len(reply.body)))
    handler.end_headers()
    size = max(1, -(-len(reply.body) // reply.pieces))
    for start in range(0, len(reply.body), size):
        if start:
            time.sleep(reply.pause)
        piece = reply.body[start : start + size]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if reply.is_chunked else piece)
    if reply.is_chunked:
        handler.wfile.write(b"0\r\n\r\n")
