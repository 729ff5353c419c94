"""Find the Markdown version of a page: the one that it links to, or the one that its host serves beside each page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal
from urllib.parse import urlsplit

from keyhole.errors import KeyholeError
from keyhole.fetch.urls import parse_target, resolve_url
from keyhole.records import Page
from keyhole.runtime.bounded_dict import BoundedDict
from keyhole.text.invalid_characters import unescape

# Links: `<link rel="alternate">` and the HTTP Link header.
#
# Only URLs on the page's own origin are accepted, so that another site cannot supply this page's text.

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


# Guesses: the address of a Markdown version on hosts that are known to serve one beside each page.
#
# Such a version has the address of the page with `.md` after it (llmstxt.org), or `index.md` in its folder. It is asked
# for only where a host is known to have it: by the mark of a generator that always writes it, by a Link header that
# names an llms.txt, by an llms.txt whose links end in `.md`, or by a version that was read before. A host that lacks it
# once is not asked again.

VersionForm = Literal["suffix", "index", "none"]
"""`suffix`: /a/b and /a/b/ have /a/b.md. `index`: /a/ has /a/index.md. `none`: a guess failed."""

MAX_HOSTS: Final = 500
MIN_LINKS: Final = 3
"""Links of an llms.txt that must end in `.md`; fewer may lead to single files."""
_GENERATORS = re.compile(
    rb"<meta[^<>]{0,200}name=[\"']generator[\"'][^<>]{0,200}content=[\"'](?:GitBook|Mintlify|Fern)\b"
    rb"|<meta[^<>]{0,200}content=[\"'](?:GitBook|Mintlify|Fern)\b[^<>]{0,200}name=[\"']generator[\"']",
    re.IGNORECASE,
)
"""Hosts of documentation that serve each page as Markdown too, as their own documentation says (gitbook.com/docs,
mintlify.com/docs, buildwithfern.com/learn)."""
_LLMS_LINK = re.compile(r"rel=\"?llms-txt\b", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(rb"\]\([^()\s]{1,500}\.md\)")
_EXTENSION = re.compile(r"\.(?!html?$)[A-Za-z0-9]{1,5}$")


class MarkdownHosts:
    """Remembers which hosts serve Markdown versions, and how they are addressed."""

    def __init__(self) -> None:
        self._forms: BoundedDict[str, VersionForm] = BoundedDict(MAX_HOSTS)

    def observe(self, page: Page) -> None:
        """Learn from a response whether its host serves Markdown versions."""
        path = urlsplit(page.url).path
        kind = page.content_type.partition(";")[0].strip().lower()
        if path.endswith("/llms.txt"):
            if len(_MARKDOWN_LINK.findall(page.body[:HEAD_BYTES])) >= MIN_LINKS:
                self._learn(page.url, "suffix")
        elif kind in MARKDOWN_TYPES and path.endswith(".md"):
            self._learn(page.url, "index" if path.endswith("/index.md") else "suffix")
        elif _LLMS_LINK.search(page.link) or _GENERATORS.search(page.body[:HEAD_BYTES]):
            self._learn(page.url, "suffix")

    def guess(self, page: Page) -> str:
        """Return the likely address of an HTML page's Markdown version, "" if its host is not known to have any."""
        parts = urlsplit(page.url)
        if "html" not in page.content_type.lower() or parts.query or _EXTENSION.search(parts.path):
            return ""
        form = self._forms.get(parts.netloc)
        if form == "index" and parts.path.endswith("/"):
            return parts._replace(path=f"{parts.path}index.md").geturl()
        if form == "suffix":
            return parts._replace(path=f"{parts.path.rstrip('/') or '/index'}.md").geturl()
        return ""

    def reject(self, url: str) -> None:
        """Remember that a guessed version does not exist."""
        self._forms[urlsplit(url).netloc] = "none"

    def _learn(self, url: str, form: VersionForm) -> None:
        host = urlsplit(url).netloc
        if self._forms.get(host) != "none":
            self._forms[host] = form
