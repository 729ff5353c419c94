"""Serve all clients of a user over a Unix socket, until none has been connected for some minutes.

Each client has its own session, with its own budget and limits. Store, worker processes, connections and a local model
are shared, fairly among the clients.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

import anyio
from mcp.server.stdio import stdio_server

from keyhole._version import __version__
from keyhole.config.config import Config
from keyhole.extract.workers.worker_pool import SPARE_WORKERS
from keyhole.serve.shared.address import Address, is_own_user
from keyhole.serve.shared.hook_client import ANSWERED, GREETING
from keyhole.serve.shared.link import ENDING, REFUSED, WELCOME
from keyhole.serve.stdio import bounded_streams, set_up_process
from keyhole.serve.tenants_loader import BuildTenants, TenantsLoader, open_tenants
from keyhole.serve.tools import build_server

log = logging.getLogger(__name__)

IDLE_SECONDS: Final = 300.0
"""Seconds without a client after which the server ends: a client that restarts or changes its folder finds it."""
GREETING_SECONDS: Final = 10.0
"""Seconds in which a connection has to say what it wants."""
MAX_WAITING: Final = 512
"""Connections that wait to be accepted. While a server is busy, many hooks may come."""
MAX_LINE: Final = 16_000_000
"""Bytes of one message: several times what a client sends. A longer one closes its connection."""
UNREAD_SECONDS: Final = 60.0
"""Seconds after which a client that reads no answer is disconnected. A relay reads until its client is 4 MB behind."""


AnswerHook = Callable[[bytes, str, int, Collection[str]], bytes]
"""Returns the answer to a hook's event, for a client, with a budget in characters and the folders of all clients."""


def serve_shared(
    config: Config,
    build: BuildTenants,
    address: Address,
    announce: Callable[[], None],
    answer_hook: AnswerHook,
    idle: float = IDLE_SECONDS,
    on_end: Callable[[], object] = lambda: None,
) -> int:
    """Serve until no client has been connected for `idle` seconds, or one asks to stop. Return the exit code.

    The caller holds the lock of the address. `announce` is called when clients can connect, and `on_end` when no more
    can, before calls end. Raises OSError if the socket cannot be opened.
    """

    async def run() -> None:
        set_up_process()
        async with open_tenants(config, build, spare_workers=SPARE_WORKERS) as tenants:
            await SharedServer(address, tenants, answer_hook, idle).run(announce)
            on_end()

    anyio.run(run)
    return 0


@dataclass(slots=True)
class SharedServer:
    """The server of one socket, and its clients by the numbers of their connections."""

    address: Address
    tenants: TenantsLoader
    answer_hook: AnswerHook
    idle: float
    clients: dict[int, dict[str, Any]] = field(default_factory=dict)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _is_stopped: bool = False
    _started: float = field(default_factory=time.time)

    async def run(self, announce: Callable[[], None]) -> None:
        """Accept clients until the server is idle or stopped."""
        with _listen(self.address.socket) as listener:
            server = await asyncio.start_unix_server(self._accept, sock=listener, limit=MAX_LINE)
            announce()
            self.tenants.start()
            try:
                await self._wait()
            finally:
                _remove(self.address.socket)
                server.close()

    async def _wait(self) -> None:
        """Wait until no client has been connected for `idle` seconds, or a client asked to stop."""
        while not self._is_stopped:
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), None if self.clients else self.idle)
                continue
            return

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the greeting of a connection, and serve it if it is a client's."""
        try:
            with suppress(OSError, ValueError, TimeoutError):
                if is_own_user(writer.get_extra_info("socket")):
                    line = await asyncio.wait_for(reader.readline(), GREETING_SECONDS)
                    answer = self._answer_event if line.startswith(GREETING) else self._greet
                    await answer(line, reader, writer)
        finally:
            writer.close()

    async def _answer_event(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a hook's event. Without an answer, the hook does the work itself."""
        _, client, budget, identity = line.decode().rstrip("\n").split(" ", 3)
        if identity == self.address.identity:
            event = await asyncio.wait_for(reader.read(), GREETING_SECONDS)
            folders = [str(each.get("folder", "")) for each in self.clients.values()]
            answer = await asyncio.to_thread(self.answer_hook, event, client, int(budget), folders)
            writer.write(ANSWERED + answer)
            await writer.drain()

    async def _greet(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = json.loads(line)
        if hello.get("ask") == "stop":
            self._is_stopped = True
            self._changed.set()
        answer = self.describe() if "ask" in hello else self._answer_client(str(hello.get("identity")))
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()
        if answer.get("answer") == WELCOME:
            await self._serve(dict(hello.get("client", {})), reader, writer)

    def _answer_client(self, identity: str) -> dict[str, str]:
        """Return whether a client is served. To one that is, the server proves with which settings it was started."""
        if identity != self.address.identity:
            return {"answer": REFUSED}
        return {"answer": ENDING} if self._is_stopped else {"answer": WELCOME, "identity": self.address.identity}

    def describe(self) -> dict[str, Any]:
        """Return what `keyhole server status` shows."""
        clients = list(self.clients.values())
        return {"process": os.getpid(), "version": __version__, "started": self._started, "clients": clients}

    async def _serve(self, client: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client until it disconnects."""
        number = next(self._numbers)
        self.clients[number] = client
        self._changed.set()
        try:
            tenants = self.tenants
            server = build_server(
                tenants.get_retrieval,
                tenants.start,
                tenants.warm,
                connection=f"client-{number}",
                folder=str(client.get("folder", "")),
            )
            lines, output = cast(Any, _Lines(reader)), cast(Any, _Output(writer))
            async with stdio_server(lines, output) as streams:
                await server.run(*bounded_streams(*streams), server.create_initialization_options())
        except* (OSError, anyio.BrokenResourceError) as group:
            log.info("a client's connection ended: %s", group.exceptions[0])
        finally:
            del self.clients[number]
            self._changed.set()


class _Lines:
    """A client's messages, as the SDK reads a file."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._reader.readline():
            yield line.decode("utf-8", "replace")


class _Output:
    """A client's connection, as the SDK writes a file."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        """Wait until the client has read nearly everything. Raises TimeoutError if it does not read."""
        try:
            await asyncio.wait_for(self._writer.drain(), UNREAD_SECONDS)
        except TimeoutError:
            self._writer.transport.abort()  # otherwise the answers would be kept until the client ends
            raise


def _listen(path: str) -> socket.socket:
    """Return a listening socket of mode 0600 at a path, where an ended server may have left its own."""
    _remove(path)
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    listener.listen(MAX_WAITING)
    return listener


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - the path is a string
