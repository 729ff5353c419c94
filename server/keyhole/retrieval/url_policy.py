"""Check URLs before they are fetched: paths without a site, the policies of known URLs and of domains."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.addresses import is_url_allowed
from keyhole.fetch.urls import canonicalize, hash_url, hash_urls, is_listed
from keyhole.records import Hit, SearchRequest
from keyhole.retrieval.session import Session
from keyhole.store.base import Store
from keyhole.text.markdown import find_origin
from keyhole.text.sites import is_allowed_by_sites

MAX_SITES: Final = 3
"""Sites that the error for a path names if several have it. More are no help for choosing."""


async def check_url_policy(url: str, config: Config, store: Store, session: Session | None = None) -> str:
    """Return the URL to fetch. Under the policy `known` it is the canonical URL.

    Raises KeyholeError: invalid_url for a path, with the full URL if the pages of the session make it unique;
    url_not_known, or an error of parsing the URL.
    """
    if url.startswith("/") and not url.startswith("//"):
        raise await asyncio.to_thread(_path_error, url, store, session)
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


def _path_error(path: str, store: Store, session: Session | None) -> KeyholeError:
    """Return the error for a URL that is only a path, as links to a page's own origin are written.

    Every link of a page is remembered, so for a path from a page of the session, the URL with the origin of that page
    is known. The error names addresses of pages and the caller's own path, but no text that a page wrote.
    """
    message = "the URL is a path without its site"
    origins = dict.fromkeys(find_origin(_page_address(id, store)) for id in (session.ids() if session else ()))
    sites = [origin for origin in origins if origin and _is_known(origin + path, store)]
    if len(sites) == 1:
        return KeyholeError(Code.INVALID_URL, f"{message}; a page of this session links to it", url=sites[0] + path)
    if sites:
        named = ", ".join(sites[:MAX_SITES])
        message += f"; pages of this session link to it on {len(sites)} sites, such as {named}"
    return KeyholeError(Code.INVALID_URL, message)


def _page_address(id: str, store: Store) -> str:
    try:
        return store.part(id, 0, 0).artifact.url
    except KeyholeError:  # the text was deleted since
        return ""


def _is_known(url: str, store: Store) -> bool:
    try:
        return store.remembers(hash_url(canonicalize(url)))
    except KeyholeError:
        return False


async def remember_urls(urls: Iterable[str], store: Store) -> None:
    """Store the URLs of search results as known. A store that fails is ignored."""
    with suppress(KeyholeError):
        await asyncio.to_thread(store.remember, hash_urls(urls))


def is_wanted(hit: Hit, request: SearchRequest, config: Config) -> bool:
    """Return True if a search result is on a site that the call and the operator allow."""
    return is_allowed_by_sites(hit.url, request) and is_url_allowed(hit.url, config.allow_domains, config.deny_domains)
