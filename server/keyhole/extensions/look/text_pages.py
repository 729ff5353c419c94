"""The pages of stored texts: the list, a text in windows, and a part of a text as rendered Markdown."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.extensions.look.page import (
    MAX_FILTER,
    Look,
    html_response,
    look_of,
    page,
    read_number,
    read_place,
    write_place,
)
from keyhole.extensions.look.text_view import cut_window, read_text, view_window
from keyhole.passages.stems import query_words
from keyhole.records import Artifact, ArtifactSummary, Place
from keyhole.render.answer import caveats
from keyhole.store.base import Store
from keyhole.store.calls.base import CallFilters, CallRecord, Span
from keyhole.store.filters import ArtifactKind, Filters, matches_address
from keyhole.text.markdown import expand_links, find_link_origin
from keyhole.text.output_facts import EXIT_STATUS, is_output, kind_name

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# The list of stored texts: newest first, or those that contain some words.

PER_PAGE: Final = 30
"""Texts on one page of the list."""
BATCH: Final = 500
"""Texts that a filtered list reads at once."""
BATCHES: Final = 10
"""Batches that one page of a filtered list reads: 50 ms. The next page continues after them."""
FOUND: Final = 20
"""Texts that a search shows. The store reads the whole text of each."""
KINDS: Final[tuple[ArtifactKind, ...]] = ("pages", "outputs")


@dataclass(frozen=True, slots=True)
class TextRow:
    """One stored text. The last three are None for a result of a search."""

    id: str
    title: str
    source: str
    """The address of a page; the kind and exit status of an output."""
    chars: int
    fetched_at: float
    last_access: float | None = None
    expires_at: float | None = None
    """Time at which the text expires unless it is read; None if it is pinned or the time is unknown."""
    is_pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class TextGroup:
    """The texts of one address or command on a page of the list."""

    row: TextRow
    """The first one, which is the newest in a list by time."""
    others: tuple[TextRow, ...] = ()


@dataclass(frozen=True, slots=True)
class TextsView:
    """One page of the list of texts."""

    groups: tuple[TextGroup, ...]
    fields: Mapping[str, str]
    """The words, site and kind of the request as fields of an address, without empty ones."""
    older: str = ""
    """The place after which the list continues, "" on the last page and for a search."""


def row_of(summary: ArtifactSummary, ttl: float) -> TextRow:
    """Return the row of an entry of the store's listing. `ttl`: `Look.ttl`, in seconds."""
    return TextRow(
        summary.id,
        summary.title,
        _source(summary.url, dict(summary.notes)),
        summary.chars,
        summary.fetched_at,
        summary.last_access,
        summary.last_access + ttl if ttl and not summary.pinned else None,
        summary.pinned,
    )


def found_row(artifact: Artifact) -> TextRow:
    """Return the row of an artifact that a search found."""
    source = _source(artifact.url, dict(artifact.notes))
    return TextRow(artifact.id, artifact.title, source, len(artifact.text), artifact.fetched_at)


def group_rows(rows: Iterable[tuple[Hashable, TextRow]]) -> tuple[TextGroup, ...]:
    """Return groups in the order of their first rows. `rows`: pairs of the group's key and the row."""
    groups: dict[Hashable, list[TextRow]] = {}
    for shared, row in rows:
        groups.setdefault(shared, []).append(row)
    return tuple(TextGroup(first, tuple(others)) for first, *others in groups.values())


def _shared(url: str, title: str) -> Hashable:
    """Return the key of a text's group: the address of a page, or the kind and the command of an output."""
    return (url, title) if is_output(url) else url


def _source(url: str, notes: dict[str, str]) -> str:
    if not is_output(url):
        return url
    status = notes.get(EXIT_STATUS)
    return f"{kind_name(url)}, exit {status}" if status else kind_name(url)


def list_texts(store: Store, filters: Filters, after: Place | None) -> tuple[list[ArtifactSummary], Place | None]:
    """Return a page of the artifacts that pass the filters, newest first, and the place after which to continue.

    The place is None at the end of the list. A page can be short or empty before that, because its reads are bounded.
    """
    found: list[ArtifactSummary] = []
    size = BATCH if filters else PER_PAGE + 1
    for _ in range(BATCHES):
        rows = store.list(size, after)
        for row in rows:
            if len(found) == PER_PAGE:
                return found, after
            after = row.place
            if matches_address(row.url, filters):
                found.append(row)
        if len(rows) < size:
            return found, None
    return found, after


