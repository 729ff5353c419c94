"""A client of an MCP server over stdio, which waits for an answer no longer than a given time."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

CLIENT = {"name": "benchmark", "version": "1"}
VERSION = "2025-06-18"
SECONDS = 60.0
"""How long a call may take: recordings start browsers and test runs."""

CLOSE_SECONDS = 5.0
"""How long a server may take to end after its stdin was closed."""


class NoAnswerError(Exception):
    """The server gave no answer to a request in time, or has ended."""


class Session:
    """A session with one process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._received: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._id = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._received.put(line)
        self._received.put(b"")

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def request(self, method: str, params: Mapping[str, Any], seconds: float = SECONDS) -> dict[str, Any]:
        """Return the result of a request. Raises NoAnswerError, also for an error."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while True:
            try:
                line = self._received.get(timeout=seconds)
            except queue.Empty:
                raise NoAnswerError(f"{method}: no answer in {seconds} s") from None
            if not line:
                raise NoAnswerError(f"{method}: the server has ended")
            message = json.loads(line)
            if message.get("id") == self._id and "method" not in message:
                if "result" not in message:
                    raise NoAnswerError(f"{method}: {message.get('error')}")
                return dict(message["result"])

    def close(self) -> None:
        """End the process, if need be by killing it."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.close()
            self._process.wait(CLOSE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    def greet(self) -> dict[str, Any]:
        """Open the session."""
        answer = self.request("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": CLIENT})
        self._send({"method": "notifications/initialized"})
        return answer

    def call(
        self, tool: str, arguments: Mapping[str, Any], meta: Mapping[str, Any] | None = None, seconds: float = SECONDS
    ) -> dict[str, Any]:
        """Return the result of a tool. Raises NoAnswerError."""
        return self.request(
            "tools/call", {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}, seconds
        )


@contextmanager
def running(command: Sequence[str], env: Mapping[str, str], folder: str | None = None) -> Iterator[Session]:
    """Run a server and yield a session with it."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(env), cwd=folder
    )
    session = Session(process)
    try:
        session.greet()
        yield session
    finally:
        session.close()
