"""The real HTTP server in a process with its log in a file, and raw requests to it.

Unlike the servers of server_process.py, these may fail to start, log at DEBUG and end by SIGTERM, so that tests can
search the complete log.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

KEYHOLE = (sys.executable, "-m", "keyhole")
PATIENCE = 20.0
"""Seconds for a server to start or to end; on an idle machine it takes one."""


@dataclass
class Server:
    """A running server, and its tokens by their description."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The URL of the MCP endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"


@dataclass(frozen=True)
class Reply:
    """A status (0 if the connection ended without one), and all bytes received."""

    status: int
    text: str


@contextmanager
def run_server(environment: Mapping[str, str], command: tuple[str, ...] = (), port: int = 0) -> Iterator[Server]:
    """Run a server on loopback that logs at DEBUG, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        variables = {
            "PATH": os.environ["PATH"],
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": folder,
            "KEYHOLE_LOG_LEVEL": "DEBUG",
            **environment,
        }
        with log.open("wb") as stderr:
            arguments = command or (*KEYHOLE, "serve", "--http", "--port", str(port))
            process = subprocess.Popen(arguments, stderr=stderr, env=variables)
        try:
            yield Server(process, log, _port(process, log))
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        if found := re.search(rb"serving MCP at http://\S+:(\d+)/mcp", log.read_bytes()):
            return int(found[1])
        time.sleep(0.02)  # polled: a file sends no notification of a new line
    raise RuntimeError(log.read_text())


def send(port: int, request: bytes) -> Reply:
    """Send a request; return its answer up to the end of the first event or of the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        with suppress(OSError):  # the server may have answered and closed
            connection.sendall(request)
        answer = b""
        with suppress(OSError):
            while not _is_complete(answer) and (piece := connection.recv(65_536)):
                answer += piece
    words = answer.split(b" ", 2)
    return Reply(int(words[1]) if len(words) > 1 else 0, answer.decode("utf-8", "replace"))


def _is_complete(answer: bytes) -> bool:
    head, separator, body = answer.partition(b"\r\n\r\n")
    if length := re.search(rb"(?i)\r\ncontent-length: *(\d+)", head):
        return bool(separator) and len(body) >= int(length[1])
    return b"\r\n\r\n0\r\n\r\n" in answer or (b"data: {" in body and body.rstrip(b"\r\n").endswith(b"}"))
