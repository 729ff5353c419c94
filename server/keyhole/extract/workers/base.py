"""The port to the worker processes, in which every byte of a stranger is parsed. Tests implement it without processes.

A page is extracted. Any other answer of a server, such as a sitemap or the answer of an API, is parsed by a `Task`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from keyhole.records import Document, Page

Result = tuple[dict[str, Any], bytes]
"""The result of a task: JSON values and a body. The process that made it has read a stranger's bytes, so the caller
checks the type of every value before it uses it."""

TaskFunction = Callable[[Mapping[str, Any], Sequence[bytes]], Result]
"""A function of a module that takes the arguments and bodies of a task. It may raise KeyholeError."""


@dataclass(frozen=True, slots=True)
class Task:
    """A function that a worker applies to bytes of a stranger."""

    function: TaskFunction
    arguments: Mapping[str, Any]
    """JSON values."""
    bodies: Sequence[bytes] = ()


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

    async def run(self, task: Task) -> Result:
        """Return the result of a task, within the limits of a page.

        Raises the KeyholeError of the task's function, and extraction_failed if a limit ended it.
        """
        ...

    async def aclose(self) -> None:
        """End all processes that were started."""
        ...
