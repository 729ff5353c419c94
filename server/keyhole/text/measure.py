"""Measure text as a budget counts it, and cut text to a size."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from keyhole.text.clean import clean

Measure = Callable[[str], int]
"""Returns the size of a text. It is at least the text's length in characters, and at most the sum of the sizes of the
pieces into which the text is split."""


def serialized_size(text: str) -> int:
    """Return the bytes of `text` inside a JSON string in UTF-8: the size that clients receive and limit."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2


def fits(text: str, limit: int, measure: Measure) -> bool:
    """Return True if the text's size is at most `limit`.

    A text's size is at least its length, so a long text is rejected without measuring it.
    """
    return len(text) <= limit and measure(text) <= limit


def fit_forward(text: str, start: int, limit: int, measure: Measure) -> int:
    """Return the largest `end` for which the size of `text[start:end]` is at most `limit`.

    The result may be slightly smaller if the pieces of a text together measure more than the text.
    """
    end = _fit_pieces(text, start, limit, measure)
    return _fit_pieces(text, end, limit - measure(text[start:end]), measure) if start < end < len(text) else end


def _fit_pieces(text: str, start: int, limit: int, measure: Measure) -> int:
    low, high = start, min(len(text), start + max(0, limit))
    while low < high:
        middle = (low + high + 1) // 2
        # Measure only the part not known to fit, so that all measured pieces together are about as long as the result.
        size = measure(text[low:middle])
        if size <= limit:
            low, limit = middle, limit - size
        else:
            high = middle - 1
    return low


def clip(text: str, limit: int, measure: Measure = serialized_size) -> str:
    """Return the cleaned text on one line, cut with an ellipsis if its size exceeds `limit`.

    The cost depends on `limit`, not on the text's length.
    """
    words: list[str] = []
    length = 0
    for match in re.finditer(r"\S+", text):
        words.append(match[0][: limit + 1])
        length += len(words[-1]) + 1
        if length > limit + 1:
            break
    line = " ".join(clean(" ".join(words)).split()).encode("utf-8", "replace").decode("utf-8")
    if measure(line) <= limit:
        return line
    ellipsis = "…" if measure("…") <= limit else ""
    return line[: fit_forward(line, 0, max(0, limit - measure(ellipsis)), measure)].rstrip() + ellipsis
