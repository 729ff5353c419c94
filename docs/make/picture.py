"""Draw the pictures of a long text that goes in and its passages that come out: `python docs/make/picture.py`.

docs/shots/answer.svg shows a real call on a recorded page, docs/shots/output.svg a real test run of the benchmark; the
files whose names end in -narrow.svg show the same for a phone. The same result gives the same file.
"""

from __future__ import annotations

import asyncio
import sys
import textwrap
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.documentation import (  # noqa: E402 - found through the line above
    OUTPUT_BUDGET,
    QUESTION,
    bounded_example,
    recorded_product,
)

SHOTS: Final = ROOT / "docs" / "shots"
BUDGET: Final = 2_500
"""Bytes of the result."""
PAGE_LINE_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class Layout:
    """The measures of a picture in pixels, and in characters of its fonts of fixed width."""

    width: int
    height: int
    edge: int
    call_chars: int
    """Characters of a line of the call."""
    font: float
    page_columns: int
    result_left: int
    result_chars: int
    line_height: float


WIDE: Final = Layout(880, 640, 28, 110, 13, 2, 250, 76, 17.0)
"""GitHub shows a README about as wide, so that the text is read at its own size."""
NARROW: Final = Layout(360, 720, 12, 50, 11, 1, 62, 42, 14.5)
"""A phone shows a picture about as wide."""
FONT: Final = "font-family: ui-monospace, Menlo, Consolas, monospace"
SANS: Final = "font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
INK, GREY, FAINT, TEAL, CARD = "#1f2933", "#52606d", "#cbd2d9", "#0d9488", "#f8fafb"


def draw_answer(layout: Layout) -> str:
    """Return the picture of a page and the passages that answer a question."""
    url, product = recorded_product()
    answer = asyncio.run(product.web_fetch(url, QUESTION, BUDGET))
    id = answer.shown[0][0]
    text = product.store.get(id).text
    spans = [(start, end) for _, start, end in answer.shown]
    title = product.store.get(id).title
    call = f'web_fetch(url, query="{QUESTION}", max_chars={BUDGET})'
    return _draw(layout, call, f"“{title}”", text, spans, answer.text, "A page", "that answer")


def draw_output(layout: Layout) -> str:
    """Return the picture of the output of a failing test run and its important lines."""
    output, bounded = bounded_example()
    ends = [0, *(place for gap in bounded.omitted for place in gap), bounded.total]
    spans = [span for span in zip(ends[::2], ends[1::2], strict=True) if span[0] < span[1]]
    call = f"{output.command} 2>&1 | keyhole bound --budget {OUTPUT_BUDGET}"
    about, which = "a test run that failed", "that every reader looks for"
    return _draw(layout, call, about, output.text, spans, bounded.text, "An output", which)


PICTURES: Final = {
    "answer.svg": partial(draw_answer, WIDE),
    "answer-narrow.svg": partial(draw_answer, NARROW),
    "output.svg": partial(draw_output, WIDE),
    "output-narrow.svg": partial(draw_output, NARROW),
}
"""The function that draws each file."""


def _draw(
    layout: Layout,
    call: str,
    about: str,
    text: str,
    spans: list[tuple[int, int]],
    result: str,
    kind: str,
    which: str,
) -> str:
    """Return a picture as SVG: the call, the text as bars of which those of `spans` are coloured, and the result."""
    shown = sum(end - start for start, end in spans)
    width, height = layout.width, layout.height
    calls = textwrap.wrap(call, layout.call_chars)
    top = 8 + layout.edge + len(calls) * layout.line_height
    facts = _facts(layout, top, f"{len(text):,} characters in", about, f"{shown:,} characters out, verbatim")
    below = top + (68 if layout is NARROW else 55)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{kind} of {len(text):,} characters; the result shows the {shown:,} {which}">',
        f'<rect width="{width}" height="{height}" rx="12" fill="{CARD}" stroke="{FAINT}"/>',
        *(
            _label(layout.edge, 12 + layout.edge + number * layout.line_height, row, _fixed(layout), INK)
            for number, row in enumerate(calls)
        ),
        *facts,
        *_page_bars(layout, below, text, spans),
        *_result_lines(layout, below, result),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _fixed(layout: Layout) -> str:
    return f"{FONT}; font-size: {layout.font:g}px"


