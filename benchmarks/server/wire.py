"""This tree's server over stdio, spoken to in raw JSON-RPC lines of either protocol era: no client checks what goes out
or what comes back. For cases that a well-behaved client would never send. Measures nothing."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

SERVER: Final = Path(__file__).resolve().parents[2] / "server"
ERAS: Final = ("2025-11-25", "2026-07-28")
"""The last revision with a handshake, and the first without one."""
PATIENCE: Final = 60.0
"""Seconds for one answer and for the whole process to end: many times what either takes."""
_META: Final = "io.modelcontextprotocol"
_CLIENT: Final = {"name": "wire", "version": "1"}


class SilentError(Exception):
    """No answer came in time, or the server ended."""


class Wire:
    """One server process. Every line that it wrote is in `lines`."""

    def __init__(self, process: subprocess.Popen[bytes], era: str) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.era = era
        self.lines: list[bytes] = []
        self._in, self._out = process.stdin, process.stdout
        self._read: queue.Queue[bytes] = queue.Queue()
        self._asked = 1_000  # beyond the ids that cases use
        self._thread = threading.Thread(target=self._reader, daemon=True)
        self._thread.start()

    def raw(self, line: bytes) -> None:
        """Send bytes as they are, and a line feed."""
        self._in.write(line + b"\n")
        self._in.flush()

    def ask(self, method: str, params: Mapping[str, Any], seconds: float = PATIENCE) -> dict[str, Any]:
        """Send a request; the whole answer, with `result` or `error`. Raises SilentError."""
        self._asked += 1
        self.raw(self.frame(self._asked, method, params))
        while True:
            answer = self.next(seconds)
            if answer.get("id") == self._asked:
                return answer

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool; as `ask`."""
        return self.ask("tools/call", {"name": tool, "arguments": dict(arguments)})

    def frame(self, id: int, method: str, params: Mapping[str, Any]) -> bytes:
        """A request of this era as a line, in ASCII."""
        if self.era != ERAS[0]:
            meta = {
                f"{_META}/protocolVersion": self.era,
                f"{_META}/clientCapabilities": {},
                f"{_META}/clientInfo": _CLIENT,
            }
            params = {**params, "_meta": meta}
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()

    def next(self, seconds: float) -> dict[str, Any]:
        """The next message. Raises SilentError; ValueError for a line that is none."""
        try:
            line = self._read.get(timeout=seconds)
        except queue.Empty:
            raise SilentError(f"no answer within {seconds:g} s") from None
        if not line:
            raise SilentError("the server ended")
        message = json.loads(line)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise ValueError(f"no JSON-RPC: {line[:100]!r}")
        return message

    def handshake(self) -> None:
        """Open the conversation; the later era needs nothing."""
        if self.era == ERAS[0]:
            self.ask("initialize", {"protocolVersion": self.era, "capabilities": {}, "clientInfo": _CLIENT})
            self.raw(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def close(self) -> None:
        """Let go of the pipes of a process that has ended."""
        with suppress(BrokenPipeError):
            self._in.close()
        self._thread.join(PATIENCE)
        self._out.close()

    def _reader(self) -> None:
        for line in self._out:
            self.lines.append(line)
            self._read.put(line)
        self._read.put(b"")


@contextmanager
def started(home: str, era: str, **settings: str) -> Iterator[Wire]:
    """A server process that ends with the block, ready for requests."""
    environment = {
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": home,
        "KEYHOLE_ENGINES": "searxng",
        "PYTHONPATH": str(SERVER),
        **settings,
    }
    command = [sys.executable, "-m", "keyhole", "serve"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        wire = Wire(process, era)
        try:
            wire.handshake()
            yield wire
        finally:
            process.kill()
            process.wait(PATIENCE)
            wire.close()


def text_of(answer: Mapping[str, Any]) -> str:
    """The text of a tool's result, or the code and message of a protocol error."""
    if "error" in answer:
        return f"{answer['error']['code']}: {answer['error']['message']}"
    return str(answer["result"]["content"][0]["text"])
