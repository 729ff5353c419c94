"""web_fetch, search and read_artifact: the whole product on one screen. The order of things, and no thing itself.

Every call has one deadline over all it does, and one bound over all it says, applied last. The network and the
store are ports; the stages between are pure and run in a thread, so that one large page does not stop the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from keyhole import wording
from keyhole.bound import bounded, cut
from keyhole.config import MAX_BUDGET, MIN_BUDGET, Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Fetcher
from keyhole.measure import serialized_size
from keyhole.records import Answer, Artifact, Hit, Page, SearchRequest, Source, Window
from keyhole.store.base import Clock, Store, artifact_id
from keyhole.websearch.base import Engine, allowed_by_sites
from keyhole.websearch.merge import merge

Progress = Callable[[float, float, str], Awaitable[None]]
"""`(done, total, what)`; `done` strictly rises within a call."""

READ_OVERHEAD = 1_500
"""Bytes kept free in a reading window for the longest header, both continuation calls and the facts."""
MIN_READING = 500
"""Characters. A shorter omitted stretch is read together with what follows it."""
ENGINE_TIMEOUT = 15.0
"""Seconds for one engine: less than half of a search's deadline, so that pages can still be read."""
QUOTE_CONTEXT = 300
"""Characters shown before and after a found quote."""
FETCH_MARGIN = 0.25
"""Of a search's deadline: kept after the last fetch for ranking and wording."""
BRIEF_BELOW = 1_200
"""Bytes. Under such a budget title, address and advice would take more than the text."""
TOLD = frozenset({"hidden", "invisible"})
"""What is told of a page's left-out parts: scripts, comments and menus are on every page."""
NOT_STORED = "Warning store_unavailable: nothing was stored, so what is left out cannot be read on."


