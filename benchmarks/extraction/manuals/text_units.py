"""Read the units of a Markdown text: table rows, code blocks, headings, list items and paragraphs, with markdown-it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from benchmarks.extraction.manuals.page_parts import make_cell_key, make_key, trim_lines

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").use(deflist_plugin).use(footnote_plugin)

_SUPERSCRIPT = re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)")
"""A superscript of several words, which has parentheses in Markdown only."""
_NOTE_SIGN = re.compile(r"^(\[\^[^\]]+\]):")
"""The label of a footnote in a cell, which has a colon in Markdown only."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A table row, code block, heading or paragraph of a Markdown text."""

    kind: str
    """`row`, `code`, `heading` or `text`."""
    key: str
    """Its text without spaces and Markdown; see `make_key`."""
    cells: tuple[str, ...] = ()
    """The keys of a row's cells, without empty cells."""
    lines: tuple[str, ...] = ()
    """The keys of the lines of a row's cells."""
    code: str = ""
    """The lines of a code block, or of a row's cells."""
    number: str = ""
    """The number in front of an item of an ordered list."""
    item: bool = False
    """True for the first line of a list item."""


def read_units(markdown: str) -> list[Unit]:
    """Return the units of a Markdown text in order."""
    return list(_iter_units(_PARSER.parse(markdown)))


def _iter_units(tokens: Sequence[Token]) -> Iterator[Unit]:
    item: Token | None = None  # the list item whose first line follows
    heading = False
    cells: list[str] = []
    in_row = False
    for token in tokens:
        match token.type:
            case "list_item_open" | "list_item_close":
                item = token if token.nesting == 1 else None
            case "heading_open" | "heading_close":
                heading = token.nesting == 1
            case "tr_open":
                cells, in_row = [], True
            case "tr_close":
                yield _make_row(cells)
                in_row = False
            case "fence" | "code_block":
                code = trim_lines(token.content)
                yield Unit("code", make_key(code), code=code)
            case "footnote_open":
                yield Unit("text", make_key(str(token.meta.get("label", ""))))
            case "inline" if in_row:
                cells.append(_read_inline(token))
            case "inline":
                yield from _make_lines(token, "heading" if heading else "text", item)
                item = None


def _make_lines(token: Token, kind: str, item: Token | None) -> Iterator[Unit]:
    number = item.info + item.markup if item and item.info else ""
    for line_number, line in enumerate(_split_title(token)):
        yield Unit(kind, make_key(line), number=number, item=item is not None and line_number == 0)


def _split_title(token: Token) -> list[str]:
    """Return the text of a paragraph, without its first line if that is bold: the title of an admonition."""
    text = _read_inline(token)
    kinds = [child.type for child in token.children or [] if child.type != "text" or child.content]
    end = kinds.index("strong_close") + 1 if kinds[:1] == ["strong_open"] else len(kinds)
    return text.split("\n", 1) if kinds[end : end + 1] == ["softbreak"] else [text]


def _make_row(cells: Sequence[str]) -> Unit:
    lines = [[make_cell_key(_NOTE_SIGN.sub(r"\1", line)) for line in cell.split("<br>")] for cell in cells]
    keys = ["".join(of_cell) for of_cell in lines]
    return Unit(
        "row",
        "".join(keys),
        cells=tuple(filter(None, keys)),
        lines=tuple(filter(None, chain(*lines))),
        code=trim_lines("\n".join(cells).replace("<br>", "\n")),
    )


def _read_inline(token: Token) -> str:
    """Return the text of a line without the descriptions of images and the addresses of links."""
    parts = []
    for child in token.children or []:
        if child.type in {"text", "code_inline"}:
            parts.append(child.content)
        elif child.type == "footnote_ref":
            parts.append(str(child.meta.get("label", "")))
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
    return _SUPERSCRIPT.sub(r"\1", "".join(parts))
