"""A client over streamable HTTP for tests of the proxy, with the same methods as the one over pipes."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from queue import Queue
from typing import Any
from urllib.parse import urlsplit

from keyhole.extensions.proxy.http_upstream import request_headers
from keyhole.extensions.proxy.json_rpc import build
from tests.extensions.proxy.client import Conversing

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class HttpClient(Conversing):
    """A client of one URL. Each of its requests has a connection and a thread."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._address = urlsplit(url)
        self._queue: Queue[bytes] = Queue()
        self._session: dict[str, str] = {}
        self._connections: list[HTTPConnection] = []
        self._threads: list[threading.Thread] = []

    def close(self) -> None:
        """Close all connections, which ends the threads that read from them."""
        for connection in self._connections:
            if connection.sock:
                connection.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for connection in self._connections:
            connection.close()

    def send_line(self, line: bytes) -> None:
        message = json.loads(line)
        headers = {**HEADERS, **self._session, **request_headers(build(message), "")}
        if "id" in message and "method" in message:
            self._start(self._exchange, "POST", line, headers)
        else:
            self._exchange("POST", line, headers)

    def post_line(self, line: bytes) -> Any:
        connection = HTTPConnection(self._address.netloc, timeout=30)
        connection.request("POST", self._address.path, line, {**HEADERS, **self._session})
        with connection.getresponse() as response:
            body = response.read()
        connection.close()
        return json.loads(body.partition(b"data: ")[2] or body or b"null")

    def listen(self) -> None:
        """Open the stream of messages that belong to no request."""
        self._start(self._exchange, "GET", b"", {"Accept": "text/event-stream", **self._session})

    def receive(self) -> Any:
        line = self._queue.get(timeout=30)
        self.received.append(line)
        return json.loads(line)

    def greet(self, **client: str) -> Any:
        answer = super().greet(**client)
        self.listen()
        return answer

    def _start(self, work: Callable[..., None], *arguments: Any) -> None:
        self._threads.append(threading.Thread(target=work, args=arguments, daemon=True))
        self._threads[-1].start()

    def _exchange(self, method: str, body: bytes, headers: dict[str, str]) -> None:
        """Send a request and queue the messages of its response, until it ends or this client is closed."""
        connection = HTTPConnection(self._address.netloc, timeout=30)
        connection.connect()
        self._connections.append(connection)
        with suppress(OSError, HTTPException):
            connection.request(method, self._address.path, body, headers)
            with connection.getresponse() as response:
                if id := response.headers["mcp-session-id"]:
                    self._session = {"Mcp-Session-Id": id}
                for line in response:
                    if line.startswith(b"data: "):
                        self._queue.put(line.removeprefix(b"data: ").rstrip(b"\r\n"))
