"""Match the messages of one conversation with the HTTP responses that carry them to the client.

A stream is what the client gets for one POST, or the messages that belong to no request. Before protocol 2026-07-28 it
outlives its HTTP response: its events have ids and are kept, and a client whose connection was cut goes on after the
last event that it has. In the newer protocol a stream ends with its response.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from keyhole.extensions.proxy.handshake import SUBSCRIPTION_ID
from keyhole.extensions.proxy.json_rpc import CANCELLED, Key, Message, MessageLine, build, key_of, load

# Events: the newest ones are kept, so that a client whose connection was cut gets those that it missed.

MAX_EVENTS: Final = 1_000
MAX_BYTES: Final = 8 * 1024**2
"""Limits of the events that are kept for one session; the oldest are dropped first. The newest event is always kept: it
may be the only answer of a call, and a message has its own limit. Bounded results have some thousand bytes each."""
_ID: Final = re.compile("([0-9]{1,15})-([0-9]{1,15})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Event:
    """A message in one of the streams of a session."""

    stream: int
    number: int
    """The place of the message in the stream, from 1 on. 0 is the place before the first message."""
    raw: bytes

    @property
    def id(self) -> bytes:
        """The id by which a client names the event."""
        return f"{self.stream}-{self.number}".encode()


class EventStore:
    """The newest events of one session."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._bytes = 0

    def add(self, event: Event) -> None:
        """Keep an event. Drop the oldest ones beyond the limits."""
        self._events.append(event)
        self._bytes += len(event.raw)
        while len(self._events) > MAX_EVENTS or (self._bytes > MAX_BYTES and len(self._events) > 1):
            self._bytes -= len(self._events.popleft().raw)

    def after(self, stream: int, number: int) -> list[Event]:
        """Return the events of a stream that follow event `number`."""
        return [event for event in self._events if event.stream == stream and event.number > number]


def parse_id(text: str) -> tuple[int, int] | None:
    """Return the stream and the number of an event id, None for text that is no id."""
    match = _ID.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


# The session: its streams, and the responses that carry them.

MAX_QUEUED: Final = 100
"""Messages that wait for a client that does not read its response. Beyond them, the server waits too."""
MAX_CUT: Final = 100
"""Streams of one session that wait for answers without a client; the oldest are forgotten first."""
GENERAL: Final = 0
"""The number of the stream of messages that belong to no request."""


@dataclass(slots=True, eq=False)
class Response:
    """The events of one HTTP response. None in the queue ends the response."""

    stream: int
    missed: deque[Event] = field(default_factory=deque)
    """Events of an earlier response, which come first."""
    queue: asyncio.Queue[Event | None] = field(default_factory=lambda: asyncio.Queue(MAX_QUEUED))

    async def receive(self) -> Event | None:
        """Return the next event, None at the end."""
        return self.missed.popleft() if self.missed else await self.queue.get()

    def drop(self) -> None:
        """Empty the queue, because a conversation may be waiting for room in it."""
        while not self.queue.empty():
            self.queue.get_nowait()

    def end(self) -> None:
        """End the response before its stream ends."""
        self.drop()
        self.queue.put_nowait(None)


@dataclass(slots=True, eq=False)
class Stream:
    """The messages for one POST, or those that belong to no request."""

    number: int
    requests: dict[Key, Message] = field(default_factory=dict)
    """The requests that the stream answers, by the id under which they were handed on."""
    cancelled: set[Key] = field(default_factory=set)
    """The requests that the client has cancelled. Servers do not answer them."""
    response: Response | None = None
    """The open HTTP response; None if the connection was cut."""
    count: int = 0
    """The number of events so far."""
    taken: int = 0
    """The number of events that an HTTP response has taken."""

    @property
    def has_ended(self) -> bool:
        """Return whether nothing is left to answer."""
        return self.requests.keys() <= self.cancelled

    def has_token(self, token: object) -> bool:
        """Return whether progress with this token belongs to one of the requests."""
        metas = (request.params.get("_meta") for request in self.requests.values())
        return any(isinstance(meta, dict) and meta.get("progressToken") == token for meta in metas)


