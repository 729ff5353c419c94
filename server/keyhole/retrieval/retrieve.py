"""The three tools, web_fetch, search and read_artifact: each runs its stages in order.

Each call has one deadline and one budget, both computed before it begins. The network, the store and the extractor are
ports. Ranking and rendering run in a thread, so that one large page does not delay other calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import FetchOptions
from keyhole.fetch.permission import Permission
from keyhole.fetch.urls import add_scheme
from keyhole.records import FOLLOWED, Answer, Artifact, Ranked, SearchRequest
from keyhole.render.answer import UNSTORED, rerank_note
from keyhole.render.sources import UNRANKED
from keyhole.retrieval.arguments import (
    ArtifactId,
    Country,
    ExcludedSites,
    Fetch,
    Freshness,
    HitKind,
    Language,
    Limit,
    MaxChars,
    MaxResults,
    MaxTokens,
    Offset,
    PageQuery,
    Phrasings,
    Quote,
    Refresh,
    Repeat,
    Scope,
    SearchQuery,
    Sites,
    Skip,
    StoredMaxChars,
    StoredQuery,
    Url,
)  # fmt: skip
from keyhole.retrieval.call import UNKNOWN_CALLER, Call, Caller, answer_call, begin_call, forget_earlier, report_seconds
from keyhole.retrieval.instrumentation import current_events, stage
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.progress import Progress, no_progress, only_rising
from keyhole.retrieval.recording import Recording
from keyhole.retrieval.text_answer import (
    QUOTE_CONTEXT,
    Asked,
    answer_passages,
    answer_quote,
    answer_window,
    count_saved,
)
from keyhole.retrieval.url_policy import check_url_policy
from keyhole.store.base import Store
from keyhole.store.calls.base import CallLog
from keyhole.text.output_facts import is_output
from keyhole.text.page_structure import PAGES, parse_page_starts

if TYPE_CHECKING:
    from keyhole.rerank.rerank_passages import PassageReranker
    from keyhole.retrieval.sources import FoundSources, Question
    from keyhole.websearch.panel import Panel

RENDER_SHARE: Final = 1 / 20
"""Share of a search's time that is reserved for rendering. A ranking that exceeds its time goes on in its thread, and
rendering beside it takes several times as long as alone."""
MAX_OFFSET: Final = 2_000_000_000
"""Characters. No text is as long (see KEYHOLE_MAX_BYTES), and every database accepts this number."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Retrieval:
    """The three tools."""

    pages: Pages
    open_panel: Callable[[], Panel]
    """Returns the panel of search engines, which the first search builds."""
    reranker: PassageReranker | None = None
    recording: Recording | None = None  # None if calls are not recorded

    @property
    def config(self) -> Config:
        """Return the settings."""
        return self.pages.config

    @property
    def store(self) -> Store:
        """Return the store."""
        return self.pages.store

    @property
    def calls(self) -> CallLog | None:
        """Return the log of the calls, None if they are not recorded."""
        return self.recording.log if self.recording else None

    async def web_fetch(
        self,
        url: Url,
        query: PageQuery = None,
        max_chars: MaxChars = None,
        max_tokens: MaxTokens = None,
        refresh: Refresh = False,
        skip: Skip = 0,
        repeat: Repeat = False,
        *,
        caller: Caller = UNKNOWN_CALLER,
        progress: Progress = no_progress,
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
        work = self._fetch_page(call, url, query, refresh, skip)
        async with report_seconds(progress, call.seconds, "fetching and reading the page"):
            return await answer_call(call, work, self.store.warning, self.pages.secret)

    async def read_artifact(
        self,
        id: ArtifactId,
        offset: Offset = 0,
        limit: Limit = None,
        query: StoredQuery = None,
        find: Quote = None,
        max_chars: StoredMaxChars = None,
        max_tokens: MaxTokens = None,
        skip: Skip = 0,
        repeat: Repeat = False,
        *,
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
        if is_range:
            work = asyncio.to_thread(self._window_answer, call, id, max(0, min(offset, MAX_OFFSET)), limit)
        else:
            work = self._read_text(call, id, query or "", find or "", skip)
        return await answer_call(call, work, self.store.warning, self.pages.secret)

    async def search(
        self,
        query: SearchQuery,
        queries: Phrasings = None,
        scope: Scope = "web",
        max_results: MaxResults = 5,
        max_chars: MaxChars = None,
        max_tokens: MaxTokens = None,
        sites: Sites = None,
        exclude_sites: ExcludedSites = None,
        freshness: Freshness = None,
        language: Language = None,
        country: Country = None,
        kind: HitKind = "web",
        fetch: Fetch = True,
        repeat: Repeat = False,
        *,
        caller: Caller = UNKNOWN_CALLER,
        progress: Progress = no_progress,
    ) -> Answer:
        """Search the web or the store and return numbered sources with their best passages.

        `queries` are further phrasings of the same question.
        """
        from keyhole.retrieval.sources import Question  # imported late: a fetch needs no search engines

        filters = (freshness or "", language or "", country or "", kind)
        request = SearchRequest(query, max_results, tuple(sites or ()), tuple(exclude_sites or ()), *filters)
        phrasings = tuple(dict.fromkeys([query, *(queries or ())]))
        arguments = (query, "search", request, *phrasings, scope, fetch)
        await forget_earlier(caller, self.store)
        call = begin_call(
            self.config, caller, arguments, self.config.search_timeout,
            max_chars=max_chars, max_tokens=max_tokens, repeat=repeat,
        )  # fmt: skip
        question = Question(request, phrasings, scope, fetch, call.deadline, only_rising(progress))
        return await answer_call(call, self._find_sources(call, question), self.store.warning, self.pages.secret)

    # Reading.

    async def _fetch_page(self, call: Call, url: str, query: str | None, refresh: bool, skip: int) -> Answer:
        session, options = call.caller.session, FetchOptions(Permission(call.deadline))
        # No request contains the part of a page that an address names. The words of a text directive (`:~:`) are found
        # in the stored text, so addresses that differ in them are one page.
        fragment = url.partition("#")[2]
        name = fragment.partition(":~:")[0]
        allowed_url = await check_url_policy(url, self.config, self.store, session)
        allowed_url = allowed_url.partition("#")[0] + (f"#{name}" if name else "")
        if session and not refresh and (known := session.dead_error(allowed_url)):
            raise known.with_near(known.near)
        try:
            artifact, stored = await self.pages.get(allowed_url, refresh, options)
        except KeyholeError as error:
            if error.code is Code.UNSUPPORTED_MEDIA and error.body[0]:
                from keyhole.retrieval.pictures import picture_answer  # imported late: most pages are texts

                return await picture_answer(error, allowed_url, call.budget, self.pages.extractor)
            await self.pages.read_reason(error, allowed_url)
            if error.code is not Code.NOT_FOUND:
                raise
            dead = await self.pages.dead_links().add_to(error, allowed_url, options, query or "")
            if session:
                session.record_dead(allowed_url, dead)
            raise dead from error
        fragment = fragment or artifact.note(FOLLOWED).partition("#")[2]
        return await self._answer_page(call, artifact, stored, query, skip, fragment)

    async def _read_text(self, call: Call, id: str, query: str, find: str, skip: int) -> Answer:
        """Return the passages of a stored text for `query`, or the place of the quote `find`."""
        from keyhole.retrieval.stored_output import find_large, large_answer, large_part

        if large := await asyncio.to_thread(large_part, self.store, id):
            current_events().pages.append((large.artifact, large.total))
            if find:
                place = await asyncio.to_thread(find_large, self.store, call, large, find, QUOTE_CONTEXT)
                return await asyncio.to_thread(self._window_answer, call, id, *place)
            return await asyncio.to_thread(large_answer, self.store, self.pages.secret, call, large, query)
        with stage("store"):
            artifact = await asyncio.to_thread(self.store.get, id)
        if not find:
            return await self._answer_page(call, artifact, True, query, skip)
        current_events().pages.append((artifact, len(artifact.text)))
        return await asyncio.to_thread(self._quote_answer, call, artifact, find)

    async def _answer_page(
        self, call: Call, artifact: Artifact, stored: bool, query: str | None, skip: int, fragment: str = ""
    ) -> Answer:
        current_events().pages.append((artifact, len(artifact.text)))
        asked = Asked(query, skip, *await self._rerank_page(call, artifact, query), fragment)
        return await asyncio.to_thread(self._passages_answer, call, artifact, stored, asked)

    async def _find_sources(self, call: Call, question: Question) -> Answer:
        from keyhole.retrieval.sources import SourceFinder

        found = await SourceFinder(self.config, self.open_panel(), self.pages, self.store).find(question)
        await question.progress(question.steps - 1, question.steps, f"ranking {len(found.sources)} sources")
        ranked, note = await self._rank(call, found, question.phrasings)
        events = current_events()
        events.sources, events.reports, events.ranked = found.sources, found.reports, ranked
        return await asyncio.to_thread(self._sources_answer, call, question, found, ranked, note)

    # Ranking passages.

    async def _rerank_page(self, call: Call, artifact: Artifact, query: str | None) -> tuple[tuple[int, ...], str]:
        """Return the numbers of the windows that the reranker puts first, and a note on its faults."""
        # A text that fits the budget has few passages, and all that match can be shown. Outputs are ranked by words.
        if not self.reranker or not query or call.budget.allows(artifact.main) or is_output(artifact.url):
            return (), ""
        from keyhole.passages import index_text

        page = index_text(artifact.text, artifact.main_end, parse_page_starts(artifact.note(PAGES)))
        preferred, faults = await self.reranker.rerank_windows(page, query, call.deadline)
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

    # Answers. Each runs in a thread, where it may wait for the store.

    def _passages_answer(self, call: Call, artifact: Artifact, stored: bool, asked: Asked) -> Answer:
        warning = self.store.warning() if stored else UNSTORED
        return answer_passages(call, artifact, asked, self.pages.secret, warning, is_stored=stored)

    def _window_answer(self, call: Call, id: str, offset: int, limit: int | None) -> Answer:
        from keyhole.passages.reading import max_window_chars

        # Only the part that may be shown is read, and the window of the next call.
        most = max_window_chars(limit, call.budget.window_size) + max_window_chars(None, call.next_budget.window_size)
        with stage("store"):
            part = self.store.part(id, offset, offset + most)
        current_events().pages.append((part.artifact, part.total))
        return answer_window(call, part, offset, limit, self.pages.secret, self.store.warning())

    def _quote_answer(self, call: Call, artifact: Artifact, find: str) -> Answer:
        return answer_quote(call, artifact, find, self.pages.secret, self.store.warning())

    def _sources_answer(
        self, call: Call, question: Question, found: FoundSources, ranked: Ranked | None, note: str
    ) -> Answer:
        from keyhole.retrieval.search_answer import search_answer

        with stage("render"):
            answer = search_answer(
                found, ranked, call, count=question.request.max_results, scope=question.scope,
                secret=self.pages.secret, query=question.phrasings[0], note=note, warning=self.store.warning(),
            )  # fmt: skip
        return count_saved(answer, *(source.artifact for source in found.sources if source.artifact))