def _facts(layout: Layout, top: float, into: str, about: str, out: str) -> list[str]:
    """Return the two sizes with a remark each: beside each other, or on a phone one below the other."""
    large = f"{SANS}; font-size: {layout.font + (2 if layout is NARROW else 4):g}px; font-weight: 600"
    small = f"{SANS}; font-size: {layout.font:g}px"
    rest = "the rest stays on disk, one call away"
    if layout is NARROW:
        rows = [(into, large, INK), (about, small, GREY), (out, large, TEAL), (rest, small, GREY)]
        return [_label(layout.edge, top + 14 + 15 * number, *row) for number, row in enumerate(rows)]
    return [
        _label(layout.edge, top + 20, into, large, INK),
        _label(layout.result_left, top + 20, out, large, TEAL),
        _label(layout.edge, top + 40, about, small, GREY),
        _label(layout.result_left, top + 40, rest, small, GREY),
    ]


def _page_bars(layout: Layout, top: float, text: str, spans: list[tuple[int, int]]) -> list[str]:
    """Return the page as columns of bars, one for each line; the bars of shown lines are coloured."""
    lines = _wrap_lines(text)
    per_column = -(-len(lines) // layout.page_columns)
    width = (layout.result_left - layout.edge - 12) / layout.page_columns
    line_height = (layout.height - top - layout.edge) / per_column
    bars = []
    for number, (start, length) in enumerate(lines):
        column, row = divmod(number, per_column)
        is_shown = any(start < end and first < start + length for first, end in spans)
        x, y = layout.edge + column * width, top + row * line_height
        bar = max(1.0, (width - 8) * length / PAGE_LINE_CHARS)
        height = line_height - (0.2 if is_shown else min(1.1, line_height / 3))
        colour = TEAL if is_shown else FAINT
        bars.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar:.1f}" height="{height:.1f}" fill="{colour}"/>')
    return bars


def _wrap_lines(text: str) -> list[tuple[int, int]]:
    """Return offset and length of each line of the text, long lines cut at `PAGE_LINE_CHARS`."""
    lines, offset = [], 0
    for line in text.split("\n"):
        starts = range(0, max(1, len(line)), PAGE_LINE_CHARS)
        lines += [(offset + start, min(PAGE_LINE_CHARS, len(line) - start)) for start in starts]
        offset += len(line) + 1
    return lines


def _result_lines(layout: Layout, top: float, text: str) -> list[str]:
    """Return the lines of the result; Keyhole's own lines are grey, lines of the page are dark."""
    rows: list[tuple[str, str]] = []
    is_page_text = False
    for line in text.split("\n"):
        if line.startswith("--- end"):
            is_page_text = False
        colour = INK if is_page_text and not line.startswith("[…") else GREY
        rows += [(row, colour) for row in textwrap.wrap(line, layout.result_chars, drop_whitespace=False) or [""]]
        if line.startswith("--- untrusted"):
            is_page_text = True
    max_rows = int((layout.height - top - 16) // layout.line_height)
    if len(rows) > max_rows:
        head = max_rows - 7
        rows = [*rows[:head], (f"   ({len(rows) - max_rows + 1} more lines)", GREY), *rows[-6:]]
    style = f"{_fixed(layout)}; white-space: pre"
    return [
        _label(layout.result_left, top + 9 + number * layout.line_height, row, style, colour)
        for number, (row, colour) in enumerate(rows)
        if row.strip()
    ]


def _label(x: float, y: float, text: str, style: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" xml:space="preserve" style="{style}">{escape(text)}</text>'


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (SHOTS / name).write_text(draw(), encoding="utf-8")
