"""From a question to the sources that may answer it: engines, merging, pages read at once; or the store. Ranks nothing.

The engines, the network and the store are ports behind the panel, the pages and the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Terms
from keyhole.pages import Pages
from keyhole.permission import remember_hits, wanted
from keyhole.records import EngineReport, Hit, SearchRequest, Source
from keyhole.store.base import Store
from keyhole.store.filters import Filters
from keyhole.stored import each_once, joined, nothing_stored
from keyhole.websearch.base import allowed_by_sites
from keyhole.websearch.merge import merge
from keyhole.websearch.panel import Panel

Progress = Callable[[float, float, str], Awaitable[None]]
"""`(done, total, what)`; `done` strictly rises within a call."""

FETCH_MARGIN: Final = 0.25
"""Of a search's deadline: kept after the last fetch for ranking and wording."""

NARROWED: Final = 2
"""Stored artifacts ranked for each that is shown: ranking them takes most of the time; see docs/stored.md."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The sources of one question, best first as far as is known without reading them, and how the engines are."""

    sources: tuple[Source, ...]
    reports: tuple[EngineReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathering:
    """Where sources come from, over the ports that this needs."""

    config: Config
    panel: Panel
    pages: Pages
    store: Store

    async def sources(
        self,
        request: SearchRequest,
        phrasings: Sequence[str],
        *,
        scope: str,
        fetch: bool,
        until: float,
        progress: Progress,
    ) -> Gathered:
        """From the engines (`web`), the store (`stored`) or `both`. Raises KeyholeError as these do."""
        if scope == "stored":
            return await self.stored(request, phrasings, progress)
        if scope == "both":
            return await self.both(request, phrasings, fetch=fetch, until=until, progress=progress)
        return await self.web(request, phrasings, fetch=fetch, until=until, progress=progress)

    async def web(
        self, request: SearchRequest, phrasings: Sequence[str], *, fetch: bool, until: float, progress: Progress
    ) -> Gathered:
        """The engines' best pages, read where `fetch`. Raises KeyholeError: no_results, engine_unavailable."""
        total = request.max_results + 2.0
        await progress(0, total, "searching")
        found = await self.panel.ask([replace(request, query=phrasing) for phrasing in phrasings])
        merged = merge(found.lists)
        hits = [hit for hit in merged if wanted(hit, request, self.config)][: request.max_results]
        if not hits:
            elsewhere = " on the sites that may be fetched" if merged else ""
            raise KeyholeError(Code.NO_RESULTS, f"the engines are well and found nothing{elsewhere}")
        await remember_hits(hits, self.store)
        if not fetch:
            return Gathered(tuple(_unread(hit) for hit in hits), found.reports)
        await progress(1, total, f"fetching {len(hits)} pages")
        return Gathered(tuple(await self._read(hits, request, until, progress, total)), found.reports)

    async def stored(self, request: SearchRequest, phrasings: Sequence[str], progress: Progress) -> Gathered:
        """Stored artifacts that hold most of the words, each page once. Raises KeyholeError: no_results."""
        from keyhole.passages.stems import query_words

        words = tuple(dict.fromkeys(word for phrasing in phrasings for word in query_words(phrasing)))
        filters = Filters(request.sites, request.exclude_sites, request.freshness, request.language)
        narrowed = await asyncio.to_thread(self.store.search, words, request.max_results * NARROWED, filters)
        await progress(1, 2, f"ranking {len(narrowed)} artifacts")
        if not narrowed:
            held = await asyncio.to_thread(self.store.held, words)
            raise nothing_stored(words, held)
        sources = [Source(a.url, a.title, "", a, True, date=a.published, from_store=True) for a in narrowed]
        return Gathered(each_once(sources))

    async def both(
        self, request: SearchRequest, phrasings: Sequence[str], *, fetch: bool, until: float, progress: Progress
    ) -> Gathered:
        """The web and the store at the same time. Where only one of them answers, its answer stands.

        Raises KeyholeError as the web does where neither answers.
        """
        found, kept = await asyncio.gather(
            _tried(self.web(request, phrasings, fetch=fetch, until=until, progress=progress)),
            _tried(self.stored(request, phrasings, _unheard)),
        )
        if isinstance(found, KeyholeError):
            if isinstance(kept, KeyholeError):
                raise KeyholeError(found.code, f"{found.message}; {kept.message}", **found.facts)
            reports = () if found.code is Code.NO_RESULTS else (EngineReport("web", str(found.message)),)
            return Gathered(kept.sources, reports)
        return found if isinstance(kept, KeyholeError) else replace(found, sources=joined(found.sources, kept.sources))

    async def _read(
        self, hits: Sequence[Hit], request: SearchRequest, until: float, progress: Progress, total: float
    ) -> list[Source]:
        """Fetch all hits at once; what is not there in time is listed as not read."""
        until -= self.config.search_timeout * FETCH_MARGIN
        terms = Terms(until, lambda url: allowed_by_sites(url, request))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._read_hit(hit, terms)) for hit in hits]
            waiting = set(tasks)
            while waiting and (left := until - asyncio.get_running_loop().time()) > 0:
                _, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                done = len(tasks) - len(waiting)
                await progress(1 + done, total, f"fetched {done} of {len(tasks)}")
            for task in waiting:
                task.cancel()
        return [
            _unread(hit, "timed out") if task.cancelled() else task.result()
            for hit, task in zip(hits, tasks, strict=True)
        ]

    async def _read_hit(self, hit: Hit, terms: Terms) -> Source:
        try:
            artifact, stored = await self.pages.get(hit.url, False, terms)
        except KeyholeError as error:
            return _unread(hit, str(error.code))
        date = artifact.published or hit.date
        return Source(artifact.url, artifact.title or hit.title, hit.snippet, artifact, stored, date=date)


async def _tried(gathering: Awaitable[Gathered]) -> Gathered | KeyholeError:
    try:
        return await gathering
    except KeyholeError as error:
        return error


async def _unheard(done: float, total: float, what: str) -> None:
    """The progress of one of two things that go on at once: only the other's is told."""


def _unread(hit: Hit, why: str = "") -> Source:
    return Source(hit.url, hit.title, hit.snippet, not_read=why, date=hit.date)
