"""Pack windows of one text into a size limit, in an order of priority, and render them with gap lines.

The order does not depend on the limit, so a larger limit shows everything that a smaller one shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from keyhole.passages.gaps import Span, gap_line, merge_spans, shown_part
from keyhole.passages.index import Index
from keyhole.passages.json_items import keep_item_ends
from keyhole.passages.labels import gap_label
from keyhole.passages.packing.fences import FenceSizes, add_fences, fence_label_at
from keyhole.passages.split import sentence_ends
from keyhole.text.measure import Measure, fit_forward, fits

LEDE_CHARS = 1_500
"""Length of the page's opening that is shown: it says what the page is and often gives its date, names and places."""
LEDE_SHARE = 16
"""An opening window is shown once the opening up to it is at most one part in this many of the shown text."""
MAX_BARE_CHARS = 60
"""Characters of a passage that are shown without its label and its fences if there is no space for more than these."""
HEAD_PARTS = 3
"""Without a query, characters shown of the head for each character of the tail."""


def pack_windows(
    index: Index, order: Iterable[int], max_size: int, measure: Measure, *, allow_whole: bool = True
) -> list[Span]:
    """Return the spans of as many windows, in order of priority, as fit `max_size` with their gap lines.

    If `allow_whole`, a text that fits is returned whole, whatever windows `order` lists.
    """
    text = index.text
    if allow_whole and fits(text, max_size, measure):
        return [(0, len(text))] if text else []
    total = _RunningSize(index, measure)
    queue: list[int] = []
    fitting, fitting_size = 0, total.size
    for window in order:
        total.add(window)
        queue.append(window)
        if total.size <= max_size:
            fitting, fitting_size = len(queue), total.size
        elif total.content > max_size:
            break
    packed = set(queue[:fitting])
    spans = [(index.starts[window], index.end(window)) for window in sorted(packed)]
    if fitting < len(queue):
        left = max_size - fitting_size
        spans += _truncate_window(index, queue[fitting], packed, left, total)
        if not packed:
            bare = _truncate_bare(index, queue[fitting], left, total)
            if bare[1] - bare[0] > sum(end - start for start, end in spans):
                return [bare]
    return add_fences(index.layout.code, merge_spans(spans))


def render_spans(index: Index, spans: Sequence[Span], *, labelled: bool = True, label: str = "") -> str:
    """Join the spans with gap lines for what is omitted before, between and after them.

    `label`: of the first gap line, instead of its own.
    """
    text = index.text
    pieces: list[str] = []
    position, last_label = 0, ""
    for number, (start, end) in enumerate([*spans, (len(text), len(text))]):
        if start > position:
            own = label or (_label_of(index, spans, number) if labelled and number < len(spans) else "")
            new_label = own if own != last_label else ""
            on_new_line = not pieces or pieces[-1].endswith("\n")
            pieces.append(("" if on_new_line else "\n") + gap_line(position, start, new_label))
            last_label, label = own, ""
        pieces.append(shown_part(text, start, end))
        position = end
    return "".join(pieces)


def _label_of(index: Index, spans: Sequence[Span], number: int) -> str:
    """Return the label of the gap line before a span."""
    labelled = fence_label_at(index.layout.code, spans, number)
    if labelled is None:
        return ""
    start, end = spans[labelled]
    return gap_label(index, index.window_at(start), spans[:number], end)


class _RunningSize:
    """The size of the windows added so far, with the largest size that their gap lines can have."""

    def __init__(self, index: Index, measure: Measure) -> None:
        self._index = index
        self.measure = measure
        self._windows: set[int] = set()
        self.bare_gap = self._last_gap = measure("\n" + gap_line(len(index.text), len(index.text)))
        self.content = 0
        self._gaps = 0
        self.fences = FenceSizes(index, measure, self.bare_gap)

    @property
    def size(self) -> int:
        """The size of windows, fences and gap lines, with a gap line at the end unless the last window was added."""
        return (
            self.content
            + self._gaps
            + self.fences.total
            + (0 if self._index.size - 1 in self._windows else self._last_gap)
        )

    def gap_size(self, window: int) -> int:
        """Return the largest size of the gap line before a window."""
        label = gap_label(self._index, window)
        return self._last_gap + (self.measure(label) if label else 0) if window else 0

    def add(self, window: int) -> None:
        """Add a window."""
        self.content += self.measure(self._index.text[self._index.starts[window] : self._index.end(window)])
        if window - 1 not in self._windows:
            self._gaps += self.gap_size(window)
        if window + 1 in self._windows:
            self._gaps -= self.gap_size(window + 1)
        self._windows.add(window)
        self.fences.add(window, self._windows)


def _truncate_window(index: Index, window: int, packed: set[int], left: int, total: _RunningSize) -> list[Span]:
    """Return the span of the window's first sentences that fit `left`, or of its characters if nothing is packed."""
    start = index.starts[window]
    left -= total.fences.part_size(window, packed)
    left -= total.gap_size(window) if window - 1 not in packed else 0
    best = start
    ends = sentence_ends(index.text, start, index.end(window))
    for end in keep_item_ends(index.text, index.layout.json_items, ends) if packed else ends:
        if end - start > left or total.measure(index.text[start:end]) > left:
            break
        best = end
    if packed and index.is_heading(start, best):
        return []
    if best == start and not packed:
        best = min(index.end(window), fit_forward(index.text, start, left, total.measure))
    return [(start, best)] if best > start else []


def _truncate_bare(index: Index, window: int, left: int, total: _RunningSize) -> Span:
    """Return the span of the window's first characters that fit `left` without a label and fences: a few words."""
    start = index.starts[window]
    end = min(index.end(window), start + MAX_BARE_CHARS)
    return start, min(end, fit_forward(index.text, start, left - (total.bare_gap if window else 0), total.measure))


@dataclass(slots=True)
class _Lede:
    """The windows of the page's opening that are not shown yet."""

    index: Index
    waiting: list[int]
    size: int = 0

    def take(self, shown: int) -> Iterator[int]:
        """Yield the opening windows that are a small enough part of the `shown` characters."""
        while self.waiting:
            first = self.waiting[0]
            size = self.size + self.index.end(first) - self.index.starts[first]
            if size * LEDE_SHARE > shown + size:
                return
            self.size = size
            yield self.waiting.pop(0)


def insert_lede(index: Index, order: Iterable[int]) -> Iterator[int]:
    """Yield the windows in order, with the page's opening inserted as soon as it is a small part of what is shown."""
    opening: list[int] = []
    while len(opening) < index.size and index.end(len(opening)) <= LEDE_CHARS:
        opening.append(len(opening))
    lede = _Lede(index, opening)
    seen: set[int] = set()
    shown = 0
    for window in order:
        if window in seen:
            continue
        seen.add(window)
        yield window
        shown += index.end(window) - index.starts[window]
        for first in lede.take(shown):
            if first not in seen:
                seen.add(first)
                yield first


def head_tail_order(index: Index) -> Iterator[int]:
    """Yield the windows from both ends, `HEAD_PARTS` characters of the head for one of the tail."""
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
