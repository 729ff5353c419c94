"""Get the artifact of a URL from the store if it is fresh; otherwise fetch, extract and store the page.

A page without text until its scripts run is rendered, if the settings say so. The network, the browser, the extractor
and the store are ports.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.tasks import Extractor, Task
from keyhole.fetch.base import NOT_MODIFIED, Fetcher, FetchOptions, Renderer
from keyhole.fetch.markdown_versions import MarkdownHosts, find_markdown_url
from keyhole.fetch.permission import owner_of
from keyhole.fetch.urls import hash_page_urls
from keyhole.records import FOLLOWED, REFRESH, UNDIGESTED, Artifact, Page
from keyhole.retrieval.artifact import (
    find_refresh,
    has_little_text,
    is_fresh,
    link_to_previous,
    make_artifact,
    validators,
)
from keyhole.retrieval.instrumentation import add_amount, current_events, stage
from keyhole.retrieval.markdown_alternate import adopt_markdown, is_markdown_of, is_same_text
from keyhole.retrieval.pending_reads import PendingReads, Read, start_read
from keyhole.retrieval.url_policy import check_url_policy, remember_urls
from keyhole.runtime.extensions import open_port
from keyhole.store.base import Clock, Store
from keyhole.store.forget_mark import FORGOTTEN
from keyhole.store.ids import artifact_id
from keyhole.store.term_lookup import make_words
from keyhole.text.escape import plain_line
from keyhole.text.refresh import Refresh

AFTER_READING: Final = 3.0
"""Seconds of a call's time that are reserved for the stages after the page is stored: selecting passages and rendering.
They take less than one second; in ten calls at once, a few."""
AFTER_READING_SHARE: Final = 1 / 10
"""The same reserve as a share of the time left when the page is begun; the smaller one applies."""
MARKDOWN_SECONDS: Final = 5.0
"""Seconds to wait for the author's Markdown: a small file, while the page itself has already arrived."""
MARKDOWN_SHARE: Final = 1 / 4
"""The same limit as a share of the call's timeout; the smaller one applies."""
REASON_SECONDS: Final = 3.0
"""Seconds for reading the reason in an error response, of at most 64 KB."""
MAX_REASON: Final = 400
"""Bytes of a site's reason for an error: two sentences."""
TEXTLESS: Final = frozenset({Code.EMPTY_DOCUMENT, Code.JAVASCRIPT_REQUIRED})
"""The errors of pages without a text."""
DEAD_NOTICES: Final = frozenset({"not_found", "home_page"})
"""The notices of pages that a dead address led to."""
_IMAGE: Final = "image/"
_SVG: Final = "image/svg+xml"

Extracted = tuple[Artifact, str]
"""An artifact and its search terms, separated by spaces."""


class SiteApis(Protocol):
    """Composes the pages of objects from the APIs of their sites. The extension `site_apis` implements it."""

    async def read(self, url: str, options: FetchOptions) -> tuple[Page | None, str]:
        """Return the composed page of an address, or None and why it was not composed: "" if no reader reads it."""
        ...


class DeadLinks(Protocol):
    """Finds addresses near a dead one. The extension `dead_links` implements it."""

    async def add_to(self, error: KeyholeError, url: str, options: FetchOptions, question: str) -> KeyholeError:
        """Return the error of a dead address with the addresses near it, which count as known from now on.

        `question`: decides the language of the addresses.
        """
        ...

    async def note(self, artifact: Artifact, options: FetchOptions) -> Artifact:
        """Return the artifact of a page that lacks the requested content, with a note on the addresses near it."""
        ...


