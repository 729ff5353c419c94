"""The three tools, web_fetch, search and read_artifact: each runs its stages in order.

Each call has one deadline and one budget, both computed before it begins. The network, the store and the extractor are
ports. Ranking and rendering run in a thread, so that one large page does not delay other calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from keyhole.budget.fit import fit
from keyhole.config.config import Config
from keyhole.extract.workers.base import Extractor
from keyhole.fetch.base import Fetcher, FetchOptions, Renderer
from keyhole.fetch.urls import add_scheme
from keyhole.records import Answer, Artifact, Ranked, SearchRequest
from keyhole.render.answer import (
    UNSTORED,
    Form,
    Style,
    each_form,
    page_answer,
    quote_answer,
    rerank_note,
    window_answer,
)
from keyhole.render.quotes import locate_quote
from keyhole.render.sources import UNRANKED
from keyhole.retrieval.call import UNKNOWN_CALLER, Call, Caller, answer_call, begin_call, forget_earlier
from keyhole.retrieval.call_record import Recording
from keyhole.retrieval.explain import NO_RECORDER, CallRecorder
from keyhole.retrieval.instrumentation import add_amount, stage
from keyhole.retrieval.next_call import arguments_after, arguments_after_window, reading_end
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.pending_reads import PendingReads
from keyhole.retrieval.progress import Progress, no_progress, only_rising
from keyhole.retrieval.session import repeats_of
from keyhole.retrieval.sources import FoundSources, Question, SourceFinder
from keyhole.retrieval.url_policy import check_url_policy
from keyhole.store.base import Clock, Store
from keyhole.store.calls.base import CallLog
from keyhole.text.page_starts import PAGES, parse_page_starts
from keyhole.websearch.panel import Panel

if TYPE_CHECKING:
    from keyhole.rerank.rerank_passages import PassageReranker

RENDER_SHARE: Final = 1 / 20
"""Share of a search's time that is reserved for rendering. A ranking that exceeds its time goes on in its thread, and
rendering beside it takes several times as long as alone."""
MAX_OFFSET: Final = 2_000_000_000
"""Characters. No text is as long (see KEYHOLE_MAX_DECODED_BYTES), and every database accepts this number."""
QUOTE_CONTEXT: Final = 300
"""Characters shown before and after a found quote."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Retrieval:
    """The three tools, with the settings and the ports that they use."""

    config: Config
    fetcher: Fetcher
    store: Store
    panel: Panel
    secret: bytes
    clock: Clock
    extractor: Extractor
    reranker: PassageReranker | None = None
    recorder: CallRecorder = NO_RECORDER
    renderer: Renderer | None = None
    recording: Recording | None = None  # None if calls are not recorded
    pending: PendingReads = field(default_factory=PendingReads)

    @property
    def calls(self) -> CallLog | None:
        """Return the log of the calls, None if they are not recorded."""
        return self.recording.log if self.recording else None

    async def web_fetch(
        self,
        url: str,
        query: str | None = None,
        max_chars: int | None = None,
        refresh: bool = False,
        max_tokens: int | None = None,
        skip: int = 0,
        repeat: bool = False,
        caller: Caller = UNKNOWN_CALLER,
    ) -> Answer:
        """Fetch a page and return its whole text, or the passages that answer `query`, or its head and tail.

        A `url` that begins with a host instead of a scheme is read over https.
        """
        url = add_scheme(url)
        arguments = (query or "", "web_fetch", url, refresh, skip)
        await forget_earlier(caller, self.store)
        call = begin_call(
            self.config, caller, arguments, self.config.timeout,
            max_chars=max_chars, max_tokens=max_tokens, repeat=repeat,
        )  # fmt: skip

        async def work() -> Answer:
            allowed_url = await check_url_policy(url, self.config, self.store, caller.session)
            artifact, stored = await self._pages().get(allowed_url, refresh, FetchOptions(call.deadline))
            self.recorder.page(artifact, len(artifact.text))
            preferred, note = await self._rerank_page(call, artifact, query)
            return await asyncio.to_thread(self._page_answer, call, artifact, stored, query, skip, preferred, note)

        return await answer_call(call, work(), self.store.warning, self.recorder)

    async def read_artifact(
        self,
        id: str,
        offset: int = 0,
        limit: int | None = None,
        query: str | None = None,
        find: str | None = None,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        skip: int = 0,
        repeat: bool = False,
        caller: Caller = UNKNOWN_CALLER,
        overhead: int = 0,
    ) -> Answer:
        """Read a stored text: a range of it, the passages for a new query, or the place of a quote.

        `overhead`: bytes that the protocol puts around this result beyond those around a tool result.
        """
        is_range = not (query or find)
        arguments = (query or "", "read_artifact", id, find, *((offset, limit) if is_range else (skip,)))
        await forget_earlier(caller, self.store)
        call = begin_call(
            self.config, caller, arguments, self.config.timeout,
            max_chars=limit if max_chars is None else max_chars,
            max_tokens=max_tokens, repeat=repeat, overhead=overhead,
            # A range of `limit` characters needs more bytes than that.
            at_least_default=is_range and max_chars is None,
        )  # fmt: skip

        async def work() -> Answer:
            if is_range:
                return await asyncio.to_thread(self._window_answer, call, id, max(0, min(offset, MAX_OFFSET)), limit)
            from keyhole.retrieval.stored_output import find_large, large_answer, large_part

            if large := await asyncio.to_thread(large_part, self.store, id):
                self.recorder.page(large.artifact, large.total)
                if find:
                    place = await asyncio.to_thread(find_large, self.store, call, large, find, QUOTE_CONTEXT)
                    return await asyncio.to_thread(self._window_answer, call, id, *place)
                return await asyncio.to_thread(large_answer, self.store, self.secret, call, large, query or "")
            with stage("store"):
                artifact = await asyncio.to_thread(self.store.get, id)
            self.recorder.page(artifact, len(artifact.text))
            if find:
                return await asyncio.to_thread(self._quote_answer, call, artifact, find)
            preferred, note = await self._rerank_page(call, artifact, query)
            return await asyncio.to_thread(self._page_answer, call, artifact, True, query, skip, preferred, note)

        return await answer_call(call, work(), self.store.warning, self.recorder)

    async def search(
        self,
        query: str,
        scope: str = "web",
        max_results: int = 5,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        sites: Sequence[str] = (),
        exclude_sites: Sequence[str] = (),
        freshness: str | None = None,
        language: str | None = None,
        country: str | None = None,
        kind: str = "web",
        queries: Sequence[str] = (),
        fetch: bool = True,
        repeat: bool = False,
        caller: Caller = UNKNOWN_CALLER,
        progress: Progress = no_progress,
    ) -> Answer:
        """Search the web or the store and return numbered sources with their best passages.

        `queries` are further phrasings of the same question.
        """
        filters = (freshness or "", language or "", country or "", kind)
        request = SearchRequest(query, max_results, tuple(sites), tuple(exclude_sites), *filters)
        phrasings = tuple(dict.fromkeys([query, *queries]))
        arguments = (query, "search", request, *phrasings, scope, fetch)
        await forget_earlier(caller, self.store)
        call = begin_call(
            self.config, caller, arguments, self.config.search_timeout,
            max_chars=max_chars, max_tokens=max_tokens, repeat=repeat,
        )  # fmt: skip
        question = Question(request, phrasings, scope, fetch, call.deadline, only_rising(progress))

        async def work() -> Answer:
            found = await SourceFinder(self.config, self.panel, self._pages(), self.store).find(question)
            await question.progress(question.steps - 1, question.steps, f"ranking {len(found.sources)} sources")
            ranked, note = await self._rank(call, found, phrasings)
            self.recorder.sources(found.sources, found.reports, ranked)
            return await asyncio.to_thread(self._sources_answer, call, found, ranked, max_results, scope, note)

        return await answer_call(call, work(), self.store.warning, self.recorder)

    def _pages(self) -> Pages:
        return Pages(
            self.config, self.fetcher, self.extractor, self.store, self.secret, self.clock, self.pending, self.renderer
        )

    # Ranking passages.

    async def _rerank_page(self, call: Call, artifact: Artifact, query: str | None) -> tuple[tuple[int, ...], str]:
        """Return the numbers of the windows that the reranker puts first, and a note on its faults."""
        # A text that fits the budget has few passages, and all that match can be shown.
        if not self.reranker or not query or call.budget.allows(artifact.main):
            return (), ""
        preferred, faults = await self.reranker.rerank_windows(artifact.text, query, call.deadline, artifact.main_end)
        return preferred, rerank_note(faults)

    async def _rank(self, call: Call, found: FoundSources, phrasings: Sequence[str]) -> tuple[Ranked | None, str]:
        """Return the ranked passages of all sources, or None if ranking took too long, and a note on faults."""
        from keyhole.retrieval.order_sources import rank_found, text_of

        try:
            async with asyncio.timeout_at(call.deadline - self.config.search_timeout * RENDER_SHARE):
                with stage("rank"):
                    ranked = await asyncio.to_thread(rank_found, found.sources, phrasings)
        except TimeoutError:
            return None, UNRANKED
        if not self.reranker:
            return ranked, ""
        texts = [text_of(source) for source in found.sources]
        ranked, faults = await self.reranker.rerank_passages(texts, ranked, phrasings[0], call.deadline)
        return ranked, rerank_note(faults)

    # Selecting and rendering text within the budget.

    def _page_answer(
        self,
        call: Call,
        artifact: Artifact,
        stored: bool,
        query: str | None,
        skip: int,
        preferred: tuple[int, ...],
        note: str,
    ) -> Answer:
        """Return the answer for a page: the passages for `query`, or its head and tail without a query."""
        from keyhole.passages import select
        from keyhole.retrieval.stored_output import add_important_lines, reader_of

        budget = call.budget
        read = reader_of(artifact, query, budget.english_bytes)
        shown = call.shown(artifact.id) if stored else ()
        before = [(each.start, each.end) for each in shown if not each.is_same]
        # The same call with a larger budget asks for the passages that the first one left out.
        skipped = [(each.start, each.end) for each in shown if each.is_same]
        # Read once, so that every rendering of this answer shows the same warning.
        warning = self.store.warning() if stored else UNSTORED

        pages = parse_page_starts(artifact.note(PAGES))

        def render(form: Form, space: int) -> Answer:
            with stage("rank"):
                selection = select(
                    artifact.text, query, space,
                    main_end=artifact.main_end, pages=pages, measure=budget.measure, preferred=preferred,
                    shown_before=before, answered_before=skipped, skip=skip,
                )  # fmt: skip
                if read and query and not skip:
                    selection = add_important_lines(selection, read, query, space, budget.measure)
            with stage("render"):
                return page_answer(
                    artifact,
                    selection,
                    Style(self.secret, form, warning),
                    following=arguments_after(call, artifact, selection, query or "") if stored else None,
                    has_query=bool(query),
                    note=note,
                    repeats=repeats_of(selection.repeated, shown),
                )

        return _count_saved(fit(budget, *each_form(render)), artifact)

    def _window_answer(self, call: Call, id: str, offset: int, limit: int | None) -> Answer:
        """Return the answer for a range of a stored text."""
        from keyhole.passages.reading import max_window_chars, read_window

        budget, most = call.budget, call.budget.window_size
        # Only the part that may be shown is read, and the window of the next call.
        end = offset + max_window_chars(limit, most) + max_window_chars(None, call.next_budget.window_size)
        with stage("store"):
            part = self.store.part(id, offset, end)
        self.recorder.page(part.artifact, part.total)
        base, total = part.start, reading_end(part.artifact, offset, part.total)
        text = part.artifact.text[: total - base]
        warning = self.store.warning()

        def render(form: Form, space: int) -> Answer:
            window = read_window(text, offset, limit, min(space, most), budget.measure, base=base, total=total)
            following = arguments_after_window(call, part.artifact, window, base)
            return window_answer(part, window, Style(self.secret, form, warning), following=following)

        return fit(budget, *each_form(render), wanted=most)

    def _quote_answer(self, call: Call, artifact: Artifact, text: str) -> Answer:
        """Return the answer that shows a quote, or else the passage nearest to it, and the text around it.

        Raises KeyholeError: quote_not_found if no passage is near.
        """
        from keyhole.passages.reading import quote_window

        with stage("rank"):
            span, details, status = locate_quote(artifact, text)
        budget, warning = call.budget, self.store.warning()

        def render(form: Form, space: int) -> Answer:
            window = quote_window(artifact.text, span, QUOTE_CONTEXT, max(1, space), budget.measure)
            following = arguments_after_window(call, artifact, window)
            style = Style(self.secret, form, warning)
            return quote_answer(
                artifact, window, style,
                status=status(window, brief=style.brief), details=details, following=following,
            )  # fmt: skip

        return fit(budget, *each_form(render))

    def _sources_answer(
        self, call: Call, found: FoundSources, ranked: Ranked | None, count: int, scope: str, note: str
    ) -> Answer:
        """Return the answer for a search: its sources with their best passages."""
        from keyhole.retrieval.search_answer import search_answer

        warning = self.store.warning()
        with stage("render"):
            answer = search_answer(
                found, ranked, call, count=count, scope=scope, secret=self.secret, note=note, warning=warning
            )
        return _count_saved(answer, *(source.artifact for source in found.sources if source.artifact))


def _count_saved(answer: Answer, *artifacts: Artifact) -> Answer:
    """Add to the metric how many characters of the texts the answer leaves out, and return the answer."""
    add_amount("characters_saved", max(0, sum(len(artifact.main) for artifact in artifacts) - len(answer.text)))
    return answer
