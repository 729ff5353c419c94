"""Choose spans within a room, in an order of priority that no room changes; render them with their gaps.

A larger room takes more of the same order, so it shows everything that a smaller one shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keyhole.passages.find import Index
from keyhole.passages.labels import label
from keyhole.passages.split import sentence_ends
from keyhole.text.measure import Measure, fit_forward, fits

LEDE_CHARS = 1_500
"""The page's opening is shown up to this length: it says what the page is, and often dates, names and places it."""
LEDE_SHARE = 16
"""Window by window, as soon as it is at most one part in this many of what is shown."""
HEAD_PARTS = 3
"""Without a query, this many parts from the head for one from the tail."""

Span = tuple[int, int]
"""Start and end of a verbatim passage."""


def gap_line(start: int, end: int, label: str = "") -> str:
    """The line for what is left out: `read_artifact(id, offset=start, limit=end-start)` returns it."""
    return f"[…{start}:{end}]{label}\n"


def pack(index: Index, order: Iterable[int], room: int, measure: Measure, *, all_of_it: bool = True) -> list[Span]:
    """The spans of as many windows, in order of priority, as the room holds with their gap lines. `all_of_it`: the
    whole text where it fits, whatever the order names."""
    text = index.text
    if all_of_it and fits(text, room, measure):
        return [(0, len(text))] if text else []
    taken = _Taken(index, measure)
    queue: list[int] = []
    fitting, cost = 0, taken.total
    for window in order:
        taken.add(window)
        queue.append(window)
        if taken.total <= room:
            fitting, cost = len(queue), taken.total
        elif taken.content > room:
            break
    chosen = set(queue[:fitting])
    spans = [(index.starts[window], index.end(window)) for window in sorted(chosen)]
    if fitting < len(queue):
        spans += _part(index, queue[fitting], chosen, room - cost, taken)
    return _merge(sorted(spans))


def render(index: Index, spans: Sequence[Span], *, labelled: bool = True) -> str:
    """The passages, with a gap line for everything left out before, between and after them."""
    text = index.text
    pieces: list[str] = []
    position, last_label = 0, ""
    for number, (start, end) in enumerate([*spans, (len(text), len(text))]):
        if start > position:
            above = label(index, index.window_at(start), spans[:number]) if labelled and start < len(text) else ""
            shown = above if above != last_label else ""
            on_new_line = not pieces or pieces[-1].endswith("\n")
            pieces.append(("" if on_new_line else "\n") + gap_line(position, start, shown))
            last_label = above
        pieces.append(text[start:end])
        position = end
    return "".join(pieces)


class _Taken:
    """Windows taken so far, what they cost, and what the gap lines around them cost at most."""

    def __init__(self, index: Index, measure: Measure) -> None:
        self._index = index
        self.measure = measure
        self._windows: set[int] = set()
        self._end = measure("\n" + gap_line(len(index.text), len(index.text)))
        self.content = 0
        self._gaps = 0

    @property
    def total(self) -> int:
        """All of it: with the gap line at the end, unless the last window is taken."""
        return self.content + self._gaps + (0 if self._index.size - 1 in self._windows else self._end)

    def gap(self, window: int) -> int:
        """The most that a gap line before a window costs."""
        above = label(self._index, window)
        return self._end + (self.measure(above) if above else 0) if window else 0

    def add(self, window: int) -> None:
        """Take one more window."""
        self.content += self.measure(self._index.text[self._index.starts[window] : self._index.end(window)])
        if window - 1 not in self._windows:
            self._gaps += self.gap(window)
        if window + 1 in self._windows:
            self._gaps -= self.gap(window + 1)
        self._windows.add(window)


def _part(index: Index, window: int, chosen: set[int], room: int, taken: _Taken) -> list[Span]:
    """The first sentences of the window that no longer fits; if nothing else is shown, a piece."""
    start = index.starts[window]
    if window - 1 not in chosen:
        room -= taken.gap(window)
    best = start
    for end in sentence_ends(index.text, start, index.end(window)):
        if end - start > room or taken.measure(index.text[start:end]) > room:
            break
        best = end
    if best == start and not chosen:
        best = min(index.end(window), fit_forward(index.text, start, room, taken.measure))
    return [(start, best)] if best > start else []


def _merge(spans: Sequence[Span]) -> list[Span]:
    """Join spans that touch."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


@dataclass(slots=True)
class _Lede:
    """The page's opening windows, let in one by one as what is shown grows."""

    index: Index
    waiting: list[int]
    spent: int = 0

    def due(self, shown: int) -> Iterator[int]:
        """The opening windows that are a small enough part of what is shown by now."""
        while self.waiting:
            first = self.waiting[0]
            cost = self.index.end(first) - self.index.starts[first]
            if (self.spent + cost) * LEDE_SHARE > shown + self.spent + cost:
                return
            self.spent += cost
            yield self.waiting.pop(0)


def with_lede(index: Index, ranked: Iterable[int]) -> Iterator[int]:
    """The order with the page's opening let in as soon as it is a small part of the whole."""
    opening: list[int] = []
    while len(opening) < index.size and index.end(len(opening)) <= LEDE_CHARS:
        opening.append(len(opening))
    lede = _Lede(index, opening)
    seen: set[int] = set()
    shown = 0
    for window in ranked:
        if window in seen:
            continue
        seen.add(window)
        yield window
        shown += index.end(window) - index.starts[window]
        for first in lede.due(shown):
            if first not in seen:
                seen.add(first)
                yield first


def head_tail(index: Index) -> Iterator[int]:
    """Windows from both ends, three parts of the head to one of the tail."""
    head, tail = 0, index.size - 1
    head_chars = tail_chars = 0
    while head <= tail:
        if head_chars <= HEAD_PARTS * tail_chars or head == 0:
            yield head
            head_chars += index.end(head) - index.starts[head]
            head += 1
        else:
            yield tail
            tail_chars += index.end(tail) - index.starts[tail]
            tail -= 1
