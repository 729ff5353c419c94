"""A model on loopback that follows a script: it calls the tools it is told to and writes down what it was shown."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .dialects import DIALECTS, Dialect, Json
from .stage import HOST

CHARS_PER_TOKEN = 4
"""What a client that asks for a count of tokens is told: a rule of thumb for English."""

WORDS = "fetch a web page, search the web, read on"
"""What a model looks for where a client shows it no tools before it asks."""

Step = tuple[str, Json] | Callable[[Sequence[str]], tuple[str, Json]]
"""A call of a tool by its own name; or what makes it of the results that were shown so far."""


@dataclass(slots=True)
class Model:
    """What the model is to do, and what it saw."""

    script: Sequence[Step]
    url: str = ""
    shown: list[str] = field(default_factory=list)
    """Of each call, the result as the model got it first: a client may shorten older ones later."""
    requests: list[Json] = field(default_factory=list)
    """All that were answered from the script, as they came."""
    sought: bool = False
    """Whether it had to look for the tools first."""
    passed_over: list[str] = field(default_factory=list)
    """The paths of requests that were none of the turn's."""

    def answer(self, dialect: Dialect, request: Json) -> bytes:
        """The next call of the script, or the end of the turn."""
        self.requests.append(request)
        self.shown += dialect.results(request)[len(self.shown) :]
        offered = dialect.offered(request)
        if len(self.shown) >= len(self.script) or not offered:
            return dialect.done()
        step = self.script[len(self.shown)]
        try:
            tool, arguments = step(self.shown) if callable(step) else step
        except AssertionError:
            return dialect.done()  # what was shown does not let it go on; who asked for the turn sees that
        name = full_name(tool, offered)
        if name not in offered and not self.sought and (seeking := dialect.seek(WORDS)):
            self.sought = True
            return seeking
        return dialect.call(name, arguments, len(self.shown))


def full_name(tool: str, offered: Sequence[str]) -> str:
    """The name under which a client offers a tool of Keyhole's: its own after the server's."""
    found = [name for name in offered if name.endswith(tool) and "keyhole" in name]
    return found[0] if found else tool


def aside(request: Json) -> bytes:
    """The answer to what is asked beside the turn: how many tokens a text has, or a summary, in each API's words."""
    tokens = len(json.dumps(request, ensure_ascii=False)) // CHARS_PER_TOKEN
    content = {"role": "model", "parts": [{"text": "{}"}]}
    summary = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    return json.dumps({"input_tokens": tokens, "totalTokens": tokens, **summary}).encode()


@contextmanager
def serve_model(script: Sequence[Step]) -> Iterator[Model]:
    """The model until the end of the block."""
    model = Model(script)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            dialect = next((each for each in DIALECTS if each.path in self.path and "count" not in self.path), None)
            with lock:
                if dialect is None:
                    model.passed_over.append(self.path)
                    return self._send(200, aside(request), "application/json")
                return self._send(200, model.answer(dialect, request), "text/event-stream")

        def do_GET(self) -> None:
            model.passed_over.append(self.path)
            self._send(200, b'{"object": "list", "data": [], "models": []}', "application/json")

        def do_HEAD(self) -> None:
            self._send(200, b"", "application/json")

        def _send(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the output is one line a step."""

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model.url = f"http://{HOST}:{server.server_port}"
        yield model
        server.shutdown()
