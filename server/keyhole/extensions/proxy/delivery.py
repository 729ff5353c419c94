"""Send the messages of one server to the client in order, although some of its results are still being bounded.

A notification or a request of the server follows everything that the server sent before it. An answer follows the
notifications that the server sent before it, except those of another request's progress; it may overtake other answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from keyhole.extensions.proxy.messages import MAX_MESSAGE, Key

MAX_WAITING_BYTES: Final = 2 * MAX_MESSAGE
"""Bytes of a server's waiting messages. Beyond it, nothing more is read from the server, which bounds the memory."""
MAX_WAITING: Final = 1_000
"""Messages of a server that wait."""

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
    """The messages of one server that wait, in the order in which the server sent them."""

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
