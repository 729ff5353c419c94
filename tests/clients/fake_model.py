"""A fake model on loopback that makes the tool calls of a script and records the results that it receives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from .model_apis import MODEL_APIS, Json, ModelApi
from .setup import HOST

CHARS_PER_TOKEN = 4
"""Used to answer requests to count tokens; a rule of thumb for English."""

TOOL_QUERY = "fetch a web page, search the web, read on"
"""The search query for tools, if the client shows tools only after a search."""

Step = tuple[str, Json] | Callable[[Sequence[str]], tuple[str, Json]]
"""A tool call, with the server's name of the tool; or a function of the results so far that returns a tool call."""


@dataclass(slots=True)
class Model:
    """The script of the model, and what it has received."""

    script: Sequence[Step]
    url: str = ""
    shown: list[str] = field(default_factory=list)
    """The result of each call as first received; a client may shorten older results later."""
    requests: list[Json] = field(default_factory=list)
    """The requests that were answered from the script."""
    searched: bool = False
    """True once the model has searched for tools."""
    other_paths: list[str] = field(default_factory=list)
    """The paths of requests that are not part of the turn."""

    def answer(self, api: ModelApi, request: Json) -> bytes:
        """Return the next call of the script, or the end of the turn."""
        self.requests.append(request)
        self.shown += api.results(request)[len(self.shown) :]
        offered = api.tool_names(request)
        if len(self.shown) >= len(self.script) or not offered:
            return api.finish()
        step = self.script[len(self.shown)]
        try:
            tool, arguments = step(self.shown) if callable(step) else step
        except AssertionError:
            return api.finish()  # the results do not allow the next step; the check of the turn reports it
        name = full_name(tool, offered)
        if name not in offered and not self.searched and (search := api.search_tools(TOOL_QUERY)):
            self.searched = True
            return search
        return api.call(name, arguments, len(self.shown))


BUILT_IN: Final = "built-in "


def full_name(tool: str, offered: Sequence[str]) -> str:
    """Return the client's name of a tool of Keyhole, which has a prefix for the server.

    A tool of the client itself with the same name is written with BUILT_IN before it.
    """
    if tool.startswith(BUILT_IN):
        return tool.removeprefix(BUILT_IN)
    found = [name for name in offered if name.endswith(tool) and "keyhole" in name]
    return found[0] if found else tool


def answer_other(request: Json) -> bytes:
    """Return the response to a request that is not part of the turn: a token count and a summary, for every API."""
    tokens = len(json.dumps(request, ensure_ascii=False)) // CHARS_PER_TOKEN
    content = {"role": "model", "parts": [{"text": "{}"}]}
    summary = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    return json.dumps({"input_tokens": tokens, "totalTokens": tokens, **summary}).encode()


@contextmanager
def serve_model(script: Sequence[Step]) -> Iterator[Model]:
    """Run the fake model until the block ends."""
    model = Model(script)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            api = next((each for each in MODEL_APIS if each.path in self.path and "count" not in self.path), None)
            with lock:
                if api is None:
                    model.other_paths.append(self.path)
                    return self._send(200, answer_other(request), "application/json")
                return self._send(200, model.answer(api, request), "text/event-stream")

        def do_GET(self) -> None:
            model.other_paths.append(self.path)
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
            """Log nothing, because the output is one line per step."""

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model.url = f"http://{HOST}:{server.server_port}"
        yield model
        server.shutdown()