def read_view(look: Look, query: Mapping[str, str]) -> TextsView:
    """Return the stored texts that a request asks for: the best matches for its words, or the newest without words."""
    given = {name: query.get(name, "").strip()[:MAX_FILTER] for name in ("words", "site", "kind")}
    fields = {name: value for name, value in given.items() if value}
    kind = next((each for each in KINDS if each == given["kind"]), None)
    filters = Filters(sites=(given["site"],) if given["site"] else (), kind=kind)
    if stems := tuple(dict.fromkeys(query_words(given["words"]))):
        texts = look.store.search(stems, FOUND, filters)
        return TextsView(group_rows((_shared(each.url, each.title), found_row(each)) for each in texts), fields)
    rows, after = list_texts(look.store, filters, read_place(query.get("after", "")))
    groups = group_rows((_shared(each.url, each.title), row_of(each, look.ttl)) for each in rows)
    return TextsView(groups, fields, write_place(after) if after else "")


def show_texts(request: Request) -> Response:
    """Answer with the list of stored texts, or with the texts that contain the words of the query."""
    look = look_of(request)
    view = read_view(look, request.query_params)
    place = read_place(request.query_params.get("after", ""))
    back = look.links.page("texts", after=write_place(place) if place else "", **view.fields)
    return page(request, "texts.html", view=view, kinds=KINDS, back=back)


# A stored text in windows, with the passages that a call showed, and the calls that read it.

WINDOW_CHARS: Final = 50_000
"""Characters of a window: some 15 screens, which a browser lays out in a tenth of a second."""
OPENING: Final = 120
"""Characters shown of each of the best matches: a line."""
MAX_CALLS: Final = 20
"""Maximum calls listed that read the text."""


def passages_of(record: CallRecord | None, id: str) -> tuple[Span, ...]:
    """Return the passages of a stored text that a call showed."""
    return tuple(span for text in record.texts if text.id == id for span in text.spans) if record else ()


def quote_of(record: CallRecord | None) -> str:
    """Return the quote that a call looked for, "" if it looked for none."""
    try:
        arguments = json.loads(record.arguments) if record else {}
    except ValueError:  # the arguments were too long to be kept whole
        return ""
    quote = arguments.get("find") if isinstance(arguments, dict) else None
    return quote if isinstance(quote, str) else ""


def find_newer(look: Look, artifact: Artifact) -> str:
    """Return the id of the newest stored text of the same page, "" if this is the newest."""
    newest = look.store.recent(artifact.requested_url, artifact.fetched_at)
    return newest.id if newest and newest.id != artifact.id else ""


def find_row(look: Look, artifact: Artifact) -> TextRow | None:
    """Return the row of a stored text in the list of texts, None if it was deleted in the meantime."""
    # A listing starts after a place. A place with a shorter id is just before the artifact.
    rows = look.store.list(1, (artifact.fetched_at, artifact.id[:-1]))
    return next((row_of(row, look.ttl) for row in rows if row.id == artifact.id), None)


def _text(request: Request) -> Response:
    look, id = look_of(request), request.path_params["id"]
    asked = request.query_params
    record = look.calls.get(asked["call"]) if asked.get("call") else None
    query = asked.get("query", "") or (record.summary.query if record else "")
    start = read_number(asked.get("start", "")) or 0
    text = read_text(look.store, id)
    view = view_window(text, passages_of(record, id), query, start, WINDOW_CHARS, quote_of(record))
    return page(
        request,
        "text.html",
        view=view,
        record=record,
        question=asked.get("query", ""),
        window=WINDOW_CHARS,
        openings=[" ".join(text.read(start, min(end, start + OPENING)).split()) for start, end in view.scores.best],
        caveats=caveats(view.artifact),
        row=find_row(look, view.artifact),
        newer="" if view.is_output else find_newer(look, view.artifact),
        calls=look.calls.calls(MAX_CALLS, CallFilters(text=id)),
    )


# A part of a stored text as Markdown for a sandboxed frame: no script, no request, and nothing to follow. The
# passages that a call showed are marked. HTML in the text stays text. An image is its alternative text, and a link is
# its text with the full URL beside it as a tooltip. The policy of the response forbids the rest: the frame loads
# nothing, and its only style is the one below.

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


routes: Final[Sequence[Route]] = (
    Route("/texts", show_texts),
    Route("/texts/{id}", _text),
    Route("/texts/{id}/rendered", _rendered),
)
