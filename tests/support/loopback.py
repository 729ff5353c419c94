"""A server on loopback, built on raw sockets. It sends the bytes of a test unchanged and records the requests."""

from __future__ import annotations

import socket
import socketserver
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

PATIENCE = 10.0
"""Seconds that a test waits for the other side before it fails. A passing test never waits that long."""


@dataclass(slots=True)
class Call:
    """A client's connection and the request that was read from it."""

    head: bytes
    connection: socket.socket
    body: bytes = b""

    @property
    def path(self) -> str:
        """The request target, as received."""
        return self.head.split(b" ", 2)[1].decode("ascii")

    @property
    def headers(self) -> dict[str, str]:
        """The request's headers, names in lower case."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}

    @property
    def method(self) -> str:
        """GET or POST."""
        return self.head.split(b" ", 1)[0].decode("ascii")

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        self.connection.sendall(data)


Responder = Callable[[Call], None]
"""Answers one request. The connection is closed when the function returns for its last request."""


@dataclass(slots=True)
class Site:
    """A running server and the requests it received."""

    port: int = 0
    connections: int = 0
    calls: list[Call] = field(default_factory=list)
    request_received: Event = field(default_factory=Event)
    """Set when a request has been read."""
    client_left: Event = field(default_factory=Event)
    """Set when a client has closed a connection that the server held open."""
    client_left_at: float = 0.0

    @property
    def endpoint(self) -> str:
        """`host:port`, as KEYHOLE_ALLOW_PRIVATE accepts it."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/", scheme: str = "http") -> str:
        """Return the URL of a path on this server."""
        return f"{scheme}://{self.endpoint}{path}"

    def hold(self, call: Call) -> None:
        """Send nothing more, and record when the client closes the connection."""
        with suppress(OSError):
            while call.connection.recv(4_096):
                pass
        self.client_left_at = time.monotonic()
        self.client_left.set()


def response(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """Return the bytes of a response. Underscores in header names become hyphens; Content-Length is set if absent."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lengths = {} if {"Content-Length", "Transfer-Encoding"} & set(named) else {"Content-Length": str(len(body))}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in {**lengths, **named}.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


@contextmanager
def serve(
    answers: Mapping[str, bytes] | Callable[[Site], Responder], tls: ssl.SSLContext | None = None, requests: int = 1
) -> Iterator[Site]:
    """Run a server until the block ends. `answers` maps paths to responses, or returns the responder of a site.

    `requests`: the requests that the server answers over one connection.
    """
    site = Site()
    talk = _table(answers) if isinstance(answers, Mapping) else answers(site)
    connections: set[socket.socket] = set()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            site.connections += 1
            # In some tests the client disconnects or refuses the handshake.
            with suppress(OSError):
                connection = tls.wrap_socket(self.request, server_side=True) if tls else self.request
                connections.add(connection)
                with connection:
                    for _ in range(requests):
                        if not (head := _read_head(connection)):
                            break
                        head, _, body = head.partition(b"\r\n\r\n")
                        call = Call(head, connection)
                        call.body = _read_body(connection, body, int(call.headers.get("content-length", 0)))
                        site.calls.append(call)
                        site.request_received.set()
                        talk(call)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
            for connection in list(connections):  # browsers keep connections open without a request for a minute
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)


def unused_port() -> int:
    """Return a loopback port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _table(answers: Mapping[str, bytes]) -> Responder:
    def talk(call: Call) -> None:
        call.send(answers.get(call.path, response(b"not here", "404 Not Found")))

    return talk


def _read_head(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65_536)
        if not piece:
            return b""
        head += piece
    return head


def _read_body(connection: socket.socket, body: bytes, size: int) -> bytes:
    while len(body) < size and (piece := connection.recv(65_536)):
        body += piece
    return body
