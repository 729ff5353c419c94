"""Find real addresses near a dead one, within the time of the call.

sites/dead_links decides which lists to request and how to compare; this file makes the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.fetch.base import Fetcher, FetchOptions
from keyhole.fetch.urls import parse_target
from keyhole.records import NEAR, Artifact
from keyhole.render.answer import near_lines
from keyhole.retrieval.instrumentation import stage
from keyhole.retrieval.url_policy import remember_urls
from keyhole.sites.dead_links.address_words import shared_length
from keyhole.sites.dead_links.archive import archive_request, read_copy
from keyhole.sites.dead_links.documentation import DocumentationFinder, site_of
from keyhole.sites.dead_links.finder import Asked, Finder, Reply, State
from keyhole.sites.dead_links.packages import find_package
from keyhole.sites.dead_links.repositories import find_repository
from keyhole.sites.dead_links.similarity import MAX_NEAR, Candidate, Near, choose_near, rank_candidates
from keyhole.sites.link_lists import read_markdown_links
from keyhole.store.base import Store

MAX_REQUESTS: Final = 5
"""Requests for lists for one dead address."""
SECONDS: Final = 8.0
"""Seconds for all of them."""
SHARE: Final = 0.5
"""The same as a share of the time that the call has left; the smaller one applies."""
MAX_LISTED: Final = 500
"""Stored artifacts that are looked through for pages of the same site, the newest ones."""
MAX_READ: Final = 5
"""Stored pages of the site whose links are read, those nearest to the dead address."""
MAX_TEXT: Final = 200_000
"""Characters of a stored page whose links are read."""


@dataclass(frozen=True, slots=True)
class NearAddresses:
    """Finds addresses with the fetcher and the store of the calls."""

    fetcher: Fetcher
    store: Store
    asks_archive: bool = False
    """True to name the copy of the Internet Archive too."""

    async def add_to(self, error: KeyholeError, url: str, options: FetchOptions) -> KeyholeError:
        """Return the error of a dead address with the addresses near it, which count as known from now on."""
        near = await self.find(url, options)
        if not near:
            return error
        await remember_urls((each.url for each in near), self.store)
        return error.with_near((each.url, each.why) for each in near)

    async def note(self, artifact: Artifact, options: FetchOptions) -> Artifact:
        """Return the artifact of a page that lacks the requested content, with a note on the addresses near it."""
        near = await self.find(artifact.requested_url, options)
        await remember_urls((each.url for each in near), self.store)
        lines = "\n".join(near_lines((each.url, each.why) for each in near))
        return replace(artifact, notes=(*artifact.notes, (NEAR, lines))) if lines else artifact

    async def find(self, url: str, options: FetchOptions) -> tuple[Near, ...]:
        """Return the addresses near a dead one, best first; none for an address that cannot be parsed.

        The time is that of `options`, at most `SECONDS`. Lists that do not arrive in it are not used.
        """
        try:
            url = parse_target(url).url
        except KeyholeError:
            return ()
        left = options.deadline - asyncio.get_running_loop().time()
        finder = find_repository(url) or find_package(url)
        search, is_api = _Search(url, finder or DocumentationFinder(url)), finder is not None
        copy: tuple[Near, ...] = ()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(SECONDS, left * SHARE) if options.deadline else SECONDS):
                await asyncio.to_thread(search.add_stored, self.store)
                while request := await asyncio.to_thread(search.next_request):
                    reply = await self._request(request, options, is_api=is_api)
                    await asyncio.to_thread(search.add, reply)
                if self.asks_archive:
                    copy = read_copy((await self._request(archive_request(url), options, is_api=True)).body)
        return (*search.named()[: MAX_NEAR - len(copy)], *copy)

    async def _request(self, url: str, options: FetchOptions, *, is_api: bool) -> Reply:
        with suppress(KeyholeError), stage("fetch"):
            page = await self.fetcher.fetch(url, FetchOptions(options.deadline, options.permits, is_api=is_api))
            return Reply(url, page.url, page.body)
        return Reply(url)


@dataclass(slots=True)
class _Search:
    """One search: the candidates so far and the requests that were made."""

    url: str
    finder: Finder
    candidates: dict[str, Candidate] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    ranked: list[Near] = field(default_factory=list)

    def next_request(self) -> str:
        """Return the address of the next list, "" if the search has ended."""
        is_over = len(self.asked) >= MAX_REQUESTS
        return "" if is_over else self.finder.next_request(State([*self.candidates.values()], self.asked, self.ranked))

    def add_stored(self, store: Store) -> None:
        """Add the stored pages of the site, and the links of those nearest to the dead address."""
        with suppress(KeyholeError):
            self._add(_stored_candidates(store, self.url))

    def add(self, reply: Reply) -> None:
        """Add the candidates of a list."""
        self.asked.append(Asked(reply.request, reply.url, reply.found))
        if reply.found:
            self._add(self.finder.read(reply))

    def named(self) -> tuple[Near, ...]:
        """Return the addresses to name: the nearest ones, or else the list that leads nearest to the dead address."""
        lists = [each.url for each in self.asked if each.found and each.url in self.candidates]
        above = max(lists, key=lambda url: shared_length(url, self.url), default="")
        return choose_near(self.ranked) or ((Near(above, "lists pages of the site", 0.0),) if above else ())

    def _add(self, candidates: Iterable[Candidate]) -> None:
        for each in candidates:
            known = self.candidates.setdefault(each.url, each)
            title = max(known.title, each.title, key=len)
            self.candidates[each.url] = replace(known, title=title, exists=known.exists or each.exists)
        self.candidates.pop(self.url, None)
        self.ranked = rank_candidates(self.url, tuple(self.candidates.values()))


def _stored_candidates(store: Store, url: str) -> Iterator[Candidate]:
    """Yield the stored pages of a site, and the links of those nearest to a dead address."""
    site = site_of(url)
    pages = [page for page in store.list(MAX_LISTED) if site_of(page.url) == site]
    yield from (Candidate(page.url, page.title, "read before") for page in pages)
    for page in nlargest(MAX_READ, pages, key=lambda page: shared_length(page.url, url)):
        part = store.part(page.id, 0, MAX_TEXT).artifact
        links = read_markdown_links(part.text.encode(), part.url)
        source = "linked from a page that was read"
        yield from (Candidate(link.url, link.title, source) for link in links if site_of(link.url) == site)