@dataclass(frozen=True, slots=True)
class Pages:
    """Gets pages as artifacts, from the store or from the web."""

    config: Config
    fetcher: Fetcher
    extractor: Extractor
    store: Store
    secret: bytes
    clock: Clock
    pending: PendingReads = field(default_factory=PendingReads)
    renderer: Renderer | None = None
    markdown_hosts: MarkdownHosts = field(default_factory=MarkdownHosts)
    site_pauses: dict[str, float] = field(default_factory=dict[str, float])
    """The times until which APIs of sites are not asked."""

    async def get(self, url: str, refresh: bool, options: FetchOptions) -> Read:
        """Return the artifact of a URL, and True if it is stored.

        `refresh`: request the page even if a fresh artifact is stored. Raises KeyholeError: any error of a page, and
        extraction_pending if the page was fetched but not read in time. A later call then gets it without a request.
        """
        now, key = asyncio.get_running_loop().time(), (self.secret, url.strip())
        until = options.deadline - min(AFTER_READING, (options.deadline - now) * AFTER_READING_SHARE)
        if read := self.pending.take(key, options.permission.permits):
            artifact, is_stored = await self.pending.wait(key, read, until)
            if options.permission.permits(artifact.url):
                return artifact, is_stored
        known = await self._recent(url)
        if known and not options.permission.permits(known.url):
            known = None
        if known and not refresh and is_fresh(known, self.clock() - self.config.freshness):
            return known, True
        self.extractor.warm()
        page = await self._fetch_best(url, replace(options, validators=validators(known)))
        if known and page.status == NOT_MODIFIED:
            if await self._renew(known, page.fetched_at):
                return replace(known, fetched_at=page.fetched_at), True
            page = await self._fetch(url, options)  # the stored text was removed meanwhile
        read = start_read(page, self._read(page, known, options.until(until)))
        return await self.pending.wait(key, read, until)

    def dead_links(self) -> DeadLinks:
        """Return the finder of addresses near a dead one."""
        asks_archive = self.config.archive == "on"
        finder: DeadLinks = open_port("dead_links", self.fetcher, self.extractor, self.store, asks_archive)
        return finder

    async def read_reason(self, error: KeyholeError, url: str) -> None:
        """Give the error of a response the site's own reason, which a worker finds in the response's body."""
        (body, content_type), error.body = error.body, (b"", "")
        if not body:
            return
        from keyhole.extract.error_reason import find_reason

        task = Task(find_reason, {"url": url, "content_type": content_type}, (body,))
        with suppress(KeyholeError, TimeoutError), stage("extract"):
            async with asyncio.timeout(REASON_SECONDS):
                values, _ = await self.extractor.run(task)
            reason = values.get("reason")
            error.reason = plain_line(reason, MAX_REASON) if isinstance(reason, str) else ""

    async def _fetch_best(self, url: str, options: FetchOptions) -> Page:
        """Return what a site reader composes, or else the page."""
        fault = ""
        if self.config.sites:
            apis: SiteApis = open_port(
                "site_apis", self.config, self.fetcher, self.extractor, self.clock, self.site_pauses
            )
            composed, fault = await apis.read(url, options)
            if composed:
                return composed
        return replace(await self._fetch(url, options), reader_fault=fault)

    async def _fetch(self, url: str, options: FetchOptions) -> Page:
        with stage("fetch"):
            page = await self.fetcher.fetch(url.partition("#")[0], options)
        page = replace(page, requested_url=url)
        add_amount("bytes_in", len(page.body))
        self.markdown_hosts.observe(page)
        return page

    async def _read(self, page: Page, known: Artifact | None, options: FetchOptions) -> Read:
        """Extract and store a page. `known`: the artifact stored for its URL before."""
        artifact, terms = await self._extract_or_follow(page, options)
        if artifact.notice in DEAD_NOTICES:
            artifact = await self.dead_links().note(artifact, options)
        if known:
            artifact = await asyncio.to_thread(link_to_previous, artifact, known)
        return artifact, await self._put(artifact, terms)

    async def _extract_or_follow(self, page: Page, options: FetchOptions) -> Extracted:
        """Return the artifact of a page, or of the page to which it sends its reader at once, if it has little text.

        That is a redirect: it is followed once, and the client checks it like one. An address that cannot be followed
        is named.
        """
        try:
            extracted = await self._extract_best(page, options)
        except KeyholeError as error:
            refresh = find_refresh(page, str(error.facts.get("refresh", ""))) if error.code in TEXTLESS else None
            if followed := await self._follow(page, refresh, options):
                return followed
            if refresh:
                error.facts["refresh"] = str(refresh)
            return await self._render(page, error, options)
        refresh = find_refresh(page, extracted[0].note(REFRESH)) if has_little_text(extracted[0].main) else None
        return await self._follow(page, refresh, options) or extracted

    async def _follow(self, page: Page, refresh: Refresh | None, options: FetchOptions) -> Extracted | None:
        """Return the artifact of the page to which a page sends its reader, None if it leads nowhere.

        The address is a link of the page, so that it counts as known.
        """
        if refresh is None:
            return None
        await remember_urls([refresh.target], self.store)
        if not refresh.is_redirect:
            return None
        with suppress(KeyholeError):
            target = await self._fetch(refresh.target, replace(options, validators=None))
            part = "" if "#" in page.requested_url else "#" + refresh.target.partition("#")[2]
            target = replace(target, requested_url=(page.requested_url + part).rstrip("#"))
            artifact, terms = await self._extract_or_render(target, options)
            notes = (*artifact.notes, (FOLLOWED, refresh.target))
            return replace(artifact, requested_url=page.requested_url.strip(), notes=notes), terms
        return None

    async def _extract_or_render(self, page: Page, options: FetchOptions) -> Extracted:
        try:
            return await self._extract_best(page, options)
        except KeyholeError as error:
            return await self._render(page, error, options)

    async def _render(self, page: Page, error: KeyholeError, options: FetchOptions) -> Extracted:
        """Return the artifact of a page as a browser shows it if it has no text until its scripts run, or raise."""
        if self.renderer is None or not _may_scripts_write_it(page, error):
            raise error
        with stage("browser"):
            rendered = await self.renderer.render(page, options, self._allows_document)
        return await self._extract(rendered)

    async def _allows_document(self, url: str) -> bool:
        """Return whether the policy of URLs allows what a rendered page wants to show: another page, or a frame."""
        try:
            return bool(await check_url_policy(url, self.config, self.store))
        except KeyholeError:
            return False

    async def _extract_best(self, page: Page, options: FetchOptions) -> Extracted:
        """Return the artifact of a page. Its text is the author's Markdown if that exists and is the same text."""
        linked = find_markdown_url(page)
        address = linked or self.markdown_hosts.guess(page)
        if not address:
            return await self._extract(page)
        async with asyncio.TaskGroup() as group:
            fetching = group.create_task(self._markdown(address, options))
            extracted = await self._extract_or_error(page)
        markdown, html = fetching.result(), None if isinstance(extracted, KeyholeError) else extracted[0]
        if not (markdown or linked):
            self.markdown_hosts.reject(address)
        if markdown and markdown[0].notice != UNDIGESTED and is_same_text(markdown[0].text, html.main if html else ""):
            artifact, terms = adopt_markdown(markdown[0], html, page, address), markdown[1]
            if artifact.title != markdown[0].title:
                terms = await asyncio.to_thread(make_words, artifact.title, [artifact.main])
            return replace(artifact, id=artifact_id(self.secret, page.url, artifact.text)), terms
        if isinstance(extracted, KeyholeError):
            raise extracted
        return extracted

    async def _markdown(self, address: str, options: FetchOptions) -> Extracted | None:
        """Return the Markdown at `address` if it arrives in time, complete and from the same origin; None otherwise.

        Its redirects stay with the owner of the page. A site that requests a wait is not waited for.
        """
        try:
            async with asyncio.timeout(min(MARKDOWN_SECONDS, self.config.timeout * MARKDOWN_SHARE)):
                permission = replace(options.permission.narrow(owner_of(address)), deadline=0.0)
                page = await self.fetcher.fetch(address, FetchOptions(permission))
                return await self._extract(page) if is_markdown_of(page, address) else None
        except (KeyholeError, TimeoutError):
            return None

    async def _extract_or_error(self, page: Page) -> Extracted | KeyholeError:
        try:
            return await self._extract(page)
        except KeyholeError as error:
            return error

    async def _extract(self, page: Page) -> Extracted:
        with stage("extract"):
            document, terms = await self.extractor.extract(page)
        current_events().removed[page.url] = document.removed
        kind = document.media_type
        if kind.startswith(_IMAGE) and kind != _SVG:
            # An image has no text to store. The error states its first line, without the text fields of the file, which
            # would stand outside the boundary of untrusted text.
            description = document.text.partition("\n")[0]
            error = KeyholeError(Code.UNSUPPORTED_MEDIA, description.rstrip("."), bytes=len(page.body))
            error.body = page.body, kind
            raise error
        return make_artifact(page, document, artifact_id(self.secret, page.url, document.text)), terms

    async def _recent(self, url: str) -> Artifact | None:
        try:
            with stage("store"):
                return await asyncio.to_thread(self.store.recent, url.strip(), 0.0)
        except KeyholeError:
            return None  # a page can be read without the store

    async def _renew(self, artifact: Artifact, fetched_at: float) -> bool:
        """Set the time of a stored artifact, and return False if it is no longer stored."""
        try:
            return await asyncio.to_thread(self.store.renew, artifact.id, fetched_at)
        except KeyholeError:
            return False

    async def _put(self, artifact: Artifact, terms: str) -> bool:
        """Store the artifact and the URLs of the page; return True if the artifact was stored.

        The URLs are stored under every URL policy, so that the policy `known` can be set later.
        """
        keys = await asyncio.to_thread(hash_page_urls, artifact.url, artifact.text)
        try:
            with stage("store"):
                # A single write, because each write waits for the disk.
                await asyncio.to_thread(self.store.put, artifact, terms, keys)
        except KeyholeError as error:
            if error.message != FORGOTTEN:
                with suppress(KeyholeError):
                    await asyncio.to_thread(self.store.remember, keys)
            return False
        return True


def _may_scripts_write_it(page: Page, error: KeyholeError) -> bool:
    """Return True if a page has no text, and its scripts may write one: also small scripts, which `needs_javascript`
    does not take for an application."""
    has_scripts = "html" in page.content_type.lower() and b"<script" in page.body.lower()
    return error.code is Code.JAVASCRIPT_REQUIRED or (error.code is Code.EMPTY_DOCUMENT and has_scripts)
