"""The text of an output with what was found in it, and what is shown of it: where selecting its lines starts and ends.

Tuples, because the classes are created each time a hook starts, and a dataclass takes ten times as long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    import re

Mark = tuple[int, int, float]
"""The offsets of lines, and their weight. Lines with a larger weight are shown first."""

Joint = tuple[int, int]
"""An offset in an excerpt where characters of the larger text are missing, and their number."""

_CLOCK = lazy_pattern(r"\d\d:\d\d:\d\d")


class OutputPart(NamedTuple):
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
    """The text with its prefixes; "" if it is only an excerpt of the stored text."""
    prefixes: tuple[str, ...]
    """The prefixes in order."""
    starts: tuple[int, ...]
    """Where each prefix was in the text without prefixes."""
    taken: tuple[int, ...]
    """For each prefix, the number of characters of this prefix and of all prefixes before it."""
    steps: tuple[tuple[int, str], ...] = ()
    """Where each step begins, with its name. Only if the prefixes name steps."""

    def parts(self, total: int) -> tuple[OutputPart, ...]:
        """Return the steps as named ranges of the text without prefixes, which has `total` characters."""
        return tuple(OutputPart(start, end, name) for (start, name), (end, _) in pairwise([*self.steps, (total, "")]))

    def places(self, start: int, end: int) -> Iterator[Span]:
        """Convert a range of the text without prefixes to ranges of the stored text, which lie between the prefixes."""
        cut = self._cut_before(start)
        while start < end:
            after = min(end, self.starts[cut + 1]) if cut + 1 < len(self.starts) else end
            shift = self.taken[cut] if cut >= 0 else 0
            if after > start:
                yield start + shift, after + shift
            start, cut = after, cut + 1

    def place(self, offset: int) -> int:
        """Convert an offset in the text without prefixes to an offset in the stored text."""
        cut = self._cut_before(offset)
        return offset + (self.taken[cut] if cut >= 0 else 0)

    def time_at(self, offset: int) -> str:
        """Return the time of day in the last prefix before an offset, "" if there is none."""
        cut = self._cut_before(offset)
        clock = _CLOCK.search(self.prefixes[cut]) if cut >= 0 else None
        return clock[0] if clock else ""

    def _cut_before(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1


def ends_of(text: str, chars: int) -> str:
    """Return the first and the last `chars` characters of a text on lines of their own; a shorter text as a whole."""
    return text if len(text) <= 2 * chars else f"{text[:chars]}\n{text[-chars:]}"


def take(stored: str, form: re.Pattern[str]) -> tuple[str, Envelope]:
    """Return a text without the prefixes of its lines, and the prefixes.

    `form`: matches a line break and the prefix after it. The prefix is its only group.
    """
    pieces = form.split(f"\n{stored}")
    kept, prefixes = pieces[::2], pieces[1::2]
    starts = tuple(map(add, accumulate(map(len, kept)), range(len(prefixes))))
    return "\n".join(kept)[1:], Envelope(stored, tuple(prefixes), starts, tuple(accumulate(map(len, prefixes))))


def of_larger_text(envelope: Envelope, joints: Sequence[Joint]) -> tuple[Envelope, tuple[Joint, ...]]:
    """Convert the prefixes of an excerpt to offsets of the larger text. Return also the joints without prefixes.

    `joints`: where characters of the larger text are missing in the excerpt with its prefixes.
    """
    ends = [start + taken for start, taken in zip(envelope.starts, envelope.taken, strict=True)]
    taken, starts = (0, *envelope.taken), (*envelope.starts, len(envelope.stored))
    befores = [bisect_right(ends, offset) for offset, _ in joints]
    bare = tuple(
        (min(offset - taken[before], starts[before]), count)
        for before, (offset, count) in zip(befores, joints, strict=True)
    )
    offsets, missing = [offset for offset, _ in bare], [0, *accumulate(count for _, count in bare)]

    def place(offset: int) -> int:
        return offset + missing[bisect_right(offsets, offset)]

    steps = tuple((place(start), name) for start, name in envelope.steps)
    return envelope._replace(stored="", starts=tuple(map(place, envelope.starts)), steps=steps), bare


class Output(NamedTuple):
    """The text of an output as a terminal shows it at the end, its kind, and the lines that every reader looks for."""

    text: str
    kind: str
    marks: tuple[Mark, ...] = ()
    records: tuple[Span, ...] = ()
    """Ranges that are shown whole, unless they are long: records of data, and threads. Elsewhere lines are."""
    repeats: tuple[Span, ...] = ()
    """Lines that differ only in numbers from one of the lines before them. Each range is shown as their count."""
    parts: tuple[OutputPart, ...] = ()
    """The named ranges in the order of their starts, as offsets in the whole text, also of one of which this is an
    excerpt. A range contains others or is apart from them."""
    summary_title: str = ""
    """What the entries of the parts are, such as "files"."""
    about: tuple[str, ...] = ()
    """What the whole output is, such as the shape of JSON: descriptions of falling length, of which one is shown."""
    counts: tuple[str, ...] = ()
    """The numbers of records by the value of a field, such as `status: 88 paid, 2 disputed`."""
    asked: tuple[Span, ...] = ()
    """The records that the question asks for, best first."""
    joints: tuple[Joint, ...] = ()
    """Where characters of a larger text are missing, of which this is an excerpt: offsets, each with their number."""
    failed: tuple[Span, ...] = ()
    """The sections that failed, such as steps of a CI run."""
    failures: tuple[Span, ...] = ()
    """The last lines and the lines that tell of a failure, those that tell most first."""
    envelope: Envelope | None = None
    """The prefixes that were taken from the lines of the stored text; None if none were taken."""
    changes: tuple[str, ...] = ()
    """What the stored text lacks of the output, as `changes_of` in outputs/terminal.py says."""

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
