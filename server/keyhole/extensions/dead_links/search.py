"""Search for addresses near a dead one: choose the next list to request, and the addresses to name so far.

A worker runs both functions, since every list comes from a stranger. Between them the search is a state in JSON, which
the server keeps without reading it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from keyhole.extensions.dead_links.address_words import read_address, shared_length, stem_words
from keyhole.extensions.dead_links.api_finders import PackageFinder, RepositoryFinder, find_package, find_repository
from keyhole.extensions.dead_links.documentation import DocumentationFinder
from keyhole.extensions.dead_links.similarity import (
    CandidateSource,
    CandidateUrl,
    Finder,
    ListRequest,
    Near,
    NearRelation,
    Reply,
    State,
    choose_near,
    rank_candidates,
)
from keyhole.fetch.permission import owner_of, place_of
from keyhole.fetch.urls import api_address
from keyhole.sites.link_lists import read_markdown_links
from keyhole.text.parse_json import parse_json

MAX_REQUESTS: Final = 5
"""Requests for lists for one dead address."""
MAX_KEPT: Final = 3_000
"""The nearest candidates that are kept from one list to the next. Without a limit, each list would cost as much as
all lists before it."""


def find_api(url: str) -> RepositoryFinder | PackageFinder | None:
    """Return the finder that asks the API of a forge or a registry, None for the pages of any other site."""
    return find_repository(url) or find_package(url)


def begin_search(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Begin a search with the stored pages of the site.

    `url`: the dead address. `languages`: the reader's. `pages`: addresses and titles of stored pages; `bodies`: the
    texts of the first of them.
    """
    search = _Search(arguments["url"], arguments["languages"])
    stored = [CandidateUrl(url, title, CandidateSource.READ) for url, title in arguments["pages"]]
    for (url, _), text in zip(arguments["pages"], bodies, strict=False):
        links = read_markdown_links(text, url)
        stored += [CandidateUrl(link.url, link.title, CandidateSource.READ_PAGE) for link in links]
    owner = owner_of(search.url)
    search.add_all(each for each in stored if owner.contains(each.url))
    return search.result()


def continue_search(arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Add the answer to a request. `bodies`: the state and the body of the answer; `answered`: its address or ""."""
    state, body = bodies
    search = _Search.from_json(state)
    search.add(Reply(arguments["request"], arguments["answered"], body))
    return search.result()


@dataclass(slots=True)
class _Search:
    """One search: the candidates so far and the requests that were made."""

    url: str
    languages: Sequence[str]
    candidates: dict[str, CandidateUrl] = field(default_factory=dict)
    requested: list[ListRequest] = field(default_factory=list)
    ranked: list[Near] = field(default_factory=list)
    finder: Finder = field(init=False)

    def __post_init__(self) -> None:
        self.finder = find_api(self.url) or DocumentationFinder(self.url, self.languages)

    @classmethod
    def from_json(cls, state: bytes) -> _Search:
        """Return the search of a state."""
        values = json.loads(state)
        search = cls(values["url"], values["languages"])
        search.requested = [ListRequest(**each) for each in values["requested"]]
        search.candidates = {
            url: CandidateUrl(url, title, CandidateSource(each)) for url, title, each in values["candidates"]
        }
        if isinstance(search.finder, DocumentationFinder):
            search.finder.inventories, search.finder.sitemaps = values["lists"]
        return search

    def result(self) -> tuple[dict[str, Any], bytes]:
        """Return the next request, "" at the end, and the addresses to name; and the state."""
        request = ""
        if len(self.requested) < MAX_REQUESTS:
            request = self.finder.next_request(State([*self.candidates.values()], self.requested, self.ranked))
        finder = self.finder
        state = {
            "url": self.url,
            "languages": self.languages,
            "requested": [asdict(each) for each in self.requested],
            "candidates": [[each.url, each.title, each.source] for each in self.candidates.values()],
            "lists": [finder.inventories, finder.sitemaps] if isinstance(finder, DocumentationFinder) else [],
        }
        near = [[each.url, each.relation, each.source] for each in self._named()]
        read_address.cache_clear()  # a worker lives longer than a search
        stem_words.cache_clear()
        return {"request": request, "near": near}, json.dumps(state).encode()

    def add(self, reply: Reply) -> None:
        """Add the candidates of a list."""
        self.requested.append(ListRequest(reply.request, reply.url, reply.found))
        self.add_all(self.finder.read(reply) if reply.found else ())

    def add_all(self, candidates: Iterable[CandidateUrl]) -> None:
        """Add candidates, and keep the nearest. Of each title, only the words of the dead address are kept."""
        wanted = set(read_address(self.url).words)
        for each in candidates:
            known = self.candidates.get(each.url)
            words = " ".join(word for word in each.title.split() if not wanted.isdisjoint(stem_words(word)))
            title = max(words, known.title if known else "", key=len)
            self.candidates[each.url] = replace(known if known and known.exists else each, title=title)
        self.candidates.pop(self.url, None)
        self.ranked = rank_candidates(self.url, tuple(self.candidates.values()))
        if len(self.candidates) > MAX_KEPT:
            answered = [each.url for each in self.candidates.values() if each.exists]
            kept = dict.fromkeys([*answered, *(each.url for each in self.ranked[:MAX_KEPT]), *self.candidates])
            self.candidates = {url: self.candidates[url] for url in list(kept)[:MAX_KEPT]}

    def _named(self) -> tuple[Near, ...]:
        """Return the addresses to name: the nearest ones, or else the list that leads nearest to the dead address."""
        lists = [each.url for each in self.requested if each.found and each.url in self.candidates]
        above = max(lists, key=lambda url: shared_length(url, self.url), default="")
        return choose_near(self.ranked, self.languages) or (
            (Near(above, NearRelation.LIST, CandidateSource.ANSWERED),) if above else ()
        )


# The Internet Archive: its copy of a dead address (archive.org/help/wayback_api.php).

ARCHIVE_API: Final = place_of("https://archive.org/wayback/available", 2)
ARCHIVE_COPIES: Final = place_of("https://web.archive.org/web", 1)


def archive_request(url: str) -> str:
    """Return the address of the archive's answer about its copy of a page."""
    return api_address("https://archive.org/wayback/available", url=url)


def read_copy(_arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> tuple[dict[str, Any], bytes]:
    """Return the address of the copy that an answer of the archive names, "" if it has no copy. For a worker."""
    with suppress(ValueError, TypeError, KeyError):
        copy: Any = parse_json(bodies[0])["archived_snapshots"]["closest"]
        if copy["available"]:
            return {"url": str(copy["url"]).replace("http://", "https://", 1)}, b""
    return {"url": ""}, b""
