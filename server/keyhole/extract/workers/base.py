"""Protocol for extracting pages, which tests implement without processes."""

from __future__ import annotations

from typing import Protocol

from keyhole.records import Document, Page


class Extractor(Protocol):
    """An extractor of documents from pages. WorkerPool implements it with processes."""

    def warm(self) -> None:
        """Prepare for a page that is still being fetched. Returns at once."""
        ...

    async def extract(self, page: Page, deadline: float | None = None) -> tuple[Document, str]:
        """Return the document of a page without its `blocks`, and its words for the search index.

        A page that is not read by `deadline`, in seconds of the event loop's clock, counts as unreadable. The document
        of an unreadable page contains a `notice` and the page's bare text.

        Raises KeyholeError as `keyhole.extract` does.
        """
        ...

    async def aclose(self) -> None:
        """End all processes that were started."""
        ...
