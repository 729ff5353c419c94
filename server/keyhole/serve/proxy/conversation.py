"""Carry out the steps of the relay for one client: send, bound, read stored texts, and restart servers that end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.serve.proxy.bounding import Bounder
from keyhole.serve.proxy.indexing import Indexing
from keyhole.serve.proxy.lines import Line
from keyhole.serve.proxy.messages import Message, error_response
from keyhole.serve.proxy.relay import Relay
from keyhole.serve.proxy.steps import (
    AwaitGreeting,
    AwaitServers,
    BoundResult,
    Client,
    ReadStored,
    Step,
    ToClient,
    ToServer,
)
from keyhole.serve.proxy.upstream import Upstream

log = logging.getLogger(__name__)

MAX_BOUNDING: Final = 4
"""Results that are bounded at the same time. Further ones wait in their servers' pipes, so that they take no memory."""
FIRST_DELAY: Final = 1.0
"""Seconds until a server that ended is started again. Each further time takes twice as long."""
MAX_DELAY: Final = 60.0
STABLE_SECONDS: Final = 60.0
"""Seconds after which a server counts as stable, so that its next restart takes `FIRST_DELAY`."""
LAST_ANSWERS_SECONDS: Final = 10.0
"""Seconds that servers have for their last answers after the client has closed its side."""

Send = Callable[[bytes], Awaitable[None]]
"""Sends one message to the client, and returns once it has been taken."""
ReadStoredText = Callable[[Message, Client, str], Awaitable[Message]]
"""Answers a call of Keyhole's own tool, whose name is the last argument."""


class Conversation:
    """One client and its servers."""

    def __init__(
        self,
        relay: Relay,
        servers: Mapping[str, Upstream],
        send: Send,
        bounder: Bounder,
        read_stored: ReadStoredText,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._relay = relay
        self._servers = servers
        self._send = send
        self._bounder = bounder
        self._read_stored = read_stored
        self._sleep = sleep
        self._sending = asyncio.Lock()
        self._bounding = asyncio.Semaphore(MAX_BOUNDING)
        self._tasks: set[asyncio.Task[None]] = set()
        """The answers that are being made."""
        self._timers: set[asyncio.Task[None]] = set()
        self._indexing = Indexing(bounder.index_oldest, sleep)
        self._is_closing = False

    async def run(self, received: Callable[[], Awaitable[Line | None]]) -> None:
        """Relay until the client closes its side and the servers have ended. `received` returns None at the end."""
        supervisors = [asyncio.create_task(self._supervise(name)) for name in self._servers]
        try:
            while (line := await received()) is not None:
                if line.length:
                    await self._take(self._relay.lost_from_client(line.outline, _too_long(line)))
                else:
                    await self._take(self._relay.from_client(line.raw))
            self._is_closing = True
            for upstream in self._servers.values():
                await upstream.finish()
            await asyncio.wait(supervisors, timeout=LAST_ANSWERS_SECONDS)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=LAST_ANSWERS_SECONDS)
        finally:
            self._is_closing = True
            self._indexing.stop()
            others = [*supervisors, *self._tasks, *self._timers]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.gather(*(upstream.stop() for upstream in self._servers.values()))

    async def _supervise(self, name: str) -> None:
        """Run a server and start it again when it ends, each time after a longer delay."""
        upstream, delay, is_first = self._servers[name], FIRST_DELAY, True
        while True:
            started = time.monotonic()
            reason = await self._run_once(name, upstream, is_first=is_first)
            if self._is_closing:
                return
            is_first = False
            log.warning("the server %s %s", name, reason)
            await self._take(self._relay.ended(name, f"the server {name} {reason}"))
            delay = FIRST_DELAY if time.monotonic() - started > STABLE_SECONDS else delay
            await self._sleep(delay)
            delay = min(MAX_DELAY, delay * 2)

    async def _run_once(self, name: str, upstream: Upstream, *, is_first: bool) -> str:
        try:
            await upstream.start()
        except OSError as error:
            return f"cannot be started: {error.strerror}"
        if not is_first:
            await self._take(self._relay.restarted(name))
        async for line in upstream.lines():
            if line.length:
                await self._take(self._relay.lost(name, line.outline, _too_long(line)))
            elif line.raw:
                await self._take(self._relay.from_server(name, line.raw))
        return await upstream.stop()

    async def _take(self, steps: Iterable[Step]) -> None:
        for step in steps:
            match step:
                case ToClient(raw):
                    await self._to_client(raw)
                case ToServer(server, raw):
                    if not self._servers[server].send(raw):
                        await self._take(self._relay.undelivered(server, raw))
                case BoundResult(message, pending):
                    if self._bounder.fits(message, pending):
                        await self._to_client(message.raw)
                    else:
                        await self._bounding.acquire()
                        _start(self._tasks, self._bound(step))
                case ReadStored():
                    _start(self._tasks, self._read(step))
                case AwaitServers() | AwaitGreeting():
                    _start(self._timers, self._expire(step))

    async def _to_client(self, raw: bytes) -> None:
        async with self._sending:
            await self._send(raw)

    async def _bound(self, step: BoundResult) -> None:
        work = asyncio.to_thread(self._bounder.bound, step.message, step.pending, self._relay.reader)
        (raw,) = await asyncio.gather(work, return_exceptions=True)
        self._bounding.release()
        if isinstance(raw, BaseException):
            log.error("a result of %s could not be bounded", step.pending.request.method, exc_info=raw)
            raw = _failed(step.message, raw, "the result could not be bounded")
        await self._to_client(raw)
        self._indexing.start_later()

    async def _read(self, step: ReadStored) -> None:
        work = self._read_stored(step.request, step.client, self._relay.reader)
        (answer,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(answer, BaseException):
            log.error("a stored text could not be read", exc_info=answer)
            await self._to_client(_failed(step.request, answer, "the stored text could not be read"))
        else:
            await self._to_client(answer.raw)

    async def _expire(self, step: AwaitServers | AwaitGreeting) -> None:
        await self._sleep(step.seconds)
        await self._take(self._relay.expired(step))


def _failed(message: Message, error: BaseException, words: str) -> bytes:
    """Return the response with the id of `message` for work that raised an error."""
    known = error if isinstance(error, KeyholeError) else KeyholeError(Code.INTERNAL_ERROR, words)
    return error_response(message.data["id"], known).raw


def _too_long(line: Line) -> str:
    return f"has {line.length:,} bytes, more than are relayed,"


def _start(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    """Run `work` as one of `tasks` until it is done."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
