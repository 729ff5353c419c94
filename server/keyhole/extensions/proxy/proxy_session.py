"""Carry out the steps of the relay for one client: send, bound, read stored texts, and restart a server that ends."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.bounding import Bounder
from keyhole.extensions.proxy.json_rpc import (
    MAX_MESSAGE,
    Key,
    Message,
    MessageLine,
    error_response,
    load,
    outline_of,
    too_long,
)
from keyhole.extensions.proxy.proxy_relay import (
    BoundResult,
    ClientVersion,
    Pending,
    ProxyRelay,
    ReadStored,
    RelayStep,
    ToClient,
    ToServer,
)
from keyhole.extensions.proxy.upstream import Upstream

log = logging.getLogger(__name__)

# Delivery: the order of messages to the client while some results are still being bounded.

MAX_WAITING_BYTES: Final = 2 * MAX_MESSAGE
"""Bytes of the server's waiting messages. Beyond it, nothing is read from the server, which bounds the memory."""
MAX_WAITING: Final = 1_000
"""Messages of the server that wait."""

Send = Callable[[bytes], Awaitable[None]]
"""Sends one message to the client, and returns once it has been taken."""


@dataclass(slots=True, eq=False)
class Parcel:
    """A message on its way to the client."""

    size: int
    """Bytes of the message as the server sent it."""
    raw: bytes | None
    """The message, None while it is bounded."""
    is_answer: bool
    token: Key | None
    """The token of the request that is answered, or of the request whose progress this is."""


class Delivery:
    """The messages of the server that wait, in the order in which it sent them.

    A notification or a request of the server follows everything that the server sent before it. An answer follows the
    notifications that the server sent before it, except those of another request's progress; it may overtake other
    answers.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: list[Parcel] = []
        self._bytes = 0
        self._lock = asyncio.Lock()
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def wait_for_room(self) -> None:
        """Return once a further message may be read from the server."""
        await self._has_room.wait()

    async def add(self, raw: bytes, *, is_answer: bool = True, token: Key | None = None) -> None:
        """Send a message as soon as its turn has come."""
        self._append(Parcel(len(raw), raw, is_answer, token))
        await self._send_those_that_may()

    def reserve(self, size: int, token: Key | None) -> Parcel:
        """Return the place of an answer of `size` bytes that is still bounded."""
        parcel = Parcel(size, None, True, token)
        self._append(parcel)
        return parcel

    async def fill(self, parcel: Parcel, raw: bytes) -> None:
        """Send a bounded answer, and the messages that had to wait for it."""
        parcel.raw = raw
        await self._send_those_that_may()

    def _append(self, parcel: Parcel) -> None:
        self._waiting.append(parcel)
        self._count(parcel.size)

    def _count(self, size: int) -> None:
        self._bytes += size
        is_full = self._bytes > MAX_WAITING_BYTES or len(self._waiting) > MAX_WAITING
        (self._has_room.clear if is_full else self._has_room.set)()

    async def _send_those_that_may(self) -> None:
        async with self._lock:
            while (parcel := self._next()) is not None:
                assert parcel.raw is not None  # noqa: S101 - for the type checker: _next returns no other
                self._waiting.remove(parcel)
                self._count(-parcel.size)
                await self._send(parcel.raw)

    def _next(self) -> Parcel | None:
        """Return the first message that may be sent now."""
        tokens: list[Key | None] = []
        """The tokens of the notifications before it."""
        for place, parcel in enumerate(self._waiting):
            if not parcel.is_answer:
                if place == 0:
                    return parcel
                tokens.append(parcel.token)
            elif parcel.raw is not None and not any(each is None or each == parcel.token for each in tokens):
                return parcel
        return None


# Indexing: stored results are indexed while no result is bounded, because it takes the time of several calls.

IDLE_SECONDS: Final = 1.0
"""Seconds without a bounded result after which the stored ones are indexed."""
MAX_UNINDEXED: Final = 200
"""If more results than this wait, a new result no longer delays indexing: each write looks at all of their files."""


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
        if self._waiting > MAX_UNINDEXED and self._task and not self._task.done():
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


# The session: a client and its server, which is started again when it ends.

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


class ProxySession:
    """One client and its server."""

    def __init__(
        self,
        relay: ProxyRelay,
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

    async def run(self, received: Callable[[], Awaitable[MessageLine | None]]) -> None:
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

    async def _receive(self, received: Callable[[], Awaitable[MessageLine | None]]) -> None:
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
        """Return an empty delivery, for the proxy's own answers, which wait for no message of the server."""
        return Delivery(self._to_client)

    async def _take(self, steps: Iterable[RelayStep], delivery: Delivery) -> None:
        """Carry out steps. `delivery`: sends their messages to the client."""
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


def _read(
    line: MessageLine, relay: Callable[[bytes], list[RelayStep]], lost: Callable[[bytes, str], list[RelayStep]]
) -> list[RelayStep]:
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
