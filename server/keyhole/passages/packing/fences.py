"""Show the lines that open and close a code block beside every part of it, so that no fence is left open. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from keyhole.passages.blocks import CodeBlock
from keyhole.passages.gaps import Span, merge_spans
from keyhole.passages.index import Index
from keyhole.text.measure import Measure


def blocks_in(code: Sequence[CodeBlock], start: int, end: int) -> Sequence[CodeBlock]:
    """Return the code blocks that overlap a range."""
    first = bisect_right(code, start, key=lambda block: block.end)
    return code[first : bisect_left(code, end, key=lambda block: block.start)]


def add_fences(code: Sequence[CodeBlock], spans: Sequence[Span]) -> list[Span]:
    """Return the spans, which are in order, with both fences of each code block of which they show a part."""
    missing: set[Span] = set()
    shown: set[Span] = set()
    for start, end in spans:
        for block in blocks_in(code, start, end):
            for fence in fences_of(block):
                (shown if start <= fence[0] and fence[1] <= end else missing).add(fence)
    return merge_spans([*spans, *(missing - shown)])


def fence_label_at(code: Sequence[CodeBlock], spans: Sequence[Span], number: int) -> int | None:
    """Return the number of the span that labels the gap line before span `number`; None for a gap line without label.

    The line that opens a code block has the label of the code below it, and the line that closes it has none.
    """
    start, end = spans[number]
    for block in blocks_in(code, start, end):
        if start == block.closing and end == block.end:
            return None
        if (start, end) == (block.start, block.opening_end):
            return min(number + 1, len(spans) - 1)
    return number


class FenceSizes:
    """The size of the fences that are added to the windows of a result."""

    def __init__(self, index: Index, measure: Measure, gap_size: int) -> None:
        """`gap_size`: the largest size of a gap line without a label."""
        self._index = index
        self._measure = measure
        self._gap_size = gap_size
        self._by_block: dict[CodeBlock, int] = {}
        self.total = 0

    def add(self, window: int, shown: set[int]) -> None:
        """Count the fences that `window` needs. It is one of the `shown` windows."""
        for block in self._blocks(window):
            size = self._size(block, shown)
            self.total += size - self._by_block.get(block, 0)
            self._by_block[block] = size

    def part_size(self, window: int, packed: set[int]) -> int:
        """Return the size of the fences that a part of a window needs beside those of the `packed` windows."""
        return sum(self._size(block, ()) for block in self._blocks(window) if packed.isdisjoint(self._windows(block)))

    def _windows(self, block: CodeBlock) -> range:
        return range(self._index.window_at(block.start), self._index.window_at(block.end - 1) + 1)

    def _blocks(self, window: int) -> Sequence[CodeBlock]:
        return blocks_in(self._index.layout.code, self._index.starts[window], self._index.end(window))

    def _size(self, block: CodeBlock, shown: Iterable[int]) -> int:
        text = self._index.text
        return sum(
            self._gap_size + self._measure(text[start:end])
            for start, end in fences_of(block)
            if not (self._index.window_at(start) in shown and self._index.window_at(end - 1) in shown)
        )


def fences_of(block: CodeBlock) -> list[Span]:
    """Return the spans of the lines that open and close a block, which may be never closed."""
    closing = [(block.closing, block.end)] if block.closing < block.end else []
    return [(block.start, block.opening_end), *closing]
