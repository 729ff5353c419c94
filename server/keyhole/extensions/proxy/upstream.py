"""Run an MCP server as a process and exchange lines with it over its stdin and stdout."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final, Protocol

from keyhole.extensions.proxy.json_rpc import MAX_MESSAGE, MessageLine, read_lines

log = logging.getLogger(__name__)

EXIT_SECONDS: Final = 2.0
"""Seconds for a server to end after its stdin was closed, and again after SIGTERM, as the specification says."""
MAX_WAITING_BYTES: Final = 2 * MAX_MESSAGE
"""Bytes of messages that wait for a server that does not read. Beyond them, a request is refused at once."""
READ_AHEAD: Final = 1024 * 1024
"""Bytes of a server's output that are read in advance."""


PIPE_BYTES: Final = 1024 * 1024
"""Size of a server's pipes, where the system can set it. A long result then takes a quarter of the reads. Each read may
have to wait until a thread that bounds a result lets the relay run."""


class Upstream(Protocol):
    """The server behind the proxy. It can be started again after it has ended."""

    async def start(self) -> None:
        """Start or connect. Raises OSError."""
        ...

    def lines(self) -> AsyncIterator[MessageLine]:
        """Yield what the server sends, until it ends."""
        ...

    def send(self, raw: bytes) -> bool:
        """Send a message once the server takes it. Return False if too many messages wait already."""
        ...

    async def finish(self) -> None:
        """Tell the server that no more messages follow."""
        ...

    async def stop(self) -> str:
        """End the server if it still runs, and return how it ended."""
        ...


class ProcessUpstream:
    """A server that is a process with pipes. Its stderr, working folder and variables are those of the proxy."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._process: Process | None = None
        self._outgoing: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._has_outgoing = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._is_finishing = False

    async def start(self) -> None:
        # A new session, so that the children of a launcher such as npx can be ended together with it.
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, limit=READ_AHEAD, start_new_session=True, pipesize=PIPE_BYTES,
        )  # fmt: skip
        self._writer = asyncio.create_task(self._write(self._process))

    def lines(self) -> AsyncIterator[MessageLine]:
        assert self._process and self._process.stdout  # noqa: S101 - for the type checker; start() made them
        return read_lines(self._process.stdout.read)

    def send(self, raw: bytes) -> bool:
        if self._waiting_bytes and self._waiting_bytes + len(raw) > MAX_WAITING_BYTES:
            return False
        self._outgoing.append(raw)
        self._waiting_bytes += len(raw)
        self._has_outgoing.set()
        return True

    async def finish(self) -> None:
        self._is_finishing = True
        self._has_outgoing.set()

    async def stop(self) -> str:
        process, writer = self._process, self._writer
        if process is None:
            return "was not started"
        if writer:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        if process.stdin:
            process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), EXIT_SECONDS)
                break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # children that outlive the server
        self._process = None
        self._outgoing.clear()
        self._waiting_bytes, self._is_finishing = 0, False
        return _describe(process.returncode)

    async def _write(self, process: Process) -> None:
        """Write messages as they are sent. End a server that closes its stdin, so that nobody waits for its answers."""
        try:
            await self._write_all(process)
        except ConnectionError:
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), EXIT_SECONDS)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGTERM)

    async def _write_all(self, process: Process) -> None:
        stdin = process.stdin
        assert stdin  # noqa: S101 - for the type checker: the process has a pipe
        while self._outgoing or not self._is_finishing:
            if not self._outgoing:
                self._has_outgoing.clear()
                await self._has_outgoing.wait()
                continue
            raw = self._outgoing.popleft()
            stdin.write(raw + b"\n")
            await stdin.drain()
            self._waiting_bytes -= len(raw)
        stdin.close()


def _describe(code: int | None) -> str:
    if code is None:
        return "did not end"
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit status {code}"
