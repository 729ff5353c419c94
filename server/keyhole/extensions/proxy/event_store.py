"""Keep the events of one session, so that a client whose connection was cut gets those that it missed."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Final

MAX_EVENTS: Final = 1_000
MAX_BYTES: Final = 8 * 1024**2
"""Most events, and bytes of events, that are kept for one session; the oldest are dropped first. The newest event is
always kept: it may be the only answer of a call, and a message has its own limit. Bounded results have some thousand
bytes each."""
_ID: Final = re.compile("([0-9]{1,15})-([0-9]{1,15})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Event:
    """A message in one of the streams of a session."""

    stream: int
    number: int
    """Its place in the stream, from 1 on. 0 is the place before the first message."""
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
