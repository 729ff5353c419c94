"""Render a part of a stored text as Markdown for a sandboxed frame: no script, no request, and nothing to follow.

HTML in the text stays text. An image is its alternative text, and a link is its text with the full URL beside it as
a tooltip. The policy of the response forbids the rest: the frame loads nothing, and its only style is the one below.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.serve.look.fields import read_number
from keyhole.serve.look.page import html_response, look_of
from keyhole.serve.look.text_page import WINDOW_CHARS
from keyhole.serve.text_view.view import cut_window, read_text
from keyhole.text.links import expand_links, find_link_origin

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING: Final = 20
"""Levels of quotes and lists within each other. Deeper ones are shown as text; each costs a level of Python's stack."""
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


def render_document(text: str, title: str, language: str = "") -> str:
    """Return an HTML document with a Markdown text. `language`: the BCP 47 tag of the text, "" if it is unknown."""
    return (
        f'<!doctype html><html lang="{escape(language or UNKNOWN_LANGUAGE)}"><head>'
        f"<meta charset=utf-8><title>{escape(title)}</title>"
        f"<style>{STYLE}</style></head><body><main>{_markdown().render(text)}</main></body></html>"
    )


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
    text = read_text(look_of(request).store, request.path_params["id"])
    start, end = cut_window(text, read_number(request.query_params.get("start", "")) or 0, WINDOW_CHARS)
    artifact = text.artifact
    markdown = expand_links(text.read(start, end), find_link_origin(artifact.url, artifact.media_type))
    html = render_document(markdown, artifact.title or "Untitled", artifact.language)
    return html_response(html, headers={"Content-Security-Policy": POLICY})


routes: Final[Sequence[Route]] = (Route("/texts/{id}/rendered", _rendered),)
