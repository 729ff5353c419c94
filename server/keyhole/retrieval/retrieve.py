"""web_fetch, search and read_artifact: the whole product on one screen. The order of things, and no thing itself.

Every call has one deadline over all it does, and one bound over all it says, applied last. The network and the
store are ports, and so is the reading of untrusted bytes; the stages after it are pure and run in a thread, so that
one large page does not stop the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from keyhole.budget.budget import Budget, allowance, deadline
from keyhole.budget.fit import cut, within
from keyhole.callers import ANYBODY, Caller
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.base import Extractor
from keyhole.fetch.base import Fetcher, Terms
from keyhole.records import Answer, Artifact, Ranked, SearchRequest, Window
from keyhole.render import answer as wording
from keyhole.render.header import ROOMY, header_lines
from keyhole.render.repeats import shown_before
from keyhole.retrieval.call import Call
from keyhole.retrieval.explain import NOBODY, Witness
from keyhole.retrieval.instrumentation import add, stage
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.progress import Progress, rising, silent
from keyhole.retrieval.sources import Gathered, Gathering, steps
from keyhole.retrieval.url_policy import permitted
from keyhole.store.base import Clock, Store
from keyhole.thrift import told
from keyhole.websearch.panel import Panel

if TYPE_CHECKING:
    from keyhole.rerank.rerank_passages import SecondOpinion

MIN_READING = 500
"""Characters. A shorter omitted stretch is read together with what follows it."""
WORDING_SHARE = 1 / 20
"""Of a search's deadline: what must be left of it when the ranking ends. Beside a ranking that goes on in its thread,
naming the sources takes several times what it takes alone."""
FAR = 2_000_000_000
"""Characters. No text is as long (see KEYHOLE_MAX_DECODED_BYTES), and every database counts so far: a larger offset
says the same."""
QUOTE_CONTEXT = 300
"""Characters shown before and after a found quote."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Retrieval:
    """The three tools over the ports they need."""

    config: Config
    fetcher: Fetcher
    store: Store
    panel: Panel
    secret: bytes
    clock: Clock
    extractor: Extractor
    second: SecondOpinion | None = None
    """Who else is asked about the order of passages; nobody by default."""
    witness: Witness = NOBODY

    async def web_fetch(
        self,
        url: str,
        query: str | None = None,
        max_chars: int | None = None,
        refresh: bool = False,
        max_tokens: int | None = None,
        repeat: bool = False,
        caller: Caller = ANYBODY,
    ) -> Answer:
        """Fetch a page and answer with its whole text, the passages for `query`, or its head and tail."""
        asked = (query or "", "web_fetch", url, refresh)
        async with self._call(self.config.timeout, caller, max_chars, max_tokens, repeat, asked) as call:
            artifact, stored = await self._pages().get(
                await permitted(url, self.config, self.store), refresh, Terms(call.until)
            )
            self.witness.page(artifact)
            call.answer = await self._page(artifact, stored, query, call)
        return call.answer

    async def read_artifact(
        self,
        id: str,
        offset: int = 0,
        limit: int | None = None,
        query: str | None = None,
        find: str | None = None,
        max_tokens: int | None = None,
        repeat: bool = False,
        caller: Caller = ANYBODY,
    ) -> Answer:
        """Read on in a stored text: a range, the passages for a new query, or where a quote stands."""
        # With a query or a quote, `limit` bounds the result; in a range it counts characters, which may need more.
        most = limit if query or find else max(limit or 0, allowance(self.config, caller).size)
        asked = (query or "", "read_artifact", id, find, *(() if query or find else (offset, limit)))
        async with self._call(self.config.timeout, caller, most, max_tokens, repeat, asked) as call:
            if find:
                call.answer = await asyncio.to_thread(self._quote, await self._stored(id), find, call)
            elif query:
                call.answer = await self._page(await self._stored(id), True, query, call)
            else:
                call.answer = await asyncio.to_thread(self._read, id, max(0, min(offset, FAR)), limit, call)
        return call.answer

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
        caller: Caller = ANYBODY,
        progress: Progress = silent,
    ) -> Answer:
        """From a question to numbered sources with their best passages, from the web or from the store.

        `queries` are further phrasings of the same question.
        """
        filters = (freshness or "", language or "", country or "", kind)
        request = SearchRequest(query, max_results, tuple(sites), tuple(exclude_sites), *filters)
        phrasings = list(dict.fromkeys([query, *queries]))
        progress = rising(progress)
        gathering = Gathering(self.config, self.panel, self._pages(), self.store)
        asked = (query, "search", request, *phrasings, scope, fetch)
        async with self._call(self.config.search_timeout, caller, max_chars, max_tokens, repeat, asked) as call:
            gathered = await gathering.sources(
                request, phrasings, scope=scope, fetch=fetch, until=call.until, progress=progress
            )
            await progress(steps(request) - 1, steps(request), f"ranking {len(gathered.sources)} sources")
            ranked, note = await self._ranked(gathered, phrasings, call.until)
            self.witness.sources(gathered.sources, gathered.reports, ranked)
            call.answer = await asyncio.to_thread(self._evidence, gathered, ranked, max_results, scope, note, call)
        return call.answer

    # From a URL to an artifact.

    def _pages(self) -> Pages:
        return Pages(self.config, self.fetcher, self.extractor, self.store, self.secret, self.clock)

    async def _stored(self, id: str) -> Artifact:
        with stage("store"):
            return await asyncio.to_thread(self.store.get, id)

    # From an artifact to an answer.

    async def _page(self, artifact: Artifact, stored: bool, query: str | None, call: Call) -> Answer:
        preferred: tuple[int, ...] = ()
        note = ""
        # Of a text that is shown whole no order is asked.
        if self.second and query and not call.budget.holds(artifact.text):
            preferred, faults = await self.second.windows(artifact.text, query, call.until)
            note = wording.second_opinion(faults)
        return await asyncio.to_thread(self._show, artifact, stored, query, call, preferred, note)

    def _show(
        self, artifact: Artifact, stored: bool, query: str | None, call: Call, preferred: tuple[int, ...], note: str
    ) -> Answer:
        from keyhole.passages import select

        budget, measure = call.budget, call.budget.measure
        known = call.shown(artifact.id) if stored else ()
        before = [(each.start, each.end) for each in known]
        # Asked once: every rendering of this answer says the same.
        warning = self.store.warning() if stored else wording.UNSTORED

        def render(room: int) -> Answer:
            with stage("rank"):
                selection = select(artifact.text, query, room, measure=measure, preferred=preferred, before=before)
            again = shown_before(told(selection.repeated, known), bool(selection.spans))
            remarks = [each for each in (note, again) if each]
            gap = selection.next_gap if stored else None
            with stage("wording"):
                return wording.page(
                    artifact,
                    selection,
                    mark=wording.mark(self.secret, artifact.id),
                    next_window=None if gap is None else self._next(call.usual, artifact, *gap),
                    asked=bool(query),
                    warning=warning,
                    brief=budget.brief,
                    extras=[*(header_lines(artifact) if budget.english >= ROOMY else ()), *remarks],
                )

        return _counted(within(budget, render), artifact)

    def _read(self, id: str, offset: int, limit: int | None, call: Call) -> Answer:
        from keyhole.passages.reading import reach, window

        # So much of the text and no more: what may be shown, and after it the window that the continuation gives.
        budget, size = call.budget, call.budget.measure
        most = budget.reading
        end = offset + reach(limit, most) + reach(None, call.usual.reading)
        with stage("store"):
            part = self.store.part(id, offset, end)

        warning, sign = self.store.warning(), wording.mark(self.secret, part.artifact.id)

        def render(room: int) -> Answer:
            base, total = part.start, part.total
            shown = window(part.artifact.text, offset, limit, min(room, most), size, base=base, total=total)
            following = self._following(call.usual, part.artifact, shown, base)
            return wording.reading(part, shown, mark=sign, next_window=following, brief=budget.brief, warning=warning)

        return within(budget, render)

    def _quote(self, artifact: Artifact, quote: str, call: Call) -> Answer:
        from keyhole.passages.reading import around, find_quote

        found = find_quote(artifact.text, quote)
        if found is None:
            raise KeyholeError(Code.QUOTE_NOT_FOUND, "the text does not hold this quote")
        warning, sign, budget = self.store.warning(), wording.mark(self.secret, artifact.id), call.budget

        def render(room: int) -> Answer:
            shown = around(artifact.text, found, QUOTE_CONTEXT, max(1, room), budget.measure)
            following = self._following(call.usual, artifact, shown)
            return wording.quotation(
                artifact, found, shown, mark=sign, next_window=following, brief=budget.brief, warning=warning
            )

        return within(budget, render)

    def _following(self, usual: Budget, artifact: Artifact, shown: Window, base: int = 0) -> Window | None:
        if shown.next_start is None:
            return None
        return self._next(usual, artifact, shown.next_start, shown.total, base=base, total=shown.total)

    @staticmethod
    def _next(
        usual: Budget, artifact: Artifact, offset: int, until: int, *, base: int = 0, total: int | None = None
    ) -> Window:
        """The window that the continuation call will give within the caller's `usual` budget, so that its numbers are
        exact; it stops where the omitted stretch does, unless that is too little to be worth a call. `base` and
        `total` as of a part."""
        from keyhole.passages.reading import window

        limit = until - offset if until - offset >= MIN_READING else None
        return window(artifact.text, offset, limit, usual.reading, usual.measure, base=base, total=total)

    # From sources to an answer.

    async def _ranked(self, gathered: Gathered, phrasings: Sequence[str], until: float) -> tuple[Ranked | None, str]:
        """The passages of all sources, and what went wrong. What cannot be ranked in time is named without passages."""
        from keyhole.passages.rank_sources import rank_sources

        texts = [source.artifact.text if source.artifact else "" for source in gathered.sources]
        try:
            async with asyncio.timeout_at(until - self.config.search_timeout * WORDING_SHARE):
                with stage("rank"):
                    ranked = await asyncio.to_thread(rank_sources, texts, phrasings)
        except TimeoutError:
            return None, wording.UNRANKED
        if not self.second:
            return ranked, ""
        ranked, faults = await self.second.passages(texts, ranked, phrasings[0], until)
        return ranked, wording.second_opinion(faults)

    def _evidence(
        self, gathered: Gathered, ranked: Ranked | None, keep: int, scope: str, opinions: str, call: Call
    ) -> Answer:
        from keyhole.retrieval.search_answer import evidence

        with stage("wording"):
            answer = evidence(
                gathered.sources,
                ranked,
                call.budget,
                keep=keep,
                scope=scope,
                reports=gathered.reports,
                mark=partial(wording.mark, self.secret),
                following=partial(self._next, call.usual),
                opinions=opinions,
                warning=self.store.warning(),
                shown=call.shown,
            )
        return _counted(answer, *(source.artifact for source in gathered.sources if source.artifact))

    # Around every call.

    @asynccontextmanager
    async def _call(
        self,
        seconds: float,
        caller: Caller,
        max_chars: int | None,
        max_tokens: int | None,
        repeat: bool,
        asked: tuple[Hashable, ...],
    ) -> AsyncIterator[Call]:
        """One deadline and one place where failures become answers; the block sets `call.answer`. `asked`: the
        query, the tool, and all else that the call asked for but its budget."""
        budget = allowance(self.config, caller, max_chars, max_tokens)
        usual, seconds = allowance(self.config, caller), deadline(seconds, caller)
        call = Call.begun(self.config, caller, budget, usual, asked, repeat)
        try:
            async with asyncio.timeout(seconds) as timer:
                call.until = timer.when() or 0.0
                yield call
        except TimeoutError:
            call.answer = self._failed(KeyholeError(Code.TIMEOUT, f"nothing to show within {seconds:g} s"), call)
        except KeyholeError as error:
            call.answer = self._failed(error, call)
        else:
            call.answered()

    def _failed(self, error: KeyholeError, call: Call) -> Answer:
        return cut(wording.failure(error, self.store.warning()), call.budget.size, call.budget.measure)


def _counted(answer: Answer, *artifacts: Artifact) -> Answer:
    """The same answer, told what it spares its reader of the texts that were read for it."""
    add("characters_saved", max(0, sum(len(artifact.text) for artifact in artifacts) - len(answer.text)))
    return answer
