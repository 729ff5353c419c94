"""Write Markdown for the format readers: code blocks, tables, headings and converted HTML fragments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from keyhole.text.escape import escape_markdown

_BACKTICKS = re.compile(r"`{3,}")
_FENCE_LINE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING_MARKS = re.compile(r"#{1,6}(?=[ \t])")
_CELL_BREAKS = re.compile(r"(?:(?<![ \t])[ \t]++)?[\r\n\x0b\x0c\x85\u2028\u2029]++[ \t]*+")
_HAS_MARKUP = re.compile(r"<[a-zA-Z/!?]|&#?\w{1,32};")


class Markdown(str):
    """A text that is Markdown already, in a table of plain texts."""

    __slots__ = ()


def write_link(text: str, address: str) -> Markdown:
    """Return a link. `text`: plain text on one line."""
    return Markdown(f"[{escape_markdown(text)}]({f'<{address}>' if set(' ()') & set(address) else address})")


def fence_code(text: str, language: str) -> str:
    """Return the text as a code block that ends with a line break. The fence is longer than any in the text."""
    fence = "`" * (max((len(ticks) for ticks in _BACKTICKS.findall(text)), default=2) + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}\n"


def format_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table of plain texts. The first row is the header, padded to the widest row.

    Shorter rows are not padded: one row of a thousand cells would make every other row as long.
    """
    cells = [[_format_cell(value) for value in row] for row in rows]
    width = max(map(len, cells), default=0)
    if not width:
        return ""
    header = cells[0] + [""] * (width - len(cells[0]))
    return "".join(map(_format_row, (header, ["---"] * width, *cells[1:])))


def format_records(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of plain texts as Markdown sections, one for each row below the header.

    A section is headed by the first cell of its row, and lists each cell that has text after the name of its column.
    """
    width = max(map(len, rows))
    names = [_format_cell(name) for name in rows[0]]
    names = [name or f"column {place}" for place, name in enumerate(names + [""] * (width - len(names)), start=1)]
    parts = [f"{len(rows) - 1:,} rows with {width} columns. Cells without text are left out.\n"]
    for number, row in enumerate(rows[1:], start=1):
        cells = [_format_cell(cell) for cell in row]
        lines = [f"- {name}: {cell}\n" for name, cell in zip(names, cells, strict=False) if cell]
        parts.append(f"\n## {to_one_line(cells[0]) or f'Row {number:,}'}\n\n{''.join(lines)}")
    return "".join(parts)


def _format_cell(value: str) -> str:
    text = value if isinstance(value, Markdown) else escape_markdown(value.strip())
    return _CELL_BREAKS.sub("<br>", text).replace("\\|", "|").replace("|", "\\|")


def _format_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def lower_headings(markdown: str, levels: int) -> str:
    """Lower the headings of a Markdown text by `levels`, so that they fit under an enclosing heading.

    Code blocks are unchanged.
    """
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE_LINE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and (heading := _HEADING_MARKS.match(line)):
            line = "#" * min(6, len(heading[0]) + levels) + line[heading.end() :]
        lines.append(line)
    return "\n".join(lines)


def to_one_line(text: str, limit: int = 300) -> str:
    """Return the text with white space collapsed to single spaces, truncated to `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def fragment_to_markdown(html: str, base: str, address: str = "") -> str:
    """Convert an HTML fragment, such as the content of a feed entry, to Markdown without a final line break.

    `base` and `address`: as in `LinkResolver`.
    """
    if not _HAS_MARKUP.search(html):
        return escape_markdown(html.strip())
    from keyhole.extract.html.page import html_to_markdown  # lxml is imported on first use

    return html_to_markdown(html, base, address).strip("\n")
