"""Draw the pictures of a long text that goes in and its passages that come out: `python docs/make/picture.py`.

docs/shots/answer.svg shows a real call on a recorded page, docs/shots/output.svg a real test run of the benchmark. The
same result gives the same file.
"""

from __future__ import annotations

import asyncio
import sys
import textwrap
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
WIDTH, HEIGHT = 880, 640
"""Pixels of the picture: GitHub shows a README about as wide, so that the text is read at its own size."""
TOP: Final = 112
"""Pixels above the page and the result."""
PAGE_COLUMNS: Final = 2
PAGE_LINE_CHARS: Final = 100
RESULT_LEFT: Final = 250
RESULT_COLUMNS: Final = 76
RESULT_LINE_HEIGHT: Final = 17.0
FONT: Final = "font-family: ui-monospace, Menlo, Consolas, monospace"
SANS: Final = "font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
INK, GREY, FAINT, TEAL, CARD = "#1f2933", "#52606d", "#cbd2d9", "#0d9488", "#f8fafb"


def draw_answer() -> str:
    """Return the picture of a page and the passages that answer a question."""
    url, product = recorded_product()
    answer = asyncio.run(product.web_fetch(url, QUESTION, BUDGET))
    id = answer.shown[0][0]
    text = product.store.get(id).text
    spans = [(start, end) for _, start, end in answer.shown]
    title = product.store.get(id).title
    call = f'web_fetch(url, query="{QUESTION}", max_chars={BUDGET})'
    return _draw(call, f"“{title}”", text, spans, answer.text, "A page", "that answer")


def draw_output() -> str:
    """Return the picture of the output of a failing test run and its important lines."""
    output, bounded = bounded_example()
    ends = [0, *(place for gap in bounded.omitted for place in gap), bounded.total]
    spans = [span for span in zip(ends[::2], ends[1::2], strict=True) if span[0] < span[1]]
    call = f"{output.command} 2>&1 | keyhole bound --budget {OUTPUT_BUDGET}"
    return _draw(
        call, "a test run that failed", output.text, spans, bounded.text, "An output", "that every reader looks for"
    )


PICTURES: Final = {"answer.svg": draw_answer, "output.svg": draw_output}
"""The function that draws each file."""


def _draw(call: str, about: str, text: str, spans: list[tuple[int, int]], result: str, kind: str, which: str) -> str:
    """Return a picture as SVG: the call, the text as bars of which those of `spans` are coloured, and the result."""
    shown = sum(end - start for start, end in spans)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{kind} of {len(text):,} characters; the result shows the {shown:,} {which}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="{CARD}" stroke="{FAINT}"/>',
        _label(28, 40, call, f"{FONT}; font-size: 13px", INK),
        _label(28, 76, f"{len(text):,} characters in", f"{SANS}; font-size: 17px; font-weight: 600", INK),
        _label(
            RESULT_LEFT, 76, f"{shown:,} characters out, verbatim", f"{SANS}; font-size: 17px; font-weight: 600", TEAL
        ),
        _label(28, 96, about, f"{SANS}; font-size: 13px", GREY),
        _label(RESULT_LEFT, 96, "the rest stays on disk, one call away", f"{SANS}; font-size: 13px", GREY),
        *_page_bars(text, spans),
        *_result_lines(result),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _page_bars(text: str, spans: list[tuple[int, int]]) -> list[str]:
    """Return the page as columns of bars, one for each line; the bars of shown lines are coloured."""
    lines = _wrap_lines(text)
    per_column = -(-len(lines) // PAGE_COLUMNS)
    width, line_height = (RESULT_LEFT - 30 - 28) / PAGE_COLUMNS, (HEIGHT - TOP - 24) / per_column
    bars = []
    for number, (start, length) in enumerate(lines):
        column, row = divmod(number, per_column)
        is_shown = any(start < end and first < start + length for first, end in spans)
        x, y = 28 + column * width, TOP + row * line_height
        bar = max(1.0, (width - 10) * length / PAGE_LINE_CHARS)
        height = line_height - (0.2 if is_shown else 1.1)
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


def _result_lines(text: str) -> list[str]:
    """Return the lines of the result; Keyhole's own lines are grey, lines of the page are dark."""
    rows: list[tuple[str, str]] = []
    is_page_text = False
    for line in text.split("\n"):
        if line.startswith("--- end"):
            is_page_text = False
        colour = INK if is_page_text and not line.startswith("[…") else GREY
        rows += [(row, colour) for row in textwrap.wrap(line, RESULT_COLUMNS, drop_whitespace=False) or [""]]
        if line.startswith("--- untrusted"):
            is_page_text = True
    max_rows = int((HEIGHT - TOP - 16) // RESULT_LINE_HEIGHT)
    if len(rows) > max_rows:
        head = max_rows - 7
        rows = [*rows[:head], (f"   ({len(rows) - max_rows + 1} more lines)", GREY), *rows[-6:]]
    style = f"{FONT}; font-size: 13px; white-space: pre"
    return [
        _label(RESULT_LEFT, TOP + 9 + number * RESULT_LINE_HEIGHT, row, style, colour)
        for number, (row, colour) in enumerate(rows)
        if row.strip()
    ]


def _label(x: float, y: float, text: str, style: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" xml:space="preserve" style="{style}">{escape(text)}</text>'


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (SHOTS / name).write_text(draw(), encoding="utf-8")
