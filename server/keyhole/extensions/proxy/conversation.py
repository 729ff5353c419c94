"""Carry out the steps of the relay for one client: send, bound, read stored texts, and restart a server that ends."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.bounding import Bounder
from keyhole.extensions.proxy.delivery import Delivery, Parcel, Send
from keyhole.extensions.proxy.lines import Line
from keyhole.extensions.proxy.messages import Message, error_response, load, too_long
from keyhole.extensions.proxy.outline import outline_of
from keyhole.extensions.proxy.relay import Relay
from keyhole.extensions.proxy.steps import BoundResult, ClientVersion, Pending, ReadStored, Step, ToClient, ToServer
from keyhole.extensions.proxy.upstream import Upstream

# Index stored results while no result is bounded, because indexing takes the time of several calls.

IDLE_SECONDS: Final = 1.0
"""Seconds without a bounded result after which the stored ones are indexed."""
MAX_WAITING: Final = 200
"""If more results than this wait, a new one no longer delays indexing: each write looks at all of their files."""


class Indexing:
    """Indexes the results of one conversation in a thread.

    `index_oldest`: indexes one result; returns False if none is left.
    """

    def __init__(
        self, index_oldest: Callable[[], bool], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._index_oldest = index_oldest
        self._sleep = sleep
        self._waiting = 0
        self._task: asyncio.Task[None] | None = None

    def start_later(self) -> None:
        """Start indexing after `IDLE_SECONDS`. A further call before then restarts the wait."""
        self._waiting += 1
        if self._waiting > MAX_WAITING and self._task and not self._task.done():
            return
        self.stop()
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """Stop indexing. Results that are not indexed yet can be read, and a later process indexes them."""
        if self._task:
            self._task.cancel()

    async def _run(self) -> None:
        await self._sleep(IDLE_SECONDS)
        while await asyncio.to_thread(self._index_oldest):
            pass
        self._waiting = 0


# Carry out the steps of the relay for one client: send, bound, read stored texts, and restart a server that ends.

log = logging.getLogger(__name__)

BOUNDING: Final = ThreadPoolExecutor(2, "bounding")
"""The threads in which results are bounded, for all conversations of a process. More of them bound no faster, because
one Python thread runs at a time; the second one works while the first waits for the disk."""
SWITCH_SECONDS: Final = 0.0005
"""Seconds after which a thread that bounds a result lets the relay run. Python's 5 ms would delay each message by up to
5 ms at each of its steps."""
FAULTS: Final = (ArithmeticError, AttributeError, KeyholeError, LookupError, RuntimeError, TypeError, ValueError)
"""The errors that the values in one message can cause. They must not stop the messages after it."""
FIRST_DELAY: Final = 1.0
"""Seconds until the server is started again after it ended. Each further time takes twice as long."""
MAX_DELAY: Final = 60.0
STABLE_SECONDS: Final = 60.0
"""Seconds after which the server counts as stable, so that its next restart takes `FIRST_DELAY`."""
LAST_ANSWERS_SECONDS: Final = 10.0
"""Seconds that the server has for its last answers after the client has closed its side."""

ReadStoredText = Callable[[Message, ClientVersion, str], Awaitable[Message]]
"""Answers a call of Keyhole's own tool, whose name is the last argument."""


