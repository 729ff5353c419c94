"""The best passages that fit a room; head and tail; reading windows; quotes. Scores are given, not made here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keyhole.measure import Measure, fit_backward, fit_forward
from keyhole.records import Passage, Quote, Selection, Strategy, TermCount, Window

HEAD_SHARE = 0.75
"""Of a head+tail window: most pages say what they are about first, and conclude last."""
SNAP_SHARE = 0.5
"""A head is cut back to a line end only beyond this share of its room, so that one long line cannot empty it."""

Scored = tuple[int, int, float]
"""`(start, end, score)`; the lede that was kept as anchor has score 0 unless it matched."""


def gap_line(start: int, end: int) -> str:
    """The line that stands for omitted text: `read_artifact(id, offset=start, limit=end-start)` returns it."""
    return f"[… {start}:{end} …]\n"


def pack(
    text: str, passages: Sequence[Passage], scores: Sequence[float], room: int, measure: Measure
) -> tuple[Scored, ...]:
    """Greedily by score, the first passage as anchor; what does not fit is passed over."""
    gap = measure("\n" + gap_line(len(text), len(text)))
    left = room - gap
    chosen: list[Scored] = []
    by_score = sorted((i for i in range(len(passages)) if scores[i] > 0), key=lambda i: (-scores[i], i))
    anchor = [0] if measure(text[: passages[0].end]) <= room // 4 else []
    for index in [*anchor, *(i for i in by_score if i not in anchor)]:
        start, end = passages[index].start, passages[index].end
        if end - start > left:
            continue
        size = measure(text[start:end]) + gap
        if size <= left:
            left -= size
            chosen.append((start, end, scores[index]))
    return tuple(sorted(chosen)) if any(score > 0 for *_, score in chosen) else ()


def assemble(text: str, strategy: Strategy, chosen: Sequence[Scored], terms: tuple[TermCount, ...] = ()) -> Selection:
    """Join chosen spans in order, touching ones as one, with a gap line for every omission."""
    merged: list[Scored] = []
    for start, end, score in chosen:
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], end, max(merged[-1][2], score))
        else:
            merged.append((start, end, score))
    return Selection(
        strategy=strategy,
        total=len(text),
        spans=tuple((start, end) for start, end, _ in merged),
        scores=tuple(round(score, 3) for *_, score in merged),
        text=join_spans(text, [(start, end) for start, end, _ in merged]),
        terms=terms,
        matched=any(score > 0 for *_, score in merged),
    )


def join_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The verbatim spans and, on lines of their own, the gaps around them."""
    parts: list[str] = []
    position = 0
    for start, end in [*spans, (len(text), len(text))]:
        if start > position:
            parts.append(("" if not parts or parts[-1].endswith("\n") else "\n") + gap_line(position, start))
        parts.append(text[start:end])
        position = end
    return "".join(parts)


def whole(text: str, terms: tuple[TermCount, ...]) -> Selection:
    """All of the text."""
    return Selection("whole", len(text), ((0, len(text)),), (0.0,), text, terms, any(t.count for t in terms))


def head_tail(text: str, room: int, measure: Measure, terms: tuple[TermCount, ...]) -> Selection:
    """The first and the last part of the text, snapped to line ends."""
    room -= measure("\n" + gap_line(len(text), len(text)))
    head = fit_forward(text, 0, int(room * HEAD_SHARE), measure)
    newline = text.rfind("\n", int(head * SNAP_SHARE), head)
    head = newline + 1 if newline >= 0 else head
    tail = max(head, fit_backward(text, len(text), room - measure(text[:head]), measure))
    newline = text.find("\n", tail - 1 if tail else 0, tail + int((len(text) - tail) * (1 - SNAP_SHARE)))
    tail = newline + 1 if newline >= 0 else tail
    spans = [(start, end, 0.0) for start, end in ((0, head), (tail, len(text))) if end > start]
    if not spans:
        # No room for one character: a gap line alone would say nothing and might not fit either.
        return Selection("head_tail", len(text), (), (), "", terms)
    return assemble(text, "head_tail", spans, terms)


def window(text: str, offset: int, limit: int | None, room: int, measure: Measure) -> Window:
    """What can be read from `offset`: at most `limit` characters and `room`, at least one character.

    Where the room ends it and not the limit, it ends with a line if one ends in its last quarter.
    """
    start = min(max(0, offset), len(text))
    end = fit_forward(text, start, room, measure)
    if limit is not None and start + limit <= end:
        end = start + limit
    elif end < len(text):
        newline = text.rfind("\n", start + (end - start) * 3 // 4, end)
        end = newline + 1 if newline >= 0 else end
    return Window(start, max(end, min(start + 1, len(text))), len(text))


def find_quote(text: str, quote: str) -> Quote | None:
    """Where a quote stands: exactly, else with only letters and digits compared, ignoring case."""
    at = text.find(quote)
    if at >= 0:
        return Quote(at, at + len(quote), exact=True)
    letters = [re.escape(word) for word in re.findall(r"\w+", quote)]
    if not letters:
        return None
    match = re.search(r"\W+".join(letters), text, re.IGNORECASE)
    return Quote(match.start(), match.end(), exact=False) if match else None
