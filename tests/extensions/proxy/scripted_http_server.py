"""The scripted server over streamable HTTP, for one client: each request is answered by a stream of events.

The first line of stdout has its port.
"""

from __future__ import annotations

import json
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

from keyhole.extensions.proxy.json_rpc import find_id, is_response, outline_of
from tests.extensions.proxy import scripted_server

GENERAL: Queue[str] = Queue()
"""Messages that belong to no request that is open."""
STREAMS: defaultdict[str, Queue[str]] = defaultdict(Queue)
"""The messages of the responses that are open, by the request's id as JSON, the newest last.

A request may arrive after the notification that cancels it, which has another connection.
"""


def route(text: str) -> None:
    """Put a message into the response that it answers, else into the newest one."""
    outline = outline_of(text.encode())
    id = find_id(outline, of_request=False)
    if is_response(outline) and id is not None:
        STREAMS[json.dumps(id)].put(text)
    else:
        (list(STREAMS.values()) or [GENERAL])[-1].put(text)


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of the client."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message or "method" not in message:
            scripted_server.handle(message)
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        key = json.dumps(message["id"])
        stream = STREAMS[key]
        scripted_server.handle(message)
        self.start_stream({"mcp-session-id": "s"} if message["method"] == "initialize" else {})
        while True:
            text = stream.get()
            is_last = json.dumps(find_id(outline_of(text.encode()), of_request=False)) == key
            if is_last:
                del STREAMS[key]
            self.write(text)
            if is_last:
                return

    def do_GET(self) -> None:
        self.start_stream({})
        while True:
            self.write(GENERAL.get())

    def do_DELETE(self) -> None:
        self.send_response(200)
        self.end_headers()

    def start_stream(self, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {"content-type": "text/event-stream", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def write(self, text: str) -> None:
        self.wfile.write(f"event: message\ndata: {text}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


if __name__ == "__main__":
    scripted_server.WRITE[0] = route
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
