"""Run `keyhole fetch`, `search` and `read`: call the tool, and print its result as text or JSON."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.errors import KeyholeError
from keyhole.records import Answer, Artifact, Document, EngineReport, Page, Ranked, Source
from keyhole.store.base import LOCAL

if TYPE_CHECKING:
    from keyhole.extract.workers.base import Extractor, Result, Task
    from keyhole.retrieval.answer_view import PageView, SearchView
    from keyhole.retrieval.progress import Progress
    from keyhole.retrieval.retrieve import Retrieval
    from keyhole.retrieval.tenants import Tenants

_BOUNDS: Final = ("max_chars", "max_tokens")
_SEARCH_FILTERS: Final = ("sites", "exclude_sites", "freshness", "language", "country", "kind")
TOOLS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "fetch": ("web_fetch", ("url", "query", "skip", *_BOUNDS, "refresh")),
        "search": ("search", ("query", "queries", "scope", "max_results", *_BOUNDS, *_SEARCH_FILTERS, "fetch")),
        "read": ("read_artifact", ("id", "offset", "limit", "query", "skip", "find", *_BOUNDS)),
    }
)
"""The tool that each command calls, and the tool's arguments that the command accepts."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The answer of a call, and its explanation if --explain was given."""

    answer: Answer
    view: PageView | SearchView | None = None


@dataclass(slots=True)
class ExplainObserver:
    """Records the pages and sources of one call for --explain, and wraps the extractor to record what it removed."""

    extractor: Extractor
    artifact: Artifact | None = None
    found: Sequence[Source] = ()
    """All sources of a search, read or not."""
    reports: Sequence[EngineReport] = ()
    ranked: Ranked | None = None
    removed: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    """Counts of removed parts by kind, for each page's URL."""

    def budget(self, size: int) -> None:
        """Ignore the budget."""

    def page(self, artifact: Artifact, total: int) -> None:
        """Record the page of a fetch or a read, unless it is only a part of a text."""
        if len(artifact.text) == total:
            self.artifact = artifact

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """Record the sources of a search."""
        self.found, self.reports, self.ranked = sources, reports, ranked

    def warm(self) -> None:
        """Prepare the extractor for a page."""
        self.extractor.warm()

    async def extract(self, page: Page) -> tuple[Document, str]:
        """Extract a page and record what was removed from it."""
        document, words = await self.extractor.extract(page)
        self.removed[page.url] = document.removed
        return document, words

    async def run(self, task: Task) -> Result:
        """Run a task."""
        return await self.extractor.run(task)

    async def aclose(self) -> None:
        """Close the extractor."""
        await self.extractor.aclose()


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Call the command's tool and print the result; return 1 if the call failed or did not find a quote."""
    from keyhole.cli.build import build

    tool, names = TOOLS[arguments.command]
    values = {name: getattr(arguments, name) for name in names}
    result = asyncio.run(call_tool(partial(build, config), config, tool, values, explain=arguments.explain))
    print_result(result, as_json=arguments.json or arguments.explain)
    return 1 if result.answer.is_error or result.answer.details.get("found") is False else 0


async def call_tool(
    build: Callable[[Extractor], Tenants], config: Config, tool: str, arguments: Mapping[str, Any], *, explain: bool
) -> CallResult:
    """Call one tool and return its result. `build`: function that builds the tools with an extractor."""
    from keyhole.extract.workers.pool import WorkerPool
    from keyhole.retrieval.call import Caller
    from keyhole.retrieval.dispatch import dispatch

    observer = ExplainObserver(WorkerPool(config))
    tenants = build(observer if explain else observer.extractor)
    try:
        retrieval = tenants.of(LOCAL)
        with progress_bar(tool) as progress:
            observed, caller = replace(retrieval, observer=observer), Caller(folder=working_folder())
            answer = await dispatch(observed, tool, arguments, progress, caller, origin="command")
        if not explain or answer.is_error:
            return CallResult(answer)
        return CallResult(answer, await asyncio.to_thread(_explain, retrieval, observer, tool, arguments, answer))
    finally:
        await tenants.aclose()


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar on stderr and removes it at the end.

    `label`: text beside the bar until the call reports progress. Without a terminal nothing is drawn.
    """
    from keyhole.retrieval.progress import no_progress

    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Display

    columns = (SpinnerColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Display(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(label, total=None)

        async def draw(done: float, total: float, message: str) -> None:
            # A host name with brackets must not be read as markup.
            display.update(task, completed=done, total=total, description=message.replace("[", r"\["))

        yield draw


def _explain(
    retrieval: Retrieval, observer: ExplainObserver, tool: str, arguments: Mapping[str, Any], answer: Answer
) -> PageView | SearchView | None:
    """Return the explanation of an answer, or None if its page is no longer stored."""
    from keyhole.retrieval.answer_view import build_page_view

    if tool == "search":
        return _explain_search(observer, str(arguments["query"]), answer)
    artifact = observer.artifact or _stored_artifact(retrieval, str(arguments.get("id", "")))
    if artifact is None:
        return None
    reported: Any = answer.details["spans"]
    spans = tuple((start, end) for start, end, _ in reported)
    return build_page_view(artifact, arguments.get("query"), spans, observer.removed.get(artifact.url))


def _explain_search(observer: ExplainObserver, query: str, answer: Answer) -> SearchView:
    from keyhole.retrieval.answer_view import build_search_view

    spans = [_shown_spans(answer, each.artifact) if each.artifact else None for each in observer.found]
    rows: Any = answer.details["sources"]
    places = {row["url"]: number for number, row in enumerate(rows, start=1)}
    numbers = [places.get(each.url, 0) for each in observer.found]
    removed = [observer.removed.get(each.url, ()) for each in observer.found]
    return build_search_view(query, observer.found, observer.reports, observer.ranked, spans, numbers, removed)


def _shown_spans(answer: Answer, artifact: Artifact) -> tuple[tuple[int, int], ...] | None:
    """Return the spans of a text that an answer shows, None if it shows none."""
    return tuple((start, end) for id, start, end in answer.shown if id == artifact.id) or None


def _stored_artifact(retrieval: Retrieval, id: str) -> Artifact | None:
    try:
        return retrieval.store.get(id)
    except KeyholeError:
        return None


def print_result(result: CallResult, *, as_json: bool) -> None:
    """Print a result as JSON or as text. An error as text goes to stderr."""
    answer = result.answer
    if as_json:
        from keyhole.cli.table import print_json

        view = {"explain": asdict(result.view)} if result.view else {}
        print_json({"text": answer.text, "is_error": answer.is_error, **answer.facts, **answer.details, **view})
    else:
        print(answer.text, file=sys.stderr if answer.is_error else sys.stdout)
