"""Where a page says that its author's own Markdown is: `<link rel="alternate">` or the Link header. Pure.

Only a place on the page's own origin counts: another site must not be able to speak for this one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.fetch.urls import parse_target, redirect_target
from keyhole.records import Page

MARKDOWN_TYPES: Final = frozenset({"text/markdown", "text/x-markdown"})
HEAD_BYTES: Final = 100_000
"""Bytes of a page in which links are looked for: they stand in its head, after style sheets at worst."""
MAX_LINKS: Final = 200
"""Links looked at, of the header and of the page each."""

_NOT_OF_THE_PAGE: Final = re.compile(
    r"<!--(?:(?!-->).){0,20000}(?:-->)?|<(script|style|template|noscript)\b(?:(?!</\1).){0,100000}", re.S | re.I
)
_BODY: Final = re.compile(r"<body\b|</head\b", re.IGNORECASE)
_TAG: Final = re.compile(r"<(link|base)\b([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"([a-z-]{1,30})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_HEADER_LINK: Final = re.compile(r"<([^<>]{1,2000})>([^<>]{0,2000})")
_INDEX: Final = re.compile(r"/llms[^/]*\.(?:txt|md)$", re.IGNORECASE)


def markdown_alternate(page: Page) -> str:
    """The absolute URL of a page's Markdown, or "": no page but HTML has one, and a site's llms.txt is none."""
    kind = page.content_type.partition(";")[0].strip().lower()
    if kind not in {"text/html", "application/xhtml+xml"}:
        return ""
    try:
        own = parse_target(page.url)
    except KeyholeError:
        return ""
    for href in (*_in_header(page.link), *_in_head(page.body)):
        try:
            target = redirect_target(own, href)
        except KeyholeError:
            continue
        if target.origin == own.origin and target.url != own.url and not _INDEX.search(target.path.partition("?")[0]):
            return target.url
    return ""


def _in_header(header: str) -> Iterator[str]:
    for number, match in enumerate(_HEADER_LINK.finditer(header)):
        if number >= MAX_LINKS:
            return
        if _is_alternate(_attributes(match[2])):
            yield match[1].strip()


def _in_head(body: bytes) -> Iterator[str]:
    head = _NOT_OF_THE_PAGE.sub(" ", body[:HEAD_BYTES].decode("utf-8", "replace"))
    end = _BODY.search(head)
    for number, match in enumerate(_TAG.finditer(head, 0, end.start() if end else len(head))):
        attributes = _attributes(match[2])
        # A base would lead elsewhere than the page: such a page keeps its HTML.
        if number >= MAX_LINKS or (match[1].lower() == "base" and "href" in attributes):
            return
        if _is_alternate(attributes) and attributes.get("href", "").strip():
            yield attributes["href"].strip()


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        found.setdefault(match[1].lower(), html.unescape(match[2] or match[3] or match[4] or ""))
    return found


def _is_alternate(attributes: dict[str, str]) -> bool:
    """A translation (`hreflang`) is another text."""
    kind = attributes.get("type", "").partition(";")[0].strip().lower()
    return (
        "alternate" in attributes.get("rel", "").lower().split()
        and kind in MARKDOWN_TYPES
        and "hreflang" not in attributes
    )
