"""From a URL to an artifact: a stored one that is fresh, or the page fetched, read and kept. Words nothing.

The network, the reader of pages and the store are ports.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.base import Extractor
from keyhole.fetch.base import Fetcher, Terms
from keyhole.fetch.known_urls import keys_of
from keyhole.fetch.validators import NOT_MODIFIED
from keyhole.records import Artifact, Page
from keyhole.retrieval import markdown_alternate
from keyhole.retrieval.artifact import artifact_of, follow, validators
from keyhole.retrieval.instrumentation import add, stage
from keyhole.store.base import Clock, Store, artifact_id

AFTER_READING: Final = 3.0
"""Seconds kept of a call's deadline for what follows the reading of a page: saving the undigested text of one that
could not be read in time, keeping it and choosing passages. It takes less than one, ten times at once a few."""
AFTER_SHARE: Final = 1 / 5
"""Of what was left of it when the page was begun, where that is less."""
_PICTURE: Final = "image/"
_DRAWING: Final = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of the web as artifacts, over the ports that this needs."""

    config: Config
    fetcher: Fetcher
    extractor: Extractor
    store: Store
    secret: bytes
    clock: Clock

    async def get(self, url: str, refresh: bool, terms: Terms) -> tuple[Artifact, bool]:
        """The artifact of a URL and whether it is kept. Raises KeyholeError as fetching and reading do."""
        after = min(AFTER_READING, (terms.until - asyncio.get_running_loop().time()) * AFTER_SHARE)
        known = await self._recent(url)
        if known and not terms.permits(known.url):
            known = None
        if known and not refresh and known.fetched_at >= self.clock() - self.config.freshness:
            return known, True
        self.extractor.warm()
        page = await self._fetched(url, replace(terms, known=validators(known)))
        if known and page.status == NOT_MODIFIED:
            if await self._renew(known, page.fetched_at):
                return replace(known, fetched_at=page.fetched_at), True
            page = await self._fetched(url, terms)  # what was asked about is gone: once more, for the text itself
        identify = partial(artifact_id, self.secret)
        made = partial(self._made, until=terms.until - after)
        artifact, words = await markdown_alternate.read(page, self.fetcher, made, identify, self.config.timeout)
        if known:
            artifact = await asyncio.to_thread(follow, artifact, known)
        return artifact, await self._keep(artifact, words)

    async def _fetched(self, url: str, terms: Terms) -> Page:
        with stage("fetch"):
            page = await self.fetcher.fetch(url, terms)
        add("bytes_in", len(page.body))
        return page

    async def _made(self, page: Page, until: float) -> tuple[Artifact, str]:
        with stage("extract"):
            document, words = await self.extractor.extract(page, until)
        kind = document.media_type
        if kind.startswith(_PICTURE) and kind != _DRAWING:
            # A description of a picture is no text to read in or to keep: it is why there is none.
            described = " ".join(document.text.split())
            raise KeyholeError(Code.UNSUPPORTED_MEDIA, described.rstrip("."), bytes=len(page.body))
        return artifact_of(page, document, artifact_id(self.secret, page.url, document.text)), words

    async def _recent(self, url: str) -> Artifact | None:
        try:
            with stage("store"):
                return await asyncio.to_thread(self.store.recent, url.strip(), 0.0)
        except KeyholeError:
            return None  # a store that fails must not keep a page from being read

    async def _renew(self, artifact: Artifact, fetched_at: float) -> bool:
        try:
            return await asyncio.to_thread(self.store.renew, artifact.id, fetched_at)
        except KeyholeError:
            return False

    async def _keep(self, artifact: Artifact, words: str) -> bool:
        """Whether it is kept. It and its links become known under every policy, so that `known` can be set later."""
        keys = await asyncio.to_thread(keys_of, artifact.url, artifact.text)
        try:
            with stage("store"):
                # In one write, as the disk is waited for at each.
                await asyncio.to_thread(self.store.put, artifact, words, keys)
        except KeyholeError:
            with suppress(KeyholeError):
                await asyncio.to_thread(self.store.remember, keys)
            return False
        return True
