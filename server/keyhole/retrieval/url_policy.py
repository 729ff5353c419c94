"""Check URLs against the operator's policies: known URLs, allowed and denied domains."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.domains import is_url_allowed
from keyhole.fetch.known_urls import canonicalize, hash_url, hash_urls, is_listed
from keyhole.records import Hit, SearchRequest
from keyhole.store.base import Store
from keyhole.text.sites import is_allowed_by_sites


async def check_url_policy(url: str, config: Config, store: Store) -> str:
    """Return the URL to fetch. Under the policy `known` it is the canonical URL.

    Raises KeyholeError: url_not_known, or an error of parsing the URL.
    """
    if config.url_policy != "known":
        return url
    url = canonicalize(url)
    if is_listed(url, config.known_urls):
        return url
    try:
        is_known = await asyncio.to_thread(store.remembers, hash_url(url))
    except KeyholeError as error:
        raise KeyholeError(Code.URL_NOT_KNOWN, "the store of known URLs cannot be read") from error
    if not is_known:
        raise KeyholeError(Code.URL_NOT_KNOWN, "no search result and no fetched page contained this URL")
    return url


async def remember_urls(urls: Iterable[str], store: Store) -> None:
    """Store the URLs of search results as known. A store that fails is ignored."""
    with suppress(KeyholeError):
        await asyncio.to_thread(store.remember, hash_urls(urls))


def is_wanted(hit: Hit, request: SearchRequest, config: Config) -> bool:
    """Return True if a search result is on a site that the call and the operator allow."""
    return is_allowed_by_sites(hit.url, request) and is_url_allowed(hit.url, config.allow_domains, config.deny_domains)
