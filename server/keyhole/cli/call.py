"""One call of a tool from the command line, shown as an agent would get it or explained. Chooses and words nothing."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from keyhole.cli.colours import Look, console, look
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.records import Answer, Artifact, Document, EngineReport, Page, Ranked, Source
from keyhole.store.base import LOCAL

if TYPE_CHECKING:
    from keyhole.cli.explain.view import PageView, SearchView
    from keyhole.extract.workers.base import Extractor
    from keyhole.retrieval.retrieve import Retrieval
    from keyhole.retrieval.tenants import Tenants


@dataclass(frozen=True, slots=True)
class Told:
    """What came back, and for one that wanted to know why."""

    answer: Answer
    view: PageView | SearchView | None = None


@dataclass(slots=True)
class Watch:
    """Keeps what passed by in one call: as its witness, and around what reads pages."""

    extractor: Extractor
    artifact: Artifact | None = None
    found: Sequence[Source] = ()
    reports: Sequence[EngineReport] = ()
    ranked: Ranked | None = None
    removed: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    """By the URL of the page that was read."""

    def page(self, artifact: Artifact) -> None:
        """The page that was asked for."""
        self.artifact = artifact

    def sources(self, sources: Sequence[Source], reports: Sequence[EngineReport], ranked: Ranked | None) -> None:
        """The sources of a search."""
        self.found, self.reports, self.ranked = sources, reports, ranked

    def warm(self) -> None:
        """As the reader of pages does."""
        self.extractor.warm()

    async def extract(self, page: Page, until: float | None = None) -> tuple[Document, str]:
        """The same, and what was left out is kept."""
        document, words = await self.extractor.extract(page, until)
        self.removed[page.url] = document.removed
        return document, words

    async def aclose(self) -> None:
        """As the reader of pages does."""
        await self.extractor.aclose()


async def answered(
    build: Callable[[Extractor], Tenants], config: Config, tool: str, given: Mapping[str, Any], *, explain: bool
) -> Told:
    """The answer of one tool; `build` makes the product around a reader of pages."""
    from keyhole.cli.progress_bar import bar
    from keyhole.extract.workers.pool import WorkerPool
    from keyhole.retrieval.dispatch import dispatch

    watch = Watch(WorkerPool(config))
    tenants = build(watch if explain else watch.extractor)
    try:
        product = tenants.of(LOCAL)
        with bar(tool) as progress:
            answer = await dispatch(replace(product, witness=watch), tool, given, progress)
        if not explain or answer.is_error:
            return Told(answer)
        return Told(answer, await asyncio.to_thread(_view, product, watch, tool, given, answer))
    finally:
        await tenants.aclose()


def _view(
    product: Retrieval, watch: Watch, tool: str, given: Mapping[str, Any], answer: Answer
) -> PageView | SearchView | None:
    from keyhole.cli.explain.view import page_view, spans_in
    from keyhole.render.answer import mark

    if tool == "search":
        return _search_view(product, watch, str(given["query"]), answer)
    artifact = watch.artifact or _stored(product, str(given.get("id", "")))
    if artifact is None:
        return None
    spans = spans_in(answer.text, mark(product.secret, artifact.id), len(artifact.text)) or ()
    if tool == "read_artifact" and not given.get("query"):  # a range has no gap lines
        told: Any = answer.facts.get("spans", ())
        spans = tuple((start, end) for start, end, _ in told)
    return page_view(artifact, given.get("query"), spans, watch.removed.get(artifact.url))


def _search_view(product: Retrieval, watch: Watch, query: str, answer: Answer) -> SearchView:
    from keyhole.cli.explain.view import numbers_in, search_view, spans_in
    from keyhole.render.answer import mark

    spans = [
        spans_in(answer.text, mark(product.secret, each.artifact.id), len(each.artifact.text))
        if each.artifact
        else None
        for each in watch.found
    ]
    named = numbers_in(answer.text, [each.url for each in watch.found])
    removed = [watch.removed.get(each.url, ()) for each in watch.found]
    return search_view(query, watch.found, watch.reports, watch.ranked, spans, named, removed)


def _stored(product: Retrieval, id: str) -> Artifact | None:
    try:
        return product.store.get(id)
    except KeyholeError:
        return None


def show(told: Told, *, as_json: bool) -> None:
    """Print it: a failure to stderr, unless it is for a program."""
    answer = told.answer
    if as_json:
        from keyhole.cli.table import print_json

        view = {"explain": asdict(told.view)} if told.view else {}
        print_json({"text": answer.text, "is_error": answer.is_error, **answer.facts, **view})
    elif told.view:
        from keyhole.budget.fit import answer_size

        draw(told.view, f"Result: {answer_size(answer):,} bytes as JSON.")
    else:
        print(answer.text, file=sys.stderr if answer.is_error else sys.stdout)


def draw(view: PageView | SearchView, last: str = "") -> None:
    """Plot it on stdout."""
    from rich.text import Text

    from keyhole.cli.explain.plot import page_lines, search_lines
    from keyhole.cli.explain.view import SearchView

    how = here()
    lines = search_lines(view, how) if isinstance(view, SearchView) else page_lines(view, how)
    out = console(how, sys.stdout)
    for line in [*lines, *([Text(last)] if last else [])]:
        out.print(line)


def here() -> Look:
    """How stdout shows what is drawn on it."""
    terminal = sys.stdout.isatty()
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if terminal else None
    except (OSError, ValueError):
        columns = None
    return look(os.environ, terminal=terminal, encoding=sys.stdout.encoding or "", columns=columns)
