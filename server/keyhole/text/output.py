"""The text of an output with what was found in it, and what is shown of it: where selecting its lines starts and ends.

Tuples, because the classes are created each time a hook starts, and a dataclass takes ten times as long.
"""

from __future__ import annotations

from typing import Final, NamedTuple

HINTS: Final = "paths and URLs"
"""The title of the parts that are paths and URLs. They have no names."""
Span = tuple[int, int]
"""Start and end offsets."""
Mark = tuple[int, int, float]
"""The offsets of lines, and their weight. Lines with a larger weight are shown first."""


class Part(NamedTuple):
    """A named range of an output: a file of a diff, a definition of source, a record of JSON."""

    start: int
    end: int
    name: str
    """What the omission before a passage of this part says, such as `$.packages[12]`."""
    entry: str = ""
    """What the summary says of the part if it is not shown whole, such as `src/a.py +12 -3`; "" for nothing."""


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

    @property
    def total(self) -> int:
        """Return the number of characters of the whole text, also of one of which this is an excerpt."""
        return len(self.text) + sum(count for _, count in self.joints)


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
