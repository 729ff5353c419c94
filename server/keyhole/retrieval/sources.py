"""Find sources for a question: from search engines, whose best pages are read, from the store, or from both.

The sources are not ranked here. The engines, the network and the store are ports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import FetchOptions
from keyhole.fetch.permission import ANY, Allowance, Permission
from keyhole.records import EngineReport, Hit, SearchRequest, Source
from keyhole.retrieval.instrumentation import stage
from keyhole.retrieval.merge_sources import deduplicate, interleave, nothing_stored_error
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.progress import Progress, no_progress
from keyhole.retrieval.read_pages import PAGES_AT_ONCE, make_plan, read_best, unread_source
from keyhole.retrieval.url_policy import is_wanted, remember_urls
from keyhole.store.base import Store
from keyhole.store.filters import Filters
from keyhole.text.sites import is_allowed_by_sites
from keyhole.websearch.filters import active_filters, describe_no_results
from keyhole.websearch.merge import merge_hits
from keyhole.websearch.panel import Panel

AFTER_READING: Final = 6.0
"""Seconds of a search's time that are reserved for ranking and rendering: ten times their usual duration."""
AFTER_READING_SHARE: Final = 1 / 4
"""The same reserve as a share of the search's time; the smaller one applies."""
RESERVES: Final = 3
"""Hits tried for each requested source. After them a search returns the sources that were read."""

NOT_STORED: Final = MappingProxyType({"country": "country", "news": "kind"})
"""Filters that cannot be applied to stored artifacts, and the arguments that set them."""
STORED_PER_RESULT: Final = 2
"""Stored artifacts that are ranked for each requested source. Ranking takes most of the time; see
docs/storage/searching.md."""


@dataclass(frozen=True, slots=True)
class Question:
    """One search as requested by the caller."""

    request: SearchRequest
    phrasings: tuple[str, ...]
    """The query and further phrasings of the same question."""
    scope: str
    """`web`, `stored` or `both`."""
    fetch: bool
    """True if the pages of the web are read, False if the engines' snippets are enough."""
    until: float
    """The deadline by the clock of the event loop."""
    progress: Progress = no_progress

    @property
    def steps(self) -> float:
        """Return the number of steps in progress reports: the engines, the choice of hits, each page, and ranking."""
        return self.request.max_results + 3.0