class HttpSession:
    """One conversation over HTTP: what the client has posted, and the streams that answer it."""

    def __init__(self, *, shared: bool = False) -> None:
        """`shared`: several clients of the newer protocol use it, so their ids are replaced by its own."""
        self._shared = shared
        self._posted: asyncio.Queue[MessageLine | None] = asyncio.Queue(MAX_QUEUED)
        self._general = Stream(GENERAL)
        self._streams: list[Stream] = []
        """The streams of requests that wait for an answer."""
        self._events = EventStore()
        self._count = 0
        """The last number that was given to a stream or to the id of a request."""
        self.authorize: Callable[[str], Awaitable[bool]] | None = None
        """Gives new credentials to the server, and returns whether it accepts them. None if the server takes none."""

    @property
    def is_idle(self) -> bool:
        """Return whether no response is open."""
        return not any(stream.response for stream in (self._general, *self._streams))

    @property
    def has_ids(self) -> bool:
        """Return whether events have ids, after which a client can continue."""
        return not self._shared

    # From the client.

    async def receive(self) -> MessageLine | None:
        """Return the next message of the client, None once the session has ended."""
        return await self._posted.get()

    async def post(self, messages: Sequence[Message]) -> Response | None:
        """Take what the client has posted. Return the response to its requests, None if there are none."""
        self._count += 1
        stream = Stream(self._count)
        handed_on = []
        for message in messages:
            if message.kind == "request" and message.key:
                renamed = self._renamed(message) if self._shared else message
                assert renamed.key  # noqa: S101 - for the type checker: a request has an id
                stream.requests[renamed.key] = message
                message = renamed
            elif message.method == CANCELLED and not self._shared:
                self._cancel(key_of(message.params.get("requestId")))
            handed_on.append(message)
        if stream.requests:
            self._streams.append(stream)
            stream.response = Response(stream.number)
        for message in handed_on:
            await self._posted.put(MessageLine(message.raw))
        return stream.response

    def open_general(self) -> Response:
        """Return the response for messages that belong to no request. It replaces an earlier one."""
        return self._open(self._general, self._general.taken)

    def resume(self, last_id: str) -> Response | None:
        """Return a response that continues after the event `last_id`, None for an unknown id.

        It replaces the earlier response to the same requests, because a cut connection may not be noticed at once.
        """
        place = parse_id(last_id)
        if place is None or self._shared or place[0] > self._count:
            return None
        number, last = place
        waiting = next((each for each in (self._general, *self._streams) if each.number == number), None)
        response = self._open(waiting or Stream(number), last)
        if waiting is None:
            response.queue.put_nowait(None)
        return response

    def _open(self, stream: Stream, last: int) -> Response:
        if stream.response:
            stream.response.end()
        stream.response = Response(stream.number, deque(self._events.after(stream.number, last)))
        stream.taken = stream.count
        return stream.response

    async def close(self, response: Response) -> None:
        """Forget a response whose client has gone. In the newer protocol this cancels its requests."""
        response.drop()
        stream = next((each for each in (self._general, *self._streams) if each.response is response), None)
        if stream is None:
            return  # all its requests are answered, or another response has replaced it
        stream.response = None
        if stream is self._general:
            return
        if self._shared:
            self._streams.remove(stream)
            for key in stream.requests:
                cancel = {"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": key[1]}}
                await self._posted.put(MessageLine(build(cancel).raw))
        else:
            self._forget_cut_streams()

    def _cancel(self, key: Key | None) -> None:
        for stream in self._streams:
            if key in stream.requests:
                stream.cancelled.add(key)
        self._forget_cut_streams()

    def _forget_cut_streams(self) -> None:
        """Remove streams without a client if nothing is left to answer, and the oldest if there are too many."""
        cut = [stream for stream in self._streams if stream.response is None and not stream.has_ended]
        kept = cut[-MAX_CUT:]
        self._streams = [stream for stream in self._streams if stream.response or stream in kept]

    async def end(self) -> None:
        """End the conversation."""
        await self._posted.put(None)

    def _renamed(self, message: Message) -> Message:
        self._count += 1
        return message.with_data(id=self._count)

    # To the client.

    async def send(self, raw: bytes) -> None:
        """Put a message into the stream that it belongs to."""
        message = load(raw)
        if message.kind == "response":
            await self._send_response(message)
        else:
            stream = self._stream_of(message)
            await self._put(stream, self._original(message, stream))

    async def _send_response(self, message: Message) -> None:
        key = message.key
        stream = next((each for each in self._streams if key in each.requests), None)
        if key is None or stream is None:
            return  # the client has given it up
        request = stream.requests.pop(key)
        await self._put(stream, _answer(message, request.data["id"]) if self._shared else message.raw)
        if not stream.requests:
            self._streams.remove(stream)
            if stream.response:
                await stream.response.queue.put(None)

    async def _put(self, stream: Stream, raw: bytes) -> None:
        """Add a message to a stream. In a shared session, end the response instead if its queue is full."""
        stream.count += 1
        event = Event(stream.number, stream.count, raw)
        response = stream.response
        if not self._shared:
            self._events.add(event)
        if response is None:
            return
        if self._shared and response.queue.full():
            await self.close(response)
            response.queue.put_nowait(None)
        else:
            stream.taken = stream.count
            await response.queue.put(event)

    def _stream_of(self, message: Message) -> Stream:
        """Return the stream that a server's message belongs to by token or subscription, else the general one."""
        token = message.params.get("progressToken") if message.kind == "notification" else None
        related = [each for each in self._streams if token is not None and each.has_token(token)]
        subscribed = [each for each in self._streams if self._subscription(message) in each.requests]
        open_ = [each for each in (*reversed(self._streams), self._general) if each.response]
        general = [self._general] if self._general.response else open_
        return next(iter([*related, *subscribed, *general]), self._general)

    def _subscription(self, message: Message) -> Key | None:
        meta = message.params.get("_meta")
        return key_of(meta.get(SUBSCRIPTION_ID)) if isinstance(meta, dict) else None

    def _original(self, message: Message, stream: Stream) -> bytes:
        """Return a notification with the id that the client gave to the subscription."""
        request = stream.requests.get(self._subscription(message)) if self._shared else None  # type: ignore[arg-type]
        if request is None:
            return message.raw
        meta: dict[str, Any] = {**message.params["_meta"], SUBSCRIPTION_ID: request.data["id"]}
        return message.with_data(params={**message.params, "_meta": meta}).raw


def _answer(message: Message, id: Any) -> bytes:
    """Return a response with the id that the client gave to the request, also in `_meta` if it ends a subscription."""
    result = message.result or {}
    meta = result.get("_meta")
    if not isinstance(meta, dict) or meta.get(SUBSCRIPTION_ID) != message.data["id"]:
        return message.with_data(id=id).raw
    return message.with_data(id=id, result={**result, "_meta": {**meta, SUBSCRIPTION_ID: id}}).raw
