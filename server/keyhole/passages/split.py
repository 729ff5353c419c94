"""A text into passages that joined are the text. No query here."""

from __future__ import annotations

import re

from keyhole.markdown import blocks
from keyhole.records import Passage

MAX_PASSAGE = 1_200
"""Characters. Longer paragraphs are split at sentence ends, so that one passage cannot eat a small budget."""

_SENTENCE_END = re.compile(r"[.!?。！？؟।]+[\"'”’)\]]*\s|\n")


def split(text: str) -> tuple[Passage, ...]:
    """Passages in order, the first at 0, each ending where the next starts, the last at the end."""
    found: list[Passage] = []
    structure = [block for block in blocks(text) if block.kind != "heading"]
    start = 0
    for index, block in enumerate(structure):
        # A heading goes with the block below it, so that a passage says where it belongs.
        last = index == len(structure) - 1
        end = len(text) if last else block.end
        if block.kind in {"code", "table"}:
            found.append(Passage(start, end, block.heading_path))
        else:
            found += [Passage(a, b, block.heading_path) for a, b in _pieces(text, start, end)]
        start = end
    return tuple(found) or ((Passage(0, len(text)),) if text else ())


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pieces = []
    while end - start > MAX_PASSAGE:
        stops = [m.end() for m in _SENTENCE_END.finditer(text, start + MAX_PASSAGE // 2, start + MAX_PASSAGE)]
        stop = stops[-1] if stops else start + MAX_PASSAGE
        pieces.append((start, stop))
        start = stop
    pieces.append((start, end))
    return pieces
