"""Match the messages of one conversation with the HTTP responses that carry them to the client."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from keyhole.serve.proxy.lines import Line
from keyhole.serve.proxy.messages import CANCELLED, Key, Message, build, key_of, load

MAX_QUEUED: Final = 100
"""Messages that wait for a client that does not read its response. Beyond them, the servers wait too."""
MAX_UNSENT: Final = 200
"""Messages kept for a client that has no response open; the oldest are dropped first."""
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
"""The key in `_meta` of a notification with the id of the request that subscribed to it."""


@dataclass(slots=True, eq=False)
class Stream:
    """The messages of one HTTP response. None ends it."""

    queue: asyncio.Queue[bytes | None] = field(default_factory=lambda: asyncio.Queue(MAX_QUEUED))
    requests: dict[Key, Message] = field(default_factory=dict)
    """The requests that the response answers, by the id under which they were handed on."""

    def has_token(self, token: object) -> bool:
        """Return whether progress with this token belongs to one of the requests."""
        metas = (request.params.get("_meta") for request in self.requests.values())
        return any(isinstance(meta, dict) and meta.get("progressToken") == token for meta in metas)


class HttpSession:
    """One conversation over HTTP: what the client has posted, and the responses that are open."""

    def __init__(self, *, shared: bool = False) -> None:
        """`shared`: several clients of the newer protocol use it, so their ids are replaced by its own."""
        self._shared = shared
        self._posted: asyncio.Queue[Line | None] = asyncio.Queue(MAX_QUEUED)
        self._streams: list[Stream] = []
        self._general: Stream | None = None
        self._unsent: deque[bytes] = deque(maxlen=MAX_UNSENT)
        self._count = 0
        self.authorize: Callable[[str], Awaitable[bool]] | None = None
        """Hands other credentials on to the server, and returns whether it accepts them; None if nothing can."""

    @property
    def is_idle(self) -> bool:
        """Return whether no response is open."""
        return not self._streams and self._general is None

    # From the client.

    async def receive(self) -> Line | None:
        """Return the next message of the client, None once the session has ended."""
        return await self._posted.get()

    async def post(self, messages: Sequence[Message]) -> Stream | None:
        """Take what the client has posted. Return the response to its requests, None if there are none."""
        stream = Stream()
        handed_on = []
        for message in messages:
            if message.kind == "request" and message.key:
                renamed = self._renamed(message) if self._shared else message
                assert renamed.key  # noqa: S101 - for the type checker: a request has an id
                stream.requests[renamed.key] = message
                message = renamed
            handed_on.append(message)
        if stream.requests:
            self._streams.append(stream)
        for message in handed_on:
            await self._posted.put(Line(message.raw))
        return stream if stream.requests else None

    async def open_general(self) -> Stream:
        """Return the response for messages that belong to no request. It replaces an earlier one."""
        if self._general is not None:
            await self._general.queue.put(None)
        self._general = Stream()
        while self._unsent and not self._general.queue.full():
            self._general.queue.put_nowait(self._unsent.popleft())
        return self._general

    async def close(self, stream: Stream) -> None:
        """Forget a response whose client has gone. In the newer protocol this cancels its requests."""
        if stream is self._general:
            self._general = None
        if stream in self._streams:
            self._streams.remove(stream)
        while not stream.queue.empty():  # a conversation may wait for room in the queue
            stream.queue.get_nowait()
        for key in stream.requests if self._shared else ():
            cancel = {"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": key[1]}}
            await self._posted.put(Line(build(cancel).raw))

    async def end(self) -> None:
        """End the conversation."""
        await self._posted.put(None)

    def _renamed(self, message: Message) -> Message:
        self._count += 1
        return message.with_data(id=self._count)

    # To the client.

    async def send(self, raw: bytes) -> None:
        """Put a message into the response that it belongs to."""
        message = load(raw)
        if message.kind == "response":
            await self._send_response(message)
        elif (stream := self._stream_of(message)) is not None:
            await self._put(stream, self._original(message, stream))
        else:
            self._unsent.append(raw)

    async def _send_response(self, message: Message) -> None:
        key = message.key
        stream = next((each for each in self._streams if key in each.requests), None)
        if key is None or stream is None:
            return  # the client has closed the response
        request = stream.requests.pop(key)
        await self._put(stream, _answer(message, request.data["id"]) if self._shared else message.raw)
        if not stream.requests:
            self._streams.remove(stream)
            await stream.queue.put(None)

    async def _put(self, stream: Stream, raw: bytes) -> None:
        """Add a message to a response. In a shared session a client that does not read loses its response instead."""
        if self._shared and stream.queue.full():
            await self.close(stream)
            stream.queue.put_nowait(None)
        else:
            await stream.queue.put(raw)

    def _stream_of(self, message: Message) -> Stream | None:
        """Return the response for a request or notification of a server: that of its progress, else the general one."""
        token = message.params.get("progressToken") if message.kind == "notification" else None
        related = [each for each in self._streams if token is not None and each.has_token(token)]
        subscribed = [each for each in self._streams if self._subscription(message) in each.requests]
        return next(iter([*related, *subscribed]), self._general or (self._streams[-1] if self._streams else None))

    def _subscription(self, message: Message) -> Key | None:
        meta = message.params.get("_meta")
        return key_of(meta.get(SUBSCRIPTION_ID)) if isinstance(meta, dict) else None

    def _original(self, message: Message, stream: Stream) -> bytes:
        """Return a notification with the id of the subscription that its client knows."""
        request = stream.requests.get(self._subscription(message)) if self._shared else None  # type: ignore[arg-type]
        if request is None:
            return message.raw
        meta: dict[str, Any] = {**message.params["_meta"], SUBSCRIPTION_ID: request.data["id"]}
        return message.with_data(params={**message.params, "_meta": meta}).raw


def _answer(message: Message, id: Any) -> bytes:
    """Return a response with the id that its client knows, also where it ends a subscription."""
    result = message.result or {}
    meta = result.get("_meta")
    if not isinstance(meta, dict) or meta.get(SUBSCRIPTION_ID) != message.data["id"]:
        return message.with_data(id=id).raw
    return message.with_data(id=id, result={**result, "_meta": {**meta, SUBSCRIPTION_ID: id}}).raw
