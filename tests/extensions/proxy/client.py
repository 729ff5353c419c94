"""A client over the pipes of a process, for tests of the proxy: sends lines and collects those that come back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SERVER = [sys.executable, str(Path(__file__).with_name("scripted_server.py"))]
CLAUDE = {"name": "claude-code", "version": "2.1.330"}


class Conversing:
    """What clients over pipes and over HTTP have in common."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        """All messages that came back, without their line breaks."""

    def send_line(self, line: bytes) -> None:
        raise NotImplementedError

    def receive(self) -> Any:
        raise NotImplementedError

    def send(self, **fields: Any) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **fields}).encode())

    def receive_method(self, method: str) -> Any:
        while (message := self.receive()).get("method") != method:
            pass
        return message

    def post_line(self, line: bytes) -> Any:
        """Send a line that may be no message, and return what answers it."""
        self.send_line(line)
        return self.receive()

    def answer_to(self, id: object) -> Any:
        while (message := self.receive()).get("id") != id or "method" in message:
            pass
        return message

    def request(self, id: object, method: str, /, **params: Any) -> Any:
        self.send(id=id, method=method, params=params)
        return self.answer_to(id)

    def call(self, id: object, tool: str, /, **arguments: Any) -> Any:
        return self.request(id, "tools/call", name=tool, arguments=arguments)

    def greet(self, **client: str) -> Any:
        info = client or CLAUDE
        answer = self.request(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        self.send(method="notifications/initialized")
        return answer


class PipeClient(Conversing):
    """A client of one process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self.process = process

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the process has closed its stdout"
        self.received.append(line.rstrip(b"\n"))
        return json.loads(line)


@contextmanager
def proxy(home: Path, *words: str, server: Sequence[str] = SERVER, **env: str) -> Iterator[PipeClient]:
    """Run `keyhole proxy` with these options in front of a server."""
    variables = {**os.environ, "KEYHOLE_HOME": str(home), **env}
    command = [sys.executable, "-m", "keyhole", "proxy", *words, *(["--", *server] if server else [])]
    with running(command, variables) as client:
        yield client


@contextmanager
def running(
    command: Sequence[str], env: dict[str, str] | None = None, stderr: int | None = None
) -> Iterator[PipeClient]:
    """Run a command and yield a client of it. It must end after its stdin was closed."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=env)
    try:
        yield PipeClient(process)
        process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