class Conversation:
    """One client and its server."""

    def __init__(
        self,
        relay: Relay,
        server: Upstream,
        send: Send,
        bounder: Bounder,
        read_stored: ReadStoredText,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._relay = relay
        self._server = server
        self._send = send
        self._bounder = bounder
        self._read_stored = read_stored
        self._sleep = sleep
        self._sending = asyncio.Lock()
        self._delivery = Delivery(self._to_client)
        """The messages of the server."""
        self._tasks: set[asyncio.Task[None]] = set()
        """The answers that are being made."""
        self._indexing = Indexing(bounder.index_oldest, sleep)
        self._is_closing = False
        self._client_gone: OSError | None = None
        """Why nothing can be sent to the client any more."""

    async def run(self, received: Callable[[], Awaitable[Line | None]]) -> None:
        """Relay until the client closes its side and the server has ended. `received` returns None at the end.

        Raises what `send` raises if the client has gone.
        """
        receiving = asyncio.create_task(self._receive(received))
        supervising = asyncio.create_task(self._supervise())
        try:
            ended, _ = await asyncio.wait((receiving, supervising), return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
            await self._server.finish()
            await asyncio.wait((supervising,), timeout=LAST_ANSWERS_SECONDS)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=LAST_ANSWERS_SECONDS)
        finally:
            self._is_closing = True
            self._indexing.stop()
            others = [receiving, supervising, *self._tasks]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self._server.stop()

    async def _receive(self, received: Callable[[], Awaitable[Line | None]]) -> None:
        """Relay what the client sends until it closes its side."""
        while (line := await received()) is not None:
            await self._take(_read(line, self._relay.from_client, self._relay.lost_from_client), self._direct())
        self._is_closing = True

    async def _supervise(self) -> None:
        """Run the server and start it again when it ends, each time after a longer delay."""
        name, delay, is_first = self._relay.server, FIRST_DELAY, True
        while True:
            started = time.monotonic()
            (reason,) = await asyncio.gather(self._run_once(is_first=is_first), return_exceptions=True)
            if isinstance(reason, BaseException):
                if self._client_gone is not None:
                    raise self._client_gone
                log.error("reading from the server %s failed", name, exc_info=reason)
                await self._server.stop()
                reason = f"could not be read: {type(reason).__name__}"
            if self._is_closing:
                return
            is_first = False
            log.warning("the server %s %s", name, reason)
            await self._take(self._relay.ended(f"the server {name} {reason}"), self._delivery)
            delay = FIRST_DELAY if time.monotonic() - started > STABLE_SECONDS else delay
            await self._sleep(delay)
            delay = min(MAX_DELAY, delay * 2)

    async def _run_once(self, *, is_first: bool) -> str:
        try:
            await self._server.start()
        except OSError as error:
            return f"cannot be started: {error.strerror}"
        if not is_first:
            await self._take(self._relay.restarted(), self._delivery)
        async for line in self._server.lines():
            await self._take(_read(line, self._relay.from_server, self._relay.lost_from_server), self._delivery)
            await self._delivery.wait_for_room()
        return await self._server.stop()

    def _direct(self) -> Delivery:
        """Return a delivery in which no message of the server waits, for answers that the proxy gives itself."""
        return Delivery(self._to_client)

    async def _take(self, steps: Iterable[Step], delivery: Delivery) -> None:
        """Carry out steps. `delivery`: the one for their messages to the client."""
        for step in steps:
            match step:
                case ToClient(raw, is_answer, token):
                    await delivery.add(raw, is_answer=is_answer, token=token)
                case ToServer(raw):
                    if not self._server.send(raw):
                        await self._take(self._relay.undelivered(raw), self._direct())
                case BoundResult(message, pending):
                    token = pending.request.progress_token
                    if self._bounder.fits(message, pending):
                        await delivery.add(message.raw, token=token)
                    else:
                        parcel = delivery.reserve(len(message.raw), token)
                        _start(self._tasks, self._bound(message.raw, pending, delivery, parcel))
                case ReadStored():
                    _start(self._tasks, self._read(step))

    async def _to_client(self, raw: bytes) -> None:
        async with self._sending:
            try:
                await self._send(raw)
            except OSError as error:
                self._client_gone = error
                raise

    async def _bound(self, raw: bytes, pending: Pending, delivery: Delivery, parcel: Parcel) -> None:
        """Bound a response in a thread, which parses `raw` again because the parsed value takes more memory."""
        reader = self._relay.reader
        work = asyncio.get_running_loop().run_in_executor(
            BOUNDING, lambda: self._bounder.bound(load(raw), pending, reader)
        )
        (bounded,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(bounded, BaseException):
            log.error("a result of %s could not be bounded", pending.request.method, exc_info=bounded)
            bounded = _failed(pending.request, bounded, "the result could not be bounded")
        await delivery.fill(parcel, bounded)
        self._indexing.start_later()

    async def _read(self, step: ReadStored) -> None:
        work = self._read_stored(step.request, step.client, self._relay.reader)
        (answer,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(answer, BaseException):
            log.error("a stored text could not be read", exc_info=answer)
            await self._to_client(_failed(step.request, answer, "the stored text could not be read"))
        else:
            await self._to_client(answer.raw)


def _read(line: Line, relay: Callable[[bytes], list[Step]], lost: Callable[[bytes, str], list[Step]]) -> list[Step]:
    """Return the steps for a line. `lost` returns the steps for a line that cannot be relayed: outline and reason."""
    if line.length:
        return lost(line.outline, too_long(line.length))
    try:
        return relay(line.raw)
    except FAULTS:
        log.exception("a message could not be relayed")
        return lost(outline_of(line.raw), "could not be relayed")


def _failed(message: Message, error: BaseException, words: str) -> bytes:
    """Return the response with the id of `message` for work that raised an error."""
    known = error if isinstance(error, KeyholeError) else KeyholeError(Code.INTERNAL_ERROR, words)
    return error_response(message.data["id"], known).raw


def _start(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    """Run `work` as one of `tasks` until it is done."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    task.add_done_callback(lambda task: task.cancelled() or task.exception())  # not logged: the client has gone
