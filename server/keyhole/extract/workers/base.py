"""Protocol for extracting pages, which tests implement without processes."""

from __future__ import annotations

from typing import Protocol

from keyhole.records import Document, Page


class Extractor(Protocol):
    """An extractor of documents from pages. WorkerPool implements it with processes."""

    def warm(self) -> None:
        """Prepare for a page that is still being fetched. Returns at once."""
        ...

    async def extract(self, page: Page) -> tuple[Document, str]:
        """Return the document of a page without its `blocks`, and its words for the search index.

        The document of a page that cannot be read has the notice UNDIGESTED and the page's bare text. The call waits
        for its turn as long as it must; a caller with a deadline cancels it.

        Raises KeyholeError as `keyhole.extract` does.
        """
        ...

    async def aclose(self) -> None:
        """End all processes that were started."""
        ...