async def _silent(done: float, total: float, what: str) -> None:
    """Nobody listens to the progress of this call."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The three tools over the ports they need."""

    config: Config
    fetcher: Fetcher
    store: Store
    engines: Sequence[Engine]
    secret: bytes
    clock: Clock

    async def web_fetch(
        self, url: str, query: str | None = None, max_chars: int | None = None, refresh: bool = False
    ) -> Answer:
        """Fetch a page and answer with its whole text, the passages for `query`, or its head and tail."""
        async with self._call(self.config.timeout, max_chars) as call:
            artifact, stored = await self._page(url, refresh)
            call.answer = await asyncio.to_thread(self._show, artifact, stored, query, call.budget)
        return call.answer

    async def read_artifact(
        self,
        id: str,
        offset: int = 0,
        limit: int | None = None,
        query: str | None = None,
        find: str | None = None,
    ) -> Answer:
        """Read on in a stored text: a range, the passages for a new query, or where a quote stands."""
        # With a query or a quote, `limit` bounds the result; in a range it counts characters, which may need more.
        asked = limit if query or find else max(limit or 0, self.config.max_chars)
        async with self._call(self.config.timeout, asked) as call:
            artifact = await asyncio.to_thread(self.store.get, id)
            if find:
                render = partial(self._quote, artifact, find)
            elif query:
                render = partial(self._show, artifact, True, query)
            else:
                render = partial(self._read, artifact, offset, limit)
            call.answer = await asyncio.to_thread(render, call.budget)
        return call.answer

    async def search(
        self,
        query: str,
        scope: str = "web",
        max_results: int = 5,
        max_chars: int | None = None,
        sites: Sequence[str] = (),
        exclude_sites: Sequence[str] = (),
        freshness: str | None = None,
        language: str | None = None,
        progress: Progress = _silent,
    ) -> Answer:
        """From a question to numbered sources with their best passages, from the web or from the store."""
        request = SearchRequest(query, max_results, tuple(sites), tuple(exclude_sites), freshness or "", language or "")
        async with self._call(self.config.search_timeout, max_chars) as call:
            find = self._stored_sources if scope == "stored" else self._web_sources
            sources, engines = await find(request, progress)
            show = partial(self._evidence, request, scope, sources, engines)
            call.answer = await asyncio.to_thread(show, call.budget)
        return call.answer

    # From a URL to an artifact.

    async def _page(self, url: str, refresh: bool) -> tuple[Artifact, bool]:
        """The artifact of a URL and whether it is kept: a fresh stored one, else fetched and stored."""
        if not refresh and (known := await self._recent(url)):
            return known, True
        page = await self.fetcher.fetch(url)
        artifact, words = await asyncio.to_thread(self._to_artifact, page)
        return artifact, await self._keep(artifact, words)

    async def _recent(self, url: str) -> Artifact | None:
        try:
            return await asyncio.to_thread(self.store.recent, url.strip(), self.clock() - self.config.freshness)
        except KeyholeError:
            return None  # a store that fails must not keep a page from being read

    async def _keep(self, artifact: Artifact, words: str) -> bool:
        try:
            await asyncio.to_thread(self.store.put, artifact, words)
        except KeyholeError:
            return False
        return True

    def _to_artifact(self, page: Page) -> tuple[Artifact, str]:
        from keyhole.extract import (
            extract,
        )  # parsers and stemmers are loaded by the first call that needs them
        from keyhole.passages.stems import search_terms

        document = extract(page.body, url=page.url, content_type=page.content_type)
        artifact = Artifact(
            id=artifact_id(self.secret, page.url, document.text),
            url=page.url,
            requested_url=page.requested_url.strip(),
            title=document.title,
            text=document.text,
            media_type=document.media_type,
            language=document.language,
            fetched_at=page.fetched_at,
            cut=page.cut,
            author=document.metadata.author,
            published=document.metadata.published,
            modified=document.metadata.modified,
            site=document.metadata.site,
            notes=tuple((kind, str(count)) for kind, count in document.removed if kind in TOLD),
        )
        return artifact, " ".join(search_terms(f"{document.title}\n{document.text}"))

    # From an artifact to an answer.

    def _show(self, artifact: Artifact, stored: bool, query: str | None, budget: int) -> Answer:
        from keyhole.passages import select

        def render(room: int) -> Answer:
            selection = select(artifact.text, query, room, measure=serialized_size)
            gap = selection.next_gap if stored else None
            return wording.page(
                artifact,
                selection,
                mark=wording.mark(self.secret, artifact.id),
                next_window=None if gap is None else self._next(artifact, *gap),
                asked=bool(query),
                warning="" if stored else NOT_STORED,
                brief=budget < BRIEF_BELOW,
            )

        return bounded(budget, render)

    def _read(self, artifact: Artifact, offset: int, limit: int | None, budget: int) -> Answer:
        from keyhole.passages.reading import window

        def render(room: int) -> Answer:
            shown = window(artifact.text, offset, limit, min(room, _reading_room(budget)), serialized_size)
            following = self._following(artifact, shown)
            sign, brief = wording.mark(self.secret, artifact.id), budget < BRIEF_BELOW
            return wording.reading(artifact, shown, mark=sign, next_window=following, brief=brief)

        return bounded(budget, render)

    def _quote(self, artifact: Artifact, quote: str, budget: int) -> Answer:
        from keyhole.passages.reading import find_quote, window

        found = find_quote(artifact.text, quote)
        if found is None:
            raise KeyholeError(Code.QUOTE_NOT_FOUND, "the text does not hold this quote")

        def render(room: int) -> Answer:
            start = max(0, found.start - QUOTE_CONTEXT)
            shown = window(artifact.text, start, found.end + QUOTE_CONTEXT - start, max(1, room), serialized_size)
            sign, brief = wording.mark(self.secret, artifact.id), budget < BRIEF_BELOW
            following = self._following(artifact, shown)
            return wording.quotation(artifact, found, shown, mark=sign, next_window=following, brief=brief)

        return bounded(budget, render)

    def _following(self, artifact: Artifact, shown: Window) -> Window | None:
        return None if shown.next_start is None else self._next(artifact, shown.next_start, shown.total)

    def _next(self, artifact: Artifact, offset: int, until: int) -> Window:
        """The window that the continuation call will give, so that its numbers are exact; it stops where the
        omitted stretch does, unless that is too little to be worth a call."""
        from keyhole.passages.reading import window

        limit = until - offset if until - offset >= MIN_READING else None
        return window(artifact.text, offset, limit, _reading_room(self.config.max_chars), serialized_size)

    # Search.

    async def _web_sources(
        self, request: SearchRequest, progress: Progress
    ) -> tuple[list[Source], list[tuple[str, str]]]:
        total = request.max_results + 2.0
        await progress(0, total, "searching")
        lists, engines = await self._ask_engines(request)
        hits = [hit for hit in merge(lists) if allowed_by_sites(hit.url, request)][: request.max_results]
        if not hits:
            raise KeyholeError(Code.NO_RESULTS, "the engines are well and found nothing")
        await progress(1, total, f"fetching {len(hits)} pages")
        return await self._read_hits(hits, progress, total), engines

    async def _ask_engines(self, request: SearchRequest) -> tuple[list[tuple[Hit, ...]], list[tuple[str, str]]]:
        """Each engine's hits, and each engine's name with its fault, if any."""
        if not self.engines:
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, "no search engine is configured")
        answers = await asyncio.gather(*(_ask(engine, request) for engine in self.engines))
        engines = [(engine.name, fault) for engine, (_, fault) in zip(self.engines, answers, strict=True)]
        if all(fault for _, fault in engines):
            faults = "; ".join(f"{name}: {fault}" for name, fault in engines)
            raise KeyholeError(Code.ENGINE_UNAVAILABLE, faults)
        return [hits for hits, _ in answers], engines

    async def _read_hits(self, hits: Sequence[Hit], progress: Progress, total: float) -> list[Source]:
        """Fetch all hits at once; what is not there in time is listed as not read."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._read_hit(hit)) for hit in hits]
            waiting = set(tasks)
            until = asyncio.get_running_loop().time() + self.config.search_timeout * (1 - FETCH_MARGIN)
            while waiting and (left := until - asyncio.get_running_loop().time()) > 0:
                _, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                done = len(tasks) - len(waiting)
                await progress(1 + done, total, f"fetched {done} of {len(tasks)}")
            for task in waiting:
                task.cancel()
        return [
            Source(hit.url, hit.title, hit.snippet, not_read="timed out") if task.cancelled() else task.result()
            for hit, task in zip(hits, tasks, strict=True)
        ]

    async def _read_hit(self, hit: Hit) -> Source:
        try:
            artifact, stored = await self._page(hit.url, refresh=False)
        except KeyholeError as error:
            return Source(hit.url, hit.title, hit.snippet, not_read=str(error.code))
        return Source(artifact.url, artifact.title or hit.title, hit.snippet, artifact, stored)

    async def _stored_sources(
        self, request: SearchRequest, progress: Progress
    ) -> tuple[list[Source], list[tuple[str, str]]]:
        from keyhole.passages.stems import search_terms

        words = tuple(search_terms(request.query))
        narrowed = await asyncio.to_thread(self.store.search, words, request.max_results * 8)
        await progress(1, 2, f"ranking {len(narrowed)} artifacts")
        found = [Source(a.url, a.title, "", a, True) for a in narrowed if allowed_by_sites(a.url, request)]
        if not found:
            elsewhere = f"; {len(narrowed)} that do are left out by the site filters" if narrowed else ""
            raise KeyholeError(Code.NO_RESULTS, f"no stored artifact holds a word of the query{elsewhere}")
        return found, []

    def _evidence(
        self,
        request: SearchRequest,
        scope: str,
        sources: list[Source],
        engines: list[tuple[str, str]],
        budget: int,
    ) -> Answer:
        from keyhole.evidence import evidence

        return evidence(
            request.query,
            sources,
            budget,
            keep=request.max_results,
            scope=scope,
            engines=engines,
            mark=partial(wording.mark, self.secret),
            following=self._next,
        )

    # Around every call.

    @asynccontextmanager
    async def _call(self, seconds: float, max_chars: int | None) -> AsyncIterator[_Call]:
        """One deadline and one place where failures become answers; the block sets `call.answer`."""
        call = _Call(budget=min(MAX_BUDGET, max(MIN_BUDGET, max_chars or self.config.max_chars)))
        try:
            async with asyncio.timeout(seconds):
                yield call
        except TimeoutError:
            error = KeyholeError(Code.TIMEOUT, f"nothing to show within {seconds:g} s")
            call.answer = cut(wording.failure(error), call.budget)
        except KeyholeError as error:
            call.answer = cut(wording.failure(error), call.budget)


_NO_ANSWER = Answer("", {}, is_error=True)


@dataclass(slots=True)
class _Call:
    budget: int
    answer: Answer = _NO_ANSWER


def _reading_room(budget: int) -> int:
    """Bytes of text in a reading window. Of a small budget a fifth: its words around the text are brief."""
    return max(budget - READ_OVERHEAD, budget // 5)


async def _ask(engine: Engine, request: SearchRequest) -> tuple[tuple[Hit, ...], str]:
    try:
        async with asyncio.timeout(ENGINE_TIMEOUT):
            return await engine.search(request), ""
    except KeyholeError as error:
        return (), f"{error.code} ({error.message})" if error.code is Code.ENGINE_UNAVAILABLE else str(error.code)
    except TimeoutError:
        return (), str(Code.TIMEOUT)
