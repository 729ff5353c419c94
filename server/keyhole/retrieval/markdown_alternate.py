"""Decide whether the author's Markdown of a page can replace the text of its HTML, and make the artifact from it.

The author's Markdown has exact code, tables and headings, and no menus. But a wrong file (an index of the site, an
error page, another page) would lose the text. So the HTML is always extracted too, and the two texts are compared.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from keyhole.fetch.markdown_versions import MARKDOWN_TYPES
from keyhole.fetch.urls import parse_target
from keyhole.records import MARKDOWN, REST, Artifact, Page
from keyhole.text.sections import SECTION

MIN_SHARED_WORDS: Final = 0.7
"""Share of the HTML's different words that the Markdown must contain. Menus left in the HTML may be missing."""
MIN_RATIO: Final = 0.8
MAX_RATIO: Final = 3.0
"""Letters of the Markdown for each letter of the HTML. With fewer, text is missing; with far more, the Markdown is
another page or a handbook."""
MIN_WORDS: Final = 30
"""HTML with fewer words is a shell that scripts fill. It is not compared; the Markdown only has to be longer."""

_WORD: Final = re.compile(r"\w{3,}")
_LINK_TARGET: Final = re.compile(r"\]\([^()\s]{0,2000}")
_HTML_STARTS: Final = (b"<!doctype", b"<html", b"<head", b"<body")


def is_markdown_of(page: Page, address: str) -> bool:
    """Return True if the response for `address` is complete Markdown from the same origin."""
    kind = page.content_type.partition(";")[0].strip().lower()
    is_html = page.body[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_STARTS)
    same_origin = parse_target(page.url).origin == parse_target(address).origin
    return kind in MARKDOWN_TYPES | {"text/plain"} and not page.cut and not is_html and same_origin


def is_same_text(markdown: str, html_text: str) -> bool:
    """Return True if the Markdown contains the text that was extracted from the HTML, and not much more."""
    theirs, ours = _words(markdown), _words(html_text)
    if len(ours) < MIN_WORDS:
        return len(theirs) >= max(MIN_WORDS, len(ours))
    # Letters are counted, not words, because scripts without spaces have few and long words.
    ratio = sum(map(len, theirs)) / sum(map(len, ours))
    known = set(ours)
    return MIN_RATIO <= ratio <= MAX_RATIO and len(known & set(theirs)) >= MIN_SHARED_WORDS * len(known)


def adopt_markdown(markdown: Artifact, html: Artifact | None, page: Page, address: str) -> Artifact:
    """Return the artifact of the page with the text of the Markdown, and the metadata and the rest of the HTML.

    The artifact has no validators, because the page and its Markdown can change independently. Its id is that of the
    Markdown alone.
    """
    artifact = replace(
        markdown,
        url=page.url,
        requested_url=page.requested_url.strip(),
        fetched_at=page.fetched_at,
        etag="",
        last_modified_header="",
        notes=(*markdown.notes, (MARKDOWN, address)),
    )
    if html is None:
        return artifact
    artifact = replace(artifact, notes=(*artifact.notes, *((SECTION, each) for each in [html.note(SECTION)] if each)))
    if html.main_end is not None:
        main = f"{markdown.text.rstrip()}\n"
        rest = tuple((name, value) for name, value in html.notes if name == REST)
        artifact = replace(
            artifact, text=main + html.text[html.main_end :], main_end=len(main), notes=(*artifact.notes, *rest)
        )
    return replace(
        artifact,
        title=html.title or markdown.title,
        language=html.language or markdown.language,
        author=html.author,
        published=html.published,
        modified=html.modified,
        site=html.site,
    )


def _words(text: str) -> list[str]:
    """Return the words of a text, without the targets of links."""
    return _WORD.findall(_LINK_TARGET.sub("]", text).lower())
