"""Render a part of a stored text as Markdown for a sandboxed frame: no script, no request, and nothing to follow.

The passages that a call showed are marked.

HTML in the text stays text. An image is its alternative text, and a link is its text with the full URL beside it as
a tooltip. The policy of the response forbids the rest: the frame loads nothing, and its only style is the one below.
"""

from __future__ import annotations

import base64
import hashlib
import re
from bisect import bisect_right
from collections.abc import MutableMapping, Sequence, Set
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.fields import read_number
from keyhole.extensions.look.page import html_response, look_of
from keyhole.extensions.look.text_page import WINDOW_CHARS, passages_of
from keyhole.extensions.look.text_view.marks import Span
from keyhole.extensions.look.text_view.view import cut_window, read_text
from keyhole.text.markdown import expand_links, find_link_origin

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING: Final = 20
"""Levels of quotes and lists within each other. Deeper ones are shown as text; each costs a level of Python's stack."""
MARKED: Final = frozenset({"paragraph_open", "heading_open", "tr_open", "fence", "code_block"})
"""The blocks that are marked. Lists, quotes and tables consist of them."""
STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.55 system-ui,sans-serif;margin:1rem;max-width:45rem;overflow-wrap:anywhere;"
    "color:CanvasText;background:Canvas}"
    "p,li,h1,h2,h3,h4,h5,h6,td,th{unicode-bidi:plaintext}"
    "h1{font-size:1.5rem}h2{font-size:1.3rem}h3,h4,h5,h6{font-size:1.1rem}"
    "pre{white-space:pre-wrap;padding:.6rem;border:1px solid GrayText;border-radius:4px}"
    "code,pre{font-family:ui-monospace,monospace;font-size:.9em}"
    "blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid GrayText}"
    "table{border-collapse:collapse}"
    "td,th{border:1px solid GrayText;padding:.2rem .5rem;overflow-wrap:break-word}"
    "@media(max-width:30rem){td,th{overflow-wrap:anywhere}}"
    ".shown{background:#fff1b8;color:#3d2f00}"
    "@media(prefers-color-scheme:dark){.shown{background:#564710;color:#fff3c4}}"
    ".link{text-decoration:underline dotted}.image{font-style:italic}"
)
"""The style of the frame, in the colours of the browser's light or dark theme."""
POLICY: Final = (
    "default-src 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    + "'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""The frame's content security policy."""
UNKNOWN_LANGUAGE: Final = "und"
"""The BCP 47 tag of a language that is not known: WCAG 3.1.1 asks for a tag in every document."""


def render_document(text: str, title: str, language: str = "", marked: Set[int] = frozenset()) -> str:
    """Return an HTML document with a Markdown text.

    `language`: the BCP 47 tag of the text, "" if it is unknown. `marked`: the numbers from 0 of lines; their blocks are
    marked.
    """
    markdown = _markdown()
    tokens = markdown.parse(text)
    _mark_blocks(tokens, marked)
    body = markdown.renderer.render(tokens, markdown.options, {})
    return (
        f'<!doctype html><html lang="{escape(language or UNKNOWN_LANGUAGE)}"><head>'
        f"<meta charset=utf-8><title>{escape(title)}</title>"
        f"<style>{STYLE}</style></head><body><main>{body}</main></body></html>"
    )


def lines_of(text: str, spans: Sequence[Span]) -> set[int]:
    """Return the numbers from 0 of the lines into which ranges of a text reach."""
    starts = [0, *(place.end() for place in re.finditer("\n", text))]
    return {
        line
        for start, end in spans
        if start < end
        for line in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1))
    }


def _mark_blocks(tokens: Sequence[Token], lines: Set[int]) -> None:
    """Mark the smallest blocks on some lines, such as paragraphs, rows and items; the first one is `#shown`."""
    blocks = [
        # A paragraph of a list without blank lines has no element of its own.
        tokens[number - 1] if token.hidden else token
        for number, token in enumerate(tokens)
        if token.type in MARKED and token.map and not lines.isdisjoint(range(*token.map))
    ]
    for block in blocks:
        block.attrSet("class", "shown")
    for block in blocks[:1]:
        block.attrSet("id", "shown")


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    rules: MutableMapping[str, Any] = markdown.renderer.rules  # type: ignore[attr-defined]
    rules["image"] = _render_image
    rules["link_open"] = _open_link
    rules["link_close"] = _close_link
    return markdown


def _render_image(tokens: Sequence[Token], index: int, *_: object) -> str:
    words = tokens[index].content.strip()
    return f'<span class="image">[image{": " + escape(words) if words else ""}]</span>'


def _open_link(tokens: Sequence[Token], index: int, *_: object) -> str:
    return f'<span class="link" title="{escape(str(tokens[index].attrGet("href") or ""))}">'


def _close_link(*_: object) -> str:
    return "</span>"


def _rendered(request: Request) -> Response:
    look, query = look_of(request), request.query_params
    text = read_text(look.store, request.path_params["id"])
    start, end = cut_window(text, read_number(query.get("start", "")) or 0, WINDOW_CHARS)
    artifact, window = text.artifact, text.read(start, end)
    record = look.calls.get(query["call"]) if query.get("call") else None
    spans = [(max(first, start) - start, min(last, end) - start) for first, last in passages_of(record, artifact.id)]
    markdown = expand_links(window, find_link_origin(artifact.url, artifact.media_type))
    html = render_document(markdown, artifact.title or "Untitled", artifact.language, lines_of(window, spans))
    return html_response(html, headers={"Content-Security-Policy": POLICY})


routes: Final[Sequence[Route]] = (Route("/texts/{id}/rendered", _rendered),)
