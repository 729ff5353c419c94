"""A stream of messages in front of another, each item seen by us on its way. What for is decided elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Self

from mcp.shared.message import SessionMessage

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream

Item = SessionMessage | Exception


class Passing(ABC):
    """The stream behind it, with each item as `passed` gives it on."""

    def __init__(self, read: ReadStream[Item]) -> None:
        self._read = read

    @abstractmethod
    async def passed(self, item: Item) -> Item:
        """What the server is given for an item: a message, or why a line is none."""

    async def receive(self) -> Item:
        """The next item."""
        return await self.passed(await self._read.receive())

    async def aclose(self) -> None:
        """Close the stream behind it."""
        await self._read.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self.passed(await self._read.__anext__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
