"""Draw docs/shots/conversation.svg: a conversation before and after `keyhole.compact`.

`python docs/make/conversation_picture.py` writes it. The conversation is the first one of `benchmarks/compaction`, and
the height of a bar is the size of its message. The same conversation gives the same file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import keyhole  # noqa: E402 - found through the line above
from benchmarks.compaction.conversations import build_conversations, to_chat  # noqa: E402
from keyhole.extensions.conversations.items import estimate_item  # noqa: E402

PICTURE: Final = ROOT / "docs" / "shots" / "conversation.svg"
BUDGET: Final = 40_000
"""Tokens."""
WIDTH, HEIGHT, TOP = 1_000, 560, 84
BAR_WIDTH: Final = 300
GAP: Final = 1.5
"""Pixels between bars."""
SANS: Final = "font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
INK, GREY, FAINT, TEAL, CARD = "#1f2933", "#52606d", "#cbd2d9", "#0d9488", "#f8fafb"
COLOURS: Final = {"system": INK, "user": INK, "assistant": GREY, "tool": FAINT, "stub": TEAL}
LEGEND: Final = {"task, system and user": INK, "calls": GREY, "results": FAINT, "stubs with a call that reads it": TEAL}


def draw() -> str:
    """Return the picture as SVG."""
    before: list[dict[str, Any]] = to_chat(build_conversations(1)[0])
    done = keyhole.compact(before, BUDGET)
    label = f"{done.report.tokens_before:,} tokens before, {done.report.tokens_after:,} after"
    scale = (HEIGHT - TOP - 24 - GAP * len(before)) / done.report.tokens_before
    left_out = f"{len(done.report.stubs)} results and {done.report.left_out.messages} messages left out"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="A conversation: {label}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="{CARD}" stroke="{FAINT}"/>',
        _label(28, 40, f"about {done.report.tokens_before:,} tokens", 17, INK),
        _label(28, 64, f"{len(before)} messages", 13, GREY),
        _label(372, 40, f"about {done.report.tokens_after:,} tokens of {BUDGET:,}", 17, TEAL),
        _label(372, 64, left_out, 13, GREY),
        *_bars(28, before, scale),
        *_bars(372, done.items, scale),
        *(
            part
            for number, (name, colour) in enumerate(LEGEND.items())
            for part in (
                f'<rect x="716" y="{TOP + 28 * number}" width="16" height="16" fill="{colour}"/>',
                _label(742, TOP + 13 + 28 * number, name, 14, INK),
            )
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _bars(x: int, items: Sequence[Any], scale: float) -> list[str]:
    """Return a bar for each message, from the first at the top to the last."""
    bars, y = [], float(TOP)
    for item in items:
        is_stub = str(item.get("content")).startswith("[Keyhole left out this result")
        height = max(1.5, estimate_item(item) * scale)
        colour = COLOURS["stub" if is_stub else item["role"]]
        bars.append(f'<rect x="{x}" y="{y:.1f}" width="{BAR_WIDTH}" height="{height:.1f}" fill="{colour}"/>')
        y += height + GAP
    return bars


def _label(x: float, y: float, text: str, size: int, colour: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" style="{SANS}; font-size: {size}px">{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
