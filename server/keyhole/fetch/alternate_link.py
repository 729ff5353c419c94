"""Find the Markdown version that a page links to, in `<link rel="alternate">` or the HTTP Link header.

Only URLs on the page's own origin are accepted, so that another site cannot supply this page's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keyhole.errors import KeyholeError
from keyhole.fetch.urls import parse_target, resolve_url
from keyhole.records import Page
from keyhole.text.invalid_characters import unescape

MARKDOWN_TYPES: Final = frozenset({"text/markdown", "text/x-markdown"})
HEAD_BYTES: Final = 100_000
"""Bytes of a page searched for links. Links are in the page's head, possibly after long inline style sheets."""
MAX_LINKS: Final = 200
"""Maximum of links examined in the Link header, and the same number in the page."""

_IGNORED_MARKUP: Final = re.compile(
    r"<!--(?:(?!-->).){0,20000}(?:-->)?|<(script|style|template|noscript)\b(?:(?!</\1).){0,100000}", re.S | re.I
)
_BODY: Final = re.compile(r"<body\b|</head\b", re.IGNORECASE)
_TAG: Final = re.compile(r"<(link|base)\b([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"([a-z-]{1,30})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_HEADER_LINK: Final = re.compile(r"<([^<>]{1,2000})>([^<>]{0,2000})")
_LLMS_INDEX: Final = re.compile(r"/llms[^/]*\.(?:txt|md)$", re.IGNORECASE)


def find_markdown_url(page: Page) -> str:
    """Return the absolute URL of an HTML page's Markdown version, or "".

    A link to the site's llms.txt is skipped: it is an index of the site, not a version of the page.
    """
    media_type = page.content_type.partition(";")[0].strip().lower()
    if media_type not in {"text/html", "application/xhtml+xml"}:
        return ""
    try:
        page_target = parse_target(page.url)
    except KeyholeError:
        return ""
    for href in (*_http_header_links(page.link), *_html_head_links(page.body)):
        try:
            target = resolve_url(page_target, href)
        except KeyholeError:
            continue
        path = target.path.partition("?")[0]
        if target.origin == page_target.origin and target.url != page_target.url and not _LLMS_INDEX.search(path):
            return target.url
    return ""


def _http_header_links(header: str) -> Iterator[str]:
    for number, match in enumerate(_HEADER_LINK.finditer(header)):
        if number >= MAX_LINKS:
            return
        if _is_markdown_alternate(_attributes(match[2])):
            yield match[1].strip()


def _html_head_links(body: bytes) -> Iterator[str]:
    head = _IGNORED_MARKUP.sub(" ", body[:HEAD_BYTES].decode("utf-8", "replace"))
    end = _BODY.search(head)
    for number, match in enumerate(_TAG.finditer(head, 0, end.start() if end else len(head))):
        attributes = _attributes(match[2])
        # A <base> makes links relative to another URL than the page's, so links after it are not used.
        if number >= MAX_LINKS or (match[1].lower() == "base" and "href" in attributes):
            return
        if _is_markdown_alternate(attributes) and attributes.get("href", "").strip():
            yield attributes["href"].strip()


def _attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        attributes.setdefault(match[1].lower(), unescape(match[2] or match[3] or match[4] or ""))
    return attributes


def _is_markdown_alternate(attributes: dict[str, str]) -> bool:
    """Return True for a link to the same text as Markdown. A link with `hreflang` leads to a translation."""
    media_type = attributes.get("type", "").partition(";")[0].strip().lower()
    return (
        "alternate" in attributes.get("rel", "").lower().split()
        and media_type in MARKDOWN_TYPES
        and "hreflang" not in attributes
    )
