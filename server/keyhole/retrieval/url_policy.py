"""Whether a URL may be asked for under the operator's policies, with what the store remembers. No fetching here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.domains import url_allowed
from keyhole.fetch.known_urls import canonical, configured, key, keys
from keyhole.records import Hit, SearchRequest
from keyhole.store.base import Store
from keyhole.text.sites import allowed_by_sites


async def permitted(url: str, config: Config, store: Store) -> str:
    """The URL as it may be asked for: in its one spelling where the policy is `known`.

    Raises KeyholeError: url_not_known, and what parsing a URL raises.
    """
    if config.url_policy != "known":
        return url
    url = canonical(url)
    if configured(url, config.known_urls):
        return url
    try:
        known = await asyncio.to_thread(store.remembers, key(url))
    except KeyholeError as error:
        raise KeyholeError(Code.URL_NOT_KNOWN, "the store of known URLs cannot be read") from error
    if not known:
        raise KeyholeError(Code.URL_NOT_KNOWN, "no search result and no fetched page contained this URL")
    return url


async def remember_urls(urls: Iterable[str], store: Store) -> None:
    """Make search results known."""
    with suppress(KeyholeError):
        await asyncio.to_thread(store.remember, keys(urls))


def wanted(hit: Hit, request: SearchRequest, config: Config) -> bool:
    """Whether a search result lies on a site that the call and the operator let be fetched."""
    return allowed_by_sites(hit.url, request) and url_allowed(hit.url, config.allow_domains, config.deny_domains)
