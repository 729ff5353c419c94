"""Read an object of a site through its API, as a reader of its site says, instead of the HTML page.

This file makes the requests; a worker reads the answers.

A failure, a limit or an answer of another form leads back to the HTML page, and the result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.site_apis.matchers import continue_reading, find_reader, places_of, read_requests
from keyhole.extensions.site_apis.site_readers import MAX_REQUESTS, FixedReader, SiteAnswer, SiteReader, SiteRequest
from keyhole.extract.workers.tasks import Extractor, Task, UnreadError
from keyhole.fetch.base import Fetcher, FetchOptions
from keyhole.fetch.permission import Credential, Permission
from keyhole.fetch.urls import parse_target
from keyhole.records import Page
from keyhole.retrieval.instrumentation import stage
from keyhole.sites.document import CONTENT_TYPE
from keyhole.store.base import Clock

SHARE: Final = 0.5
"""Share of the time of a call for the requests of a reader; the HTML page must still be read in the rest."""
PAUSE_SECONDS: Final = 600.0
"""Seconds for which an API that refused a request or reached its limit is not asked. GitHub counts by the hour."""
GITHUB_API: Final = "api.github.com"
"""The only host that gets the token of GitHub, and only for the repository or gist of the address."""
_REFUSALS: Final = frozenset({Code.FORBIDDEN, Code.RATE_LIMITED, Code.LOGIN_REQUIRED, Code.BOT_CHALLENGE})


@dataclass(frozen=True, slots=True)
class SitePages:
    """The implementation of the port `SiteApis`: makes the requests of readers."""

    config: Config
    fetcher: Fetcher
    extractor: Extractor
    clock: Clock
    pauses: dict[str, float]
    """The times until which APIs are not asked, by the name of the reader and the host of the page."""

    async def read(self, url: str, options: FetchOptions) -> tuple[Page | None, str]:
        """Return the composed page of an address, or None and why it was not composed: "" if no reader reads it.

        The page keeps its address. Only that address must be permitted by the call: the API is part of the site.
        """
        names = None if self.config.sites == ("all",) else self.config.sites
        try:
            target = parse_target(url)
        except KeyholeError:
            return None, ""
        reader = find_reader(target.url, names)
        if reader is None or not options.permission.permits(target.url):
            return None, ""
        now, key = self.clock(), f"{reader.name} {target.host}"
        if self.pauses.get(key, now) > now:
            return None, f"the API of {reader.name} refused an earlier request"
        left = options.deadline - asyncio.get_running_loop().time()
        options = FetchOptions(self._permission(reader, options.permission), is_api=True)
        try:
            async with asyncio.timeout(left * SHARE if options.deadline else None):
                document = await self._compose(reader, target.url, options)
        except UnreadError:
            document = b""
        except KeyholeError as error:
            if error.code in _REFUSALS:
                self.pauses[key] = now + PAUSE_SECONDS
            hint = "; KEYHOLE_ROBOTS=pages allows its API" if error.code is Code.ROBOTS_DISALLOWED else ""
            return None, f"the API of {reader.name} failed ({error.code}){hint}"
        except TimeoutError:
            return None, f"the API of {reader.name} was too slow"
        if not document:
            if isinstance(reader, FixedReader) and (file := await self._file(reader, target.url, url, options)):
                return file, ""
            return None, f"the API of {reader.name} sent an answer of another form"
        page = Page(url, target.url, 200, CONTENT_TYPE, document, now, reader=reader.name)
        return page, ""

    async def _file(self, reader: FixedReader, page_url: str, requested_url: str, options: FetchOptions) -> Page | None:
        """Return the file that an object is, under the address of its page; None if there is none or it fails."""
        if not reader.file:
            return None
        with suppress(KeyholeError), stage("fetch"):
            page = await self.fetcher.fetch(reader.file, options)
            return replace(page, url=page_url, requested_url=requested_url, etag="", last_modified="", link="")
        return None

    def _permission(self, reader: SiteReader, permission: Permission) -> Permission:
        """Return the permission for the requests of a reader: its API, with the token for the repository alone."""
        places = places_of(reader)
        permission = permission.for_api(*places)
        place = next((place for place in places if place.site == GITHUB_API), None)
        if place is None or not self.config.github_token:
            return permission
        return permission.with_credential(Credential(f"Bearer {self.config.github_token}", place))

    async def _compose(self, reader: SiteReader, url: str, options: FetchOptions) -> bytes:
        """Return the composed body, b"" if an answer has another form."""
        answers: list[SiteAnswer] = []
        requests = tuple(reader.next_requests(()))
        while requests and len(answers) + len(requests) <= MAX_REQUESTS:
            answers += await self._answer_all(requests, options)
            named = [[answer.request, answer.url, answer.label] for answer in answers]
            task = Task(continue_reading, {"url": url, "answers": named}, [answer.body for answer in answers])
            values, body = await self.extractor.run(task)
            requests = read_requests(values)
            if not requests:
                return body
        return b""

    async def _answer_all(self, requests: Sequence[SiteRequest], options: FetchOptions) -> list[SiteAnswer]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._answer(request, options)) for request in requests]
        results = [task.result() for task in tasks]
        for result in results:
            if isinstance(result, KeyholeError):
                raise result
        return [result for result in results if isinstance(result, SiteAnswer)]

    async def _answer(self, request: SiteRequest, options: FetchOptions) -> SiteAnswer | KeyholeError:
        """Return the answer to a request; for an optional one that failed, one without a body. Errors are returned,
        since a group of tasks would wrap them."""
        try:
            with stage("fetch"):
                page = await self.fetcher.fetch(request.url, options)
            if page.cut:
                raise KeyholeError(Code.TOO_LARGE, "the answer of the API is incomplete")
        except KeyholeError as error:
            return SiteAnswer(request.url, label=request.label) if request.optional else error
        return SiteAnswer(request.url, page.url, page.body)
