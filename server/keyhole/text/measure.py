"""How much room text takes. The only place that knows what a budget counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from keyhole.text.clean import clean

Measure = Callable[[str], int]
"""The size of a piece of text; never less than its number of characters, and of no text more than of its pieces
together."""


def serialized_size(text: str) -> int:
    """Bytes of `text` inside a JSON string in UTF-8: what travels to the client, and what clients cut by."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2


def fits(text: str, room: int, measure: Measure) -> bool:
    """Whether it measures at most `room`. A long text is not even measured: nothing measures less than its length."""
    return len(text) <= room and measure(text) <= room


def fit_forward(text: str, start: int, room: int, measure: Measure) -> int:
    """The furthest `end` for which `text[start:end]` measures at most `room`, or, where pieces together measure more
    than what they make, one near it."""
    end = _fit_pieces(text, start, room, measure)
    return _fit_pieces(text, end, room - measure(text[start:end]), measure) if start < end < len(text) else end


def _fit_pieces(text: str, start: int, room: int, measure: Measure) -> int:
    low, high = start, min(len(text), start + max(0, room))
    while low < high:
        middle = (low + high + 1) // 2
        # Only what is not known yet to fit: all pieces together are as long as the text that fits, or a little longer.
        size = measure(text[low:middle])
        if size <= room:
            low, room = middle, room - size
        else:
            high = middle - 1
    return low


def clip(text: str, room: int, measure: Measure = serialized_size) -> str:
    """`text` on one line as a reader sees it, cut with an ellipsis where it measures more than `room`. Looks only at
    what may show."""
    words: list[str] = []
    length = 0
    for match in re.finditer(r"\S+", text):
        words.append(match[0][: room + 1])
        length += len(words[-1]) + 1
        if length > room + 1:
            break
    line = " ".join(clean(" ".join(words)).split()).encode("utf-8", "replace").decode("utf-8")
    if measure(line) <= room:
        return line
    ellipsis = "…" if measure("…") <= room else ""
    return line[: fit_forward(line, 0, max(0, room - measure(ellipsis)), measure)].rstrip() + ellipsis
