"""A page whose author also offers it as Markdown: that is asked for beside the reading of the HTML, and used if it is
the same text. Asks once, follows no further alternates, and never takes longer than its patience.

The author's own Markdown has exact code, tables and headings, and nothing of the site around them; but a wrong one
(an index of the site, an error page, another page) would lose the text. So the HTML is always read, and decides.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.fetch.alternate_link import MARKDOWN_TYPES, markdown_alternate
from keyhole.fetch.base import Fetcher
from keyhole.fetch.urls import parse_target
from keyhole.records import MARKDOWN, Artifact, Page

PATIENCE: Final = 5.0
"""Seconds the Markdown may take: it is a small file beside a page that has come already."""

SHARED: Final = 0.7
"""Of the HTML's different words, the share that the Markdown must have: menus that were left in may be missing."""
SHORTEST: Final = 0.8
LONGEST: Final = 3.0
"""Words of the Markdown for each of the HTML: less has lost text, far more is another page or a whole handbook."""
FEW: Final = 30
"""Words. An HTML with fewer is a shell; there is nothing to compare with, and the Markdown must only have more."""

_WORD: Final = re.compile(r"\w{3,}")
_LINK_TARGET: Final = re.compile(r"\]\([^()\s]{0,2000}")
_HTML_STARTS: Final = (b"<!doctype", b"<html", b"<head", b"<body")

Made = tuple[Artifact, str]
"""An artifact and its search terms."""


async def read(
    page: Page,
    fetcher: Fetcher,
    make: Callable[[Page], Awaitable[Made]],
    identify: Callable[[str, str], str],
    deadline: float,
) -> Made:
    """The artifact of a page, from its author's Markdown where that is the same text.

    `make` reads one page, `identify` gives the id of a URL and text, `deadline` is the whole call's, in seconds.
    """
    address = markdown_alternate(page)
    if not address:
        return await make(page)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(_ask(address, fetcher, make, min(PATIENCE, deadline / 4)))
        own = await _attempt(make(page))
    offered = asking.result()
    if offered and stands_for(offered[0].text, "" if isinstance(own, KeyholeError) else own[0].text):
        shown = None if isinstance(own, KeyholeError) else own[0]
        return _adopted(offered[0], shown, page, address, identify), offered[1]
    if isinstance(own, KeyholeError):
        raise own
    return own


def stands_for(markdown: str, own: str) -> bool:
    """Whether a Markdown is the same text as what was read in the HTML."""
    theirs, ours = _words(markdown), _words(own)
    if len(ours) < FEW:
        return len(theirs) >= max(FEW, len(ours))
    # By letters: scripts without spaces have few and long words.
    ratio = sum(map(len, theirs)) / sum(map(len, ours))
    known = set(ours)
    return SHORTEST <= ratio <= LONGEST and len(known & set(theirs)) >= SHARED * len(known)


def _words(text: str) -> list[str]:
    return _WORD.findall(_LINK_TARGET.sub("]", text).lower())


async def _ask(address: str, fetcher: Fetcher, make: Callable[[Page], Awaitable[Made]], patience: float) -> Made | None:
    """What stands at the address if it came in time, whole, from the same origin and as Markdown; else nothing."""
    try:
        async with asyncio.timeout(patience):
            page = await fetcher.fetch(address)
            if not _is_markdown(page) or parse_target(page.url).origin != parse_target(address).origin:
                return None
            return await make(page)
    except (KeyholeError, TimeoutError):
        return None


def _is_markdown(page: Page) -> bool:
    kind = page.content_type.partition(";")[0].strip().lower()
    is_html = page.body[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_STARTS)
    return kind in MARKDOWN_TYPES | {"text/plain"} and not page.cut and not is_html


async def _attempt(making: Awaitable[Made]) -> Made | KeyholeError:
    try:
        return await making
    except KeyholeError as error:
        return error


def _adopted(
    offered: Artifact, own: Artifact | None, page: Page, address: str, identify: Callable[[str, str], str]
) -> Artifact:
    """The Markdown's text under the page's own URL, with what the HTML says of itself.

    It keeps no validators: the page's would not tell when the Markdown changed, and the other way round.
    """
    artifact = replace(
        offered,
        id=identify(page.url, offered.text),
        url=page.url,
        requested_url=page.requested_url.strip(),
        fetched_at=page.fetched_at,
        etag="",
        last_modified="",
        notes=(*offered.notes, (MARKDOWN, address)),
    )
    if own is None:
        return artifact
    return replace(
        artifact,
        title=own.title or offered.title,
        language=own.language or offered.language,
        author=own.author,
        published=own.published,
        modified=own.modified,
        site=own.site,
    )
