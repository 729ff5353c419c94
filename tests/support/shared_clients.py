"""Clients that start relays to a shared server, each with raw JSON-RPC over pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from keyhole.serve.shared.link import ask
from tests.clients.setup import READER, SERVER
from tests.support.loopback import PATIENCE

REVISION = "2025-06-18"


class Client:
    """A client with its relay. The handshake has been made."""

    def __init__(self, settings: Mapping[str, str], name: str = "test", relay: Sequence[str] = READER) -> None:
        self.process = subprocess.Popen(
            relay, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, env=settings
        )
        self.lines: list[bytes] = []
        self._last = -1
        client = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
        self.handshake = self.ask("initialize", client)
        self.send({"method": "notifications/initialized"})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request and return its id."""
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        return self._last

    def reply(self, id: int) -> dict[str, Any]:
        """Return the next message, which must be the reply to a request."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the relay closed its output: {self.errors()}"
        self.lines.append(line)
        message: dict[str, Any] = json.loads(line)
        assert message["id"] == id
        return message

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its reply."""
        return self.reply(self.request(method, params))

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return its text."""
        return str(self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["content"][0]["text"])

    def errors(self) -> str:
        """Return what the ended relay wrote to stderr."""
        assert self.process.stderr
        return self.process.stderr.read().decode()

    def close(self) -> int:
        """Disconnect and return the relay's exit code."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.process.stdin.close()
        self.process.stdout.close()
        code = self.process.wait(PATIENCE)
        self.process.stderr.close()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def reader_settings(home: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a client with its own home folder."""
    own = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": str(home), "HOME": str(home), "PYTHONPATH": str(SERVER)}
    return {**own, "PATH": os.environ.get("PATH", os.defpath), **variables}


@contextmanager
def shared_home(home: Path | None = None) -> Iterator[Path]:
    """Yield a home folder, and end its shared servers when the block ends.

    Without `home` it is a new one with a short path, because a socket's path may have only some 100 bytes.
    """
    with ExitStack() as stack:
        home = home or Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
        try:
            yield home
        finally:
            end_servers(home)


def end_servers(home: Path) -> None:
    """Kill the shared servers of a home folder, also those that do not answer."""
    from keyhole.serve.shared.lock import find_server  # not on Windows

    for lock in (home / "shared").glob("*.lock"):
        if process := find_server(str(lock)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def servers_of(home: Path) -> list[dict[str, Any]]:
    """Return the status of each shared server of a home folder."""
    found = []
    for path in (home / "shared").glob("*.sock"):
        if asked := ask(str(path), {"ask": "status"}, PATIENCE):
            asked[0].close()
            found.append(asked[1])
    return found
