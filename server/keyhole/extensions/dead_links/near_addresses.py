"""Find real addresses near a dead one, within the time and the permission of the call.

search.py decides in a worker which lists to request and how to compare; this file makes the requests. What a
worker returns has been in touch with a stranger's bytes, so each address is checked against the permission once more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any, Final

from keyhole.errors import KeyholeError
from keyhole.extensions.dead_links.address_words import ENGLISH, language_of, shared_length
from keyhole.extensions.dead_links.search import (
    ARCHIVE_API,
    ARCHIVE_COPIES,
    MAX_REQUESTS,
    archive_request,
    begin_search,
    continue_search,
    find_api,
    read_copy,
)
from keyhole.extensions.dead_links.similarity import MAX_NEAR, CandidateSource, Near, NearRelation
from keyhole.extract.workers.tasks import Extractor, Result, Task
from keyhole.fetch.base import Fetcher, FetchOptions
from keyhole.fetch.permission import WebPlace, owner_of
from keyhole.fetch.urls import parse_target
from keyhole.passages.languages import UNKNOWN, count_function_words, guess_language
from keyhole.passages.words import WORD
from keyhole.records import NEAR, Artifact, Page
from keyhole.render.answer import near_lines
from keyhole.retrieval.instrumentation import stage
from keyhole.retrieval.url_policy import remember_urls
from keyhole.sites.link_lists import MAX_URL_CHARS
from keyhole.store.base import Store
from keyhole.text.letters import lower

SECONDS: Final = 8.0
"""Seconds for all lists."""
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
    """The implementation of the port `DeadLinks`, with the fetcher, the workers and the store of the calls."""

    fetcher: Fetcher
    extractor: Extractor
    store: Store
    asks_archive: bool = False
    """True to name the copy of the Internet Archive too."""

    async def add_to(self, error: KeyholeError, url: str, options: FetchOptions, question: str) -> KeyholeError:
        """Return the error of a dead address with the addresses near it, which count as known from now on."""
        near = await self.find(url, options, question)
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

    async def find(self, url: str, options: FetchOptions, question: str = "") -> tuple[Near, ...]:
        """Return the addresses near a dead one, best first; none for an address that cannot be parsed.

        Pages in the language of the question, else of the address, else in English come first. The time is that of
        `options`, at most `SECONDS`. Lists that do not arrive in it are not used.
        """
        try:
            url = parse_target(url).url
        except KeyholeError:
            return ()
        left = options.deadline - asyncio.get_running_loop().time()
        near: list[Near] = []
        copy: tuple[Near, ...] = ()
        with suppress(TimeoutError, KeyholeError):
            async with asyncio.timeout(min(SECONDS, left * SHARE) if options.deadline else SECONDS):
                await self._search(url, options, near, languages_of(question, url))
                if self.asks_archive:
                    copy = await self._copy(url, options)
        return (*near[: MAX_NEAR - len(copy)], *copy)

    async def _search(self, url: str, options: FetchOptions, near: list[Near], languages: Sequence[str]) -> None:
        """Request lists, and set `near` to the addresses that are named after each."""
        api, owner = find_api(url), owner_of(url)
        permission = options.permission.for_api(*api.places) if api else options.permission.narrow(owner)
        pages, texts = await asyncio.to_thread(_stored_pages, self.store, url, owner)
        values, state = await self.extractor.run(
            Task(begin_search, {"url": url, "languages": languages, "pages": pages}, texts)
        )
        for _ in range(MAX_REQUESTS):
            near[:] = _read_near(values, owner)
            if not (request := str(values.get("request") or "")):
                return
            page = await self._request(request, FetchOptions(permission, is_api=api is not None))
            arguments = {"request": request, "answered": page.url if page else ""}
            values, state = await self._advance(arguments, state, page.body if page else b"")
        near[:] = _read_near(values, owner)

    async def _advance(self, arguments: dict[str, Any], state: bytes, body: bytes) -> Result:
        """Add an answer to the search. A list that cannot be read in time counts as one that does not exist."""
        try:
            return await self.extractor.run(Task(continue_search, arguments, (state, body)))
        except KeyholeError:
            return await self.extractor.run(Task(continue_search, {**arguments, "answered": ""}, (state, b"")))

    async def _copy(self, url: str, options: FetchOptions) -> tuple[Near, ...]:
        page = await self._request(
            archive_request(url), FetchOptions(options.permission.for_api(ARCHIVE_API), is_api=True)
        )
        if not page:
            return ()
        values, _ = await self.extractor.run(Task(read_copy, {}, (page.body,)))
        copy = _checked_url(values.get("url"), ARCHIVE_COPIES)
        return (Near(copy, NearRelation.COPY, CandidateSource.ARCHIVE),) if copy else ()

    async def _request(self, url: str, options: FetchOptions) -> Page | None:
        with suppress(KeyholeError), stage("fetch"):
            return await self.fetcher.fetch(url, options)
        return None


def languages_of(question: str, url: str) -> list[str]:
    """Return the languages of the question, if it is known, and of a dead address, and English."""
    asked = guess_language(count_function_words([]), 0, WORD.findall(lower(question)))
    return list(dict.fromkeys([*([] if asked == UNKNOWN else [asked]), language_of(url), ENGLISH]))


def _read_near(values: dict[str, Any], owner: WebPlace) -> list[Near]:
    """Return the named addresses in a worker's result that belong to the owner of the dead one."""
    rows = values.get("near")
    near = []
    with suppress(ValueError, TypeError):  # a reason that is not on the list
        for url, relation, source in rows if isinstance(rows, list) else ():
            if checked := _checked_url(url, owner):
                near.append(Near(checked, NearRelation(relation), CandidateSource(source)))
    return near[:MAX_NEAR]


def _checked_url(url: object, place: WebPlace) -> str:
    """Return an address in its checked form if it is in `place` and not too long, otherwise ""."""
    try:
        checked = parse_target(url).url if isinstance(url, str) else ""
    except KeyholeError:
        return ""
    return checked if len(checked) <= MAX_URL_CHARS and place.contains(checked) else ""


def _stored_pages(store: Store, url: str, owner: WebPlace) -> tuple[list[tuple[str, str]], list[bytes]]:
    """Return the addresses and titles of the owner's stored pages, the nearest first, and the texts of the first."""
    try:
        pages = [page for page in store.list(MAX_LISTED) if owner.contains(page.url)]
        nearest = nlargest(len(pages), pages, key=lambda page: shared_length(page.url, url))
        texts = [store.part(page.id, 0, MAX_TEXT).artifact.text for page in nearest[:MAX_READ]]
    except KeyholeError:
        return [], []
    return [(page.url, page.title) for page in nearest], [text.encode("utf-8", "replace") for text in texts]
