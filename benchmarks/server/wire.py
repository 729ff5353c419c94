"""Run this tree's server over stdio, with raw JSON-RPC in either protocol era and without a client's checks."""

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
"""The last revision with a handshake, and the first without."""
PATIENCE: Final = 60.0
"""Maximum seconds for an answer, and for the process to end: many times what either takes."""
_META: Final = "io.modelcontextprotocol"
_CLIENT: Final = {"name": "wire", "version": "1"}


class SilentError(Exception):
    """The server did not answer in time, or ended."""


class Wire:
    """A connection to a server process; `lines` contains all lines that the server wrote."""

    def __init__(self, process: subprocess.Popen[bytes], era: str) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.era = era
        self.lines: list[bytes] = []
        self._in, self._out = process.stdin, process.stdout
        self._read: queue.Queue[bytes] = queue.Queue()
        self._last_id = 1_000  # above the ids that cases use
        self._thread = threading.Thread(target=self._reader, daemon=True)
        self._thread.start()

    def raw(self, line: bytes) -> None:
        """Send bytes unchanged, and a line feed."""
        self._in.write(line + b"\n")
        self._in.flush()

    def ask(self, method: str, params: Mapping[str, Any], seconds: float = PATIENCE) -> dict[str, Any]:
        """Send a request; return the answer, with `result` or `error`. Raises SilentError."""
        self._last_id += 1
        self.raw(self.frame(self._last_id, method, params))
        while True:
            answer = self.next(seconds)
            if answer.get("id") == self._last_id:
                return answer

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool; return the answer as `ask` does."""
        return self.ask("tools/call", {"name": tool, "arguments": dict(arguments)})

    def frame(self, id: int, method: str, params: Mapping[str, Any]) -> bytes:
        """Return a request of this era as an ASCII line."""
        if self.era != ERAS[0]:
            meta = {
                f"{_META}/protocolVersion": self.era,
                f"{_META}/clientCapabilities": {},
                f"{_META}/clientInfo": _CLIENT,
            }
            params = {**params, "_meta": meta}
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()

    def next(self, seconds: float) -> dict[str, Any]:
        """Return the next message. Raises SilentError, or ValueError for an invalid line."""
        try:
            line = self._read.get(timeout=seconds)
        except queue.Empty:
            raise SilentError(f"no answer within {seconds:g} s") from None
        if not line:
            raise SilentError("the server ended")
        message = json.loads(line)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise ValueError(f"not JSON-RPC: {line[:100]!r}")
        return message

    def handshake(self) -> None:
        """Initialize the session; the later era needs no handshake."""
        if self.era == ERAS[0]:
            self.ask("initialize", {"protocolVersion": self.era, "capabilities": {}, "clientInfo": _CLIENT})
            self.raw(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def close(self) -> None:
        """Close the pipes of a process that has ended."""
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
def run_server(home: str, era: str, **settings: str) -> Iterator[Wire]:
    """Run a server until the block ends; yield a connection that is ready for requests."""
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
    """Return the text of a tool's result, or the code and message of a protocol error."""
    if "error" in answer:
        return f"{answer['error']['code']}: {answer['error']['message']}"
    return str(answer["result"]["content"][0]["text"])