@dataclass(frozen=True, slots=True)
class FoundSources:
    """The sources for one question before ranking, in the order of engines or store, and the engines' reports."""

    sources: tuple[Source, ...]
    reports: tuple[EngineReport, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFinder:
    """Finds sources on the web and in the store."""

    config: Config
    panel: Panel
    pages: Pages
    store: Store

    async def find(self, question: Question) -> FoundSources:
        """Return the sources from the engines (`web`), the store (`stored`) or `both`.

        Raises KeyholeError: no_results, engine_unavailable, key_refused, store_unavailable.
        """
        if question.scope == "stored":
            found = await self._from_store(question)
        elif question.scope == "both":
            found = await self._from_both(question)
        else:
            found = await self._from_web(question)
        # While the store fails, only few texts are kept in memory: the first page may be gone when the last is stored.
        return await asyncio.to_thread(self._check_stored, found) if self.store.warning() else found

    async def _from_web(self, question: Question) -> FoundSources:
        """Return the engines' best hits as sources. Their pages are read if `question.fetch` is True."""
        request = question.request
        await question.progress(0, question.steps, "searching")
        with stage("engines"):
            found = await self.panel.search(
                [replace(request, query=phrasing) for phrasing in question.phrasings], question.until
            )
        from keyhole.websearch.choose import choose_hits

        merged = merge_hits(found.lists)
        wanted = [hit for hit in merged if is_wanted(hit, request, self.config)]
        hits = choose_hits(wanted, question.phrasings)
        if not hits:
            message = describe_no_results(request, found.reports, has_disallowed=bool(merged))
            raise KeyholeError(Code.NO_RESULTS, message)
        if question.fetch:
            sources = await self._read(hits[: RESERVES * request.max_results], question)
        else:
            sources = [unread_source(hit) for hit in hits[: request.max_results]]
        await remember_urls((source.url for source in sources), self.store)
        return FoundSources(tuple(sources), found.reports)

    async def _from_store(self, question: Question) -> FoundSources:
        """Return the stored pages that match the words of the question best, each once. Outputs are left out."""
        from keyhole.passages.stems import query_words

        request = question.request
        words = tuple(dict.fromkeys(word for phrasing in question.phrasings for word in query_words(phrasing)))
        filters = Filters(request.sites, request.exclude_sites, request.freshness, request.language, "pages")
        most = request.max_results * STORED_PER_RESULT
        await question.progress(0, question.steps, "searching the store")
        with stage("store"):
            artifacts = await asyncio.to_thread(self.store.search, words, most, filters)
        if not artifacts:
            is_stored = await asyncio.to_thread(self.store.contains_words, words)
            raise nothing_stored_error(words, is_stored, "\n".join(question.phrasings))
        sources = [Source(a.url, a.title, "", a, True, date=a.published, from_store=True) for a in artifacts]
        unapplied = tuple(NOT_STORED[name] for name in active_filters(request) if name in NOT_STORED)
        return FoundSources(deduplicate(sources), (EngineReport("the store", unapplied=unapplied),))

    async def _from_both(self, question: Question) -> FoundSources:
        """Search the web and the store concurrently. If one of them fails, return the sources of the other.

        Raises the web's KeyholeError if both fail, with both messages.
        """
        web, stored = await asyncio.gather(
            _result_or_error(self._from_web(question)),
            _result_or_error(self._from_store(replace(question, progress=no_progress))),
        )
        if isinstance(web, KeyholeError):
            if isinstance(stored, KeyholeError):
                raise KeyholeError(web.code, f"{web.message}; {stored.message}", **web.facts)
            reports = () if web.code is Code.NO_RESULTS else (EngineReport("web search failed", note=web.message),)
            return FoundSources(stored.sources, reports)
        if isinstance(stored, KeyholeError):
            return web
        return replace(web, sources=interleave(web.sources, stored.sources))

    def _check_stored(self, found: FoundSources) -> FoundSources:
        """Return the sources, with `stored` set to False for texts that the store no longer contains."""
        sources = (replace(each, stored=each.stored and self._is_readable(each)) for each in found.sources)
        return replace(found, sources=tuple(sources))

    def _is_readable(self, source: Source) -> bool:
        try:
            return source.artifact is not None and bool(self.store.part(source.artifact.id, 0, 0))
        except KeyholeError:
            return False

    async def _read(self, hits: list[Hit], question: Question) -> list[Source]:
        """Return sources for the best hits; the other hits are reserves. A late page has a reason in `not_read`."""
        wanted, seconds = question.request.max_results, self.config.search_timeout
        until = question.until - min(AFTER_READING, seconds * AFTER_READING_SHARE)
        permission = Permission(until, _permitted_sites(question.request))

        async def on_read(read: int, hit: Hit) -> None:
            if read <= wanted:
                host = urlsplit(hit.url).hostname or ""
                await question.progress(1 + read, question.steps, f"fetching {read}/{wanted}: {host}")

        await question.progress(1, question.steps, f"fetching {min(len(hits), wanted)} pages")
        plan = make_plan(wanted, PAGES_AT_ONCE, seconds, asyncio.get_running_loop().time(), until)
        # Each page has its own number of further requests.
        return await read_best(
            hits,
            plan,
            lambda hit: self._read_hit(hit, FetchOptions(replace(permission, allowance=Allowance()))),
            on_read,
        )

    async def _read_hit(self, hit: Hit, options: FetchOptions) -> Source:
        """Read the page of a hit and return its source, with the error code in `not_read` if that fails."""
        from keyhole.passages.near_duplicates import sketch

        try:
            artifact, stored = await self.pages.get(hit.url, False, options)
        except KeyholeError as error:
            status = error.facts.get("status", "") if error.code in {Code.HTTP_STATUS, Code.SERVER_ERROR} else ""
            return unread_source(hit, f"{error.code} {status}".strip())
        date, own = artifact.published or hit.date, await asyncio.to_thread(sketch, artifact.main)
        return Source(artifact.url, artifact.title or hit.title, hit.snippet, artifact, stored, date=date, sketch=own)


def _permitted_sites(request: SearchRequest) -> Callable[[str], bool]:
    """Return the function that tells if a request accepts a URL; without sites, the same function for every request."""
    if not (request.sites or request.exclude_sites):
        return ANY.accepts
    return lambda url: is_allowed_by_sites(url, request)


async def _result_or_error(finding: Awaitable[FoundSources]) -> FoundSources | KeyholeError:
    try:
        return await finding
    except KeyholeError as error:
        return error
