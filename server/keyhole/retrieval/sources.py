"""From a question to the sources that may answer it: engines, merging, pages read at once; or the store. Ranks nothing.

The engines, the network and the store are ports behind the panel, the pages and the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Terms
from keyhole.records import EngineReport, Hit, SearchRequest, Source
from keyhole.retrieval.instrumentation import stage
from keyhole.retrieval.merge_sources import each_once, joined, nothing_stored
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.progress import Progress, silent
from keyhole.retrieval.read_pages import plan, read_best, unread
from keyhole.retrieval.url_policy import remember_urls, wanted
from keyhole.store.base import Store
from keyhole.store.filters import Filters
from keyhole.text.sites import allowed_by_sites
from keyhole.websearch.filters import in_force
from keyhole.websearch.merge import merge
from keyhole.websearch.no_results import nothing_found
from keyhole.websearch.panel import Panel

AFTER_READING: Final = 6.0
"""Seconds kept of a search's deadline after the last page for ranking and wording: ten times what it mostly takes."""
AFTER_SHARE: Final = 1 / 4
"""Of the deadline, where that is less."""
RESERVES: Final = 3
"""Times as many hits as are wanted: so many may be tried in all before a search gives what it has."""

NOT_STORED: Final = MappingProxyType({"country": "country", "news": "kind"})
"""Filters that say nothing about stored artifacts, and the arguments that ask for them."""
NARROWED: Final = 2
"""Stored artifacts ranked for each that is shown: ranking them takes most of the time; see docs/storage/searching.md."""


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
            found = await self.stored(request, phrasings, progress)
        elif scope == "both":
            found = await self.both(request, phrasings, fetch=fetch, until=until, progress=progress)
        else:
            found = await self.web(request, phrasings, fetch=fetch, until=until, progress=progress)
        # A store that fails holds little: what was kept first may be gone when the last page is.
        return await asyncio.to_thread(self._looked_up, found) if self.store.warning() else found

    async def web(
        self, request: SearchRequest, phrasings: Sequence[str], *, fetch: bool, until: float, progress: Progress
    ) -> Gathered:
        """The engines' best pages, read where `fetch`. Raises KeyholeError: no_results, engine_unavailable."""
        total = steps(request)
        await progress(0, total, "searching")
        with stage("engines"):
            found = await self.panel.ask([replace(request, query=phrasing) for phrasing in phrasings], until)
        merged = merge(found.lists)
        hits = [hit for hit in merged if wanted(hit, request, self.config)]
        if not hits:
            raise KeyholeError(Code.NO_RESULTS, nothing_found(request, found.reports, elsewhere=bool(merged)))
        hits = hits[: RESERVES * request.max_results if fetch else request.max_results]
        if fetch:
            await progress(1, total, f"fetching {min(len(hits), request.max_results)} pages")
            sources = await self._read(hits, request, until, progress, total)
        else:
            sources = [unread(hit) for hit in hits]
        await remember_urls((source.url for source in sources), self.store)
        return Gathered(tuple(sources), found.reports)

    async def stored(self, request: SearchRequest, phrasings: Sequence[str], progress: Progress) -> Gathered:
        """Stored artifacts that hold most of the words, each page once. Raises KeyholeError: no_results."""
        from keyhole.passages.stems import query_words

        words = tuple(dict.fromkeys(word for phrasing in phrasings for word in query_words(phrasing)))
        filters = Filters(request.sites, request.exclude_sites, request.freshness, request.language)
        await progress(0, steps(request), "searching the store")
        with stage("store"):
            narrowed = await asyncio.to_thread(self.store.search, words, request.max_results * NARROWED, filters)
        if not narrowed:
            held = await asyncio.to_thread(self.store.held, words)
            raise nothing_stored(words, held)
        sources = [Source(a.url, a.title, "", a, True, date=a.published, from_store=True) for a in narrowed]
        unapplied = tuple(NOT_STORED[name] for name in in_force(request) if name in NOT_STORED)
        return Gathered(each_once(sources), (EngineReport("the store", unapplied=unapplied),))

    async def both(
        self, request: SearchRequest, phrasings: Sequence[str], *, fetch: bool, until: float, progress: Progress
    ) -> Gathered:
        """The web and the store at the same time. Where only one of them answers, its answer stands.

        Raises KeyholeError as the web does where neither answers.
        """
        found, kept = await asyncio.gather(
            _tried(self.web(request, phrasings, fetch=fetch, until=until, progress=progress)),
            _tried(self.stored(request, phrasings, silent)),
        )
        if isinstance(found, KeyholeError):
            if isinstance(kept, KeyholeError):
                raise KeyholeError(found.code, f"{found.message}; {kept.message}", **found.facts)
            reports = () if found.code is Code.NO_RESULTS else (EngineReport("web search failed", note=found.message),)
            return Gathered(kept.sources, reports)
        return found if isinstance(kept, KeyholeError) else replace(found, sources=joined(found.sources, kept.sources))

    def _looked_up(self, found: Gathered) -> Gathered:
        sources = (replace(each, stored=each.stored and self._readable(each)) for each in found.sources)
        return replace(found, sources=tuple(sources))

    def _readable(self, source: Source) -> bool:
        try:
            return source.artifact is not None and bool(self.store.part(source.artifact.id, 0, 0))
        except KeyholeError:
            return False

    async def _read(
        self, hits: Sequence[Hit], request: SearchRequest, until: float, progress: Progress, total: float
    ) -> list[Source]:
        """Read the best hits, with the others as their reserves; what is not there in time is listed as not read."""
        seconds = self.config.search_timeout
        until -= min(AFTER_READING, seconds * AFTER_SHARE)
        terms = Terms(until, lambda url: allowed_by_sites(url, request))
        now = asyncio.get_running_loop().time()

        async def on_read(read: int, hit: Hit) -> None:
            if read <= request.max_results:
                host = urlsplit(hit.url).hostname or ""
                await progress(1 + read, total, f"fetching {read}/{request.max_results}: {host}")

        schedule = plan(request.max_results, self.config.fetches, seconds, now, until)
        return await read_best(hits, schedule, lambda hit: self._read_hit(hit, terms), on_read)

    async def _read_hit(self, hit: Hit, terms: Terms) -> Source:
        from keyhole.passages.near_duplicates import sketch

        try:
            artifact, stored = await self.pages.get(hit.url, False, terms)
        except KeyholeError as error:
            status = error.facts.get("status", "") if error.code is Code.HTTP_STATUS else ""
            return unread(hit, f"{error.code} {status}".strip())
        date, own = artifact.published or hit.date, await asyncio.to_thread(sketch, artifact.text)
        return Source(artifact.url, artifact.title or hit.title, hit.snippet, artifact, stored, date=date, sketch=own)


def steps(request: SearchRequest) -> float:
    """How much there is to do for a search: asking, choosing, each page, ranking."""
    return request.max_results + 3.0


async def _tried(gathering: Awaitable[Gathered]) -> Gathered | KeyholeError:
    try:
        return await gathering
    except KeyholeError as error:
        return error
