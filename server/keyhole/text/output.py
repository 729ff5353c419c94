"""The text of an output with what was found in it, and what is shown of it: where selecting its lines starts and ends.

Tuples, because the classes are created each time a hook starts, and a dataclass takes ten times as long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

from keyhole.text.lazy_pattern import lazy_pattern

Span = tuple[int, int]
"""Start and end offsets."""
Mark = tuple[int, int, float]
"""The offsets of lines, and their weight. Lines with a larger weight are shown first."""

_CLOCK = lazy_pattern(r"\d\d:\d\d:\d\d")


class Part(NamedTuple):
    """A named range of an output: a file of a diff, a definition of source, a record of JSON."""

    start: int
    end: int
    name: str
    """What the omission before a passage of this part says, such as `$.packages[12]`."""
    entry: str = ""
    """What the summary says of the part if it is not shown whole, such as `src/a.py +12 -3`; "" for nothing."""


class Envelope(NamedTuple):
    """The prefixes that were taken from the lines of a text, such as time stamps."""

    stored: str
    """The text with its prefixes."""
    cuts: tuple[Span, ...]
    """The offsets of the prefixes in it, in order."""
    starts: tuple[int, ...]
    """Where each prefix was in the text without prefixes."""
    taken: tuple[int, ...]
    """The characters of each prefix and those before it."""
    steps: tuple[tuple[int, str], ...] = ()
    """Where each step begins whose name was in the prefix, with its name."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The steps as named ranges of the text without prefixes."""
        steps = [*self.steps, (len(self.stored), "")]
        return tuple(Part(start, end, name) for (start, name), (end, _) in pairwise(steps))

    def places(self, start: int, end: int) -> Iterator[Span]:
        """Yield the offsets in the stored text of a range of the text without prefixes, in pieces between these."""
        cut = self._cut_before(start)
        while start < end:
            after = min(end, self.starts[cut + 1]) if cut + 1 < len(self.starts) else end
            shift = self.taken[cut] if cut >= 0 else 0
            if after > start:
                yield start + shift, after + shift
            start, cut = after, cut + 1

    def place(self, offset: int) -> int:
        """Return the offset in the stored text of an offset in the text without prefixes."""
        cut = self._cut_before(offset)
        return offset + (self.taken[cut] if cut >= 0 else 0)

    def time_at(self, offset: int) -> str:
        """Return the time of day in the last prefix before an offset, "" if there is none."""
        cut = self._cut_before(offset)
        clock = _CLOCK.search(self.stored, *self.cuts[cut]) if cut >= 0 else None
        return clock[0] if clock else ""

    def _cut_before(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1


def ends_of(text: str, chars: int) -> str:
    """Return the first and the last `chars` characters of a text on lines of their own; a shorter text as a whole."""
    return text if len(text) <= 2 * chars else f"{text[:chars]}\n{text[-chars:]}"


def take(stored: str, cuts: Sequence[Span], steps: Sequence[tuple[int, str]] = ()) -> tuple[str, Envelope]:
    """Return a text without some ranges of it, which are in order, and what was taken.

    `steps`: the numbers of the ranges with which steps begin, each with the name of the step.
    """
    taken = tuple(accumulate(end - start for start, end in cuts))
    starts = tuple(start - before for (start, _), before in zip(cuts, (0, *taken), strict=False))
    edges = [0, *chain.from_iterable(cuts), len(stored)]
    text = "".join([stored[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)])
    return text, Envelope(stored, tuple(cuts), starts, taken, tuple((starts[cut], name) for cut, name in steps))


class Output(NamedTuple):
    """The text of an output as a terminal shows it at the end, its kind, and the lines that every reader looks for."""

    text: str
    kind: str
    marks: tuple[Mark, ...] = ()
    records: tuple[Span, ...] = ()
    """Ranges that are shown whole, unless they are long: the records of JSON, and stack traces. Elsewhere lines are."""
    repeats: tuple[Span, ...] = ()
    """Lines that differ only in numbers from one of the lines before them. Each range is shown as their count."""
    parts: tuple[Part, ...] = ()
    """The named ranges in the order of their starts, as offsets in the whole text, also of one of which this is an
    excerpt. A range contains others or is apart from them."""
    summary_title: str = ""
    """What the entries of the parts are, such as "files"."""
    about: tuple[str, ...] = ()
    """What the whole output is, such as the shape of JSON: descriptions of falling length, of which one is shown."""
    joints: tuple[tuple[int, int], ...] = ()
    """Where characters of a larger text are missing, of which this is an excerpt: offsets, each with their number."""
    failed: tuple[Span, ...] = ()
    """The sections that failed, such as steps of a CI run."""
    envelope: Envelope | None = None
    """What was taken from the lines of the stored text; None if this is its text, or an excerpt of it."""

    @property
    def total(self) -> int:
        """Return the number of characters of the whole stored text, also of one of which this is an excerpt."""
        taken = self.envelope.taken[-1] if self.envelope else 0
        return len(self.text) + sum(count for _, count in self.joints) + taken


class Shown(NamedTuple):
    """The ranges of an output that are shown, in order, and their text with a mark for each omission."""

    total: int
    """The characters of the whole output."""
    spans: tuple[Span, ...] = ()
    text: str = ""
    matched: bool = False
    """True if any word of the question or the command occurs in the output."""

    @property
    def chars(self) -> int:
        """Return the number of characters shown."""
        return sum(end - start for start, end in self.spans)
