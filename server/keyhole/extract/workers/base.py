"""The port through which the product extracts pages. Tests implement it without processes."""

from __future__ import annotations

from typing import Protocol

from keyhole.records import Document, Page


class Extractor(Protocol):
    """Extracts documents from pages. WorkerPool is the implementation of the product."""

    def warm(self) -> None:
        """Prepare for a page that is being fetched. Returns at once; does nothing if already prepared."""
        ...

    async def extract(self, page: Page, deadline: float | None = None) -> tuple[Document, str]:
        """Return the document of a page without its `blocks`, and its words for the search index.

        A page that is not finished at `deadline`, in seconds of the event loop's clock, counts as unreadable. The
        document of an unreadable page has a `notice` and its bare text.

        Raises KeyholeError as `keyhole.extract` does.
        """
        ...

    async def aclose(self) -> None:
        """End all processes that were started."""
        ...
