"""Pieces of Markdown that several readers write: fences, tables, lower headings, HTML fragments. Reads no format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from keyhole.text.escape import escaped

_BACKTICKS = re.compile(r"`{3,}")
_FENCE_LINE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING_MARKS = re.compile(r"#{1,6}(?=[ \t])")
_CELL_BREAKS = re.compile(r"[ \t]*[\r\n\x0b\x0c\x85\u2028\u2029]+[ \t]*")
_HAS_MARKUP = re.compile(r"<[a-zA-Z/!?]|&#?\w{1,32};")


def fenced(text: str, language: str) -> str:
    """A code block under a fence that the text does not contain; ends with a line break."""
    fence = "`" * (max((len(ticks) for ticks in _BACKTICKS.findall(text)), default=2) + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}\n"


def table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a Markdown table of plain texts; the first row is its header, widened to the widest row.

    Short rows are not filled up: one row of a thousand cells would make every other row as long.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    width = max(map(len, cells), default=0)
    if not width:
        return
    header = cells[0] + [""] * (width - len(cells[0]))
    yield _row(header)
    yield _row(["---"] * width)
    for row in cells[1:]:
        yield _row(row)


def _cell(value: str) -> str:
    return _CELL_BREAKS.sub("<br>", escaped(value.strip())).replace("\\|", "|").replace("|", "\\|")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def lowered(markdown: str, levels: int) -> str:
    """The same Markdown with its headings `levels` lower, so that they stand under one of ours; code is left alone."""
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


def one_line(text: str, limit: int = 300) -> str:
    """Text with its white space made single spaces, at most `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def html_fragment(html: str, base_url: str) -> str:
    """A piece of HTML inside another format, as Markdown without a line break at its end."""
    if not _HAS_MARKUP.search(html):
        return escaped(html.strip())
    from keyhole.extract.html.converter import to_markdown
    from keyhole.extract.html.prune import prune
    from keyhole.extract.html.tree import parse

    root = parse(html)
    prune(root)
    return to_markdown(root, base_url).strip("\n")
