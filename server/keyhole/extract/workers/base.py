"""The port to extraction, so that what is above it can be tested without processes. Implementations are elsewhere."""

from __future__ import annotations

from typing import Protocol

from keyhole.records import Document, Page


class Extractor(Protocol):
    """Reads pages: the real one is WorkerPool, tests bring one that reads in the same process."""

    def warm(self) -> None:
        """A page is coming: get ready meanwhile. Never waits; does nothing where all is ready."""
        ...

    async def extract(self, page: Page, until: float | None = None) -> tuple[Document, str]:
        """The page as a document without `blocks`, and its words for the store's index. `until`, in seconds of the
        event loop's clock: a page that waits or is read any longer counts as one that could not be read.

        Raises KeyholeError as `keyhole.extract` does. A document with a `notice` is what could be saved of a page
        that could not be read.
        """
        ...

    async def aclose(self) -> None:
        """End everything that was started."""
        ...
