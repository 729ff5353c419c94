"""Find the selected passages that the reader was shown before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Final

from keyhole.passages.gaps import Span
from keyhole.passages.index import Index
from keyhole.passages.labels import gap_label
from keyhole.passages.rank import WindowScores
from keyhole.text.letters import lower

ALWAYS_SHOWN_CHARS: Final = 3_000
"""Characters of the best passages that are shown also if an earlier call showed them. The answer is nearly always among
them if it is shown at all, and the client may have dropped the earlier result from the model's context."""
MIN_SAVED_BYTES: Final = 400
"""Minimum bytes saved: less is not worth the line that lists the repeated spans."""
REPEATS_LINE_BYTES: Final = 100
"""Bytes of that line without its spans."""
REPEAT_BYTES: Final = 72
"""Maximum bytes of a span in that line: its offsets, the call that showed it, and the query of the call."""
MIN_COPIED: Final = 0.75
"""Share of the runs of three words of a copy that stand in the passage that it repeats, at least."""


class ShownSpans:
    """The spans of one text that the reader was shown."""

    def __init__(self, spans: Sequence[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [start for start, _ in ordered]
        self._furthest_ends = list(accumulate((end for _, end in ordered), max))

    def covers(self, start: int, end: int) -> bool:
        """Return whether one span contains all of `text[start:end]`; an overlap is not enough."""
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and self._furthest_ends[place] >= end


def skip_seen(
    index: Index,
    order: Iterable[int],
    seen: ShownSpans,
    repeated: list[Span],
    *,
    always_shown: int = ALWAYS_SHOWN_CHARS,
) -> Iterator[int]:
    """Yield the best windows of `order`, then those that were not `seen`. Add the spans of the others to `repeated`.

    `always_shown`: the characters of the best windows. These answer the query, even if an earlier call showed them for
    another query.
    """
    shown = 0
    for window in order:
        span = (index.starts[window], index.end(window))
        if shown >= always_shown and seen.covers(*span):
            repeated.append(span)
            continue
        shown += span[1] - span[0]
        yield window


def skip_copies(scored: WindowScores, order: Iterable[int], copies: list[tuple[Span, set[int]]]) -> Iterator[int]:
    """Yield the windows of `order` without those that repeat earlier ones.

    The spans of these are added to `copies`, each with the offsets of the windows that it repeats.

    A copy adds no word, no sign and no heading to them: entries that differ in a number are no copies. The end of an
    earlier paragraph does not count, unless it has a word of the query.
    """
    index, needles = scored.index, [term.needle for term in scored.query.terms]
    holders: dict[tuple[str, str, str], int] = {}
    words_of: dict[int, set[str]] = {}
    label_of = cache(partial(gap_label, index))
    for window in order:
        start, end = index.starts[window], index.end(window)
        before, blank, own = lower(index.text[start:end]).partition("\n\n")
        is_rest = own.strip() and index.text[max(0, start - 2) : start].strip("\n") != ""
        if not is_rest or any(needle in before for needle in needles):
            own = before + blank + own
        words = [word.strip(".,;:!?*_") for word in own.split()]
        runs = set(zip(words, [*words[1:], ""], [*words[2:], "", ""], strict=False))
        known = [holders[run] for run in runs if run in holders]
        repeated = set(known)
        is_copy = (
            len(known) >= MIN_COPIED * len(runs)
            and set(words) <= set().union(*(words_of[each] for each in repeated))
            and label_of(window) in map(label_of, repeated)
        )
        if is_copy:
            copies.append(((start, end), {index.starts[each] for each in repeated}))
            continue
        words_of[window] = set(words)
        for run in runs:
            holders.setdefault(run, window)
        yield window


def repeats_line_size(spans: Sequence[Span]) -> int:
    """Return the bytes to reserve for the line that lists repeated spans."""
    return REPEATS_LINE_BYTES + REPEAT_BYTES * len(spans) if spans else 0
