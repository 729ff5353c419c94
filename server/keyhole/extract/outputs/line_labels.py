"""Find the label before each line of a text that several programs print: the name of a task, a service or a host.

The label tells whose line it is, so it is shown. It is left out of what is read, because the formats of programs begin
at the beginning of a line. Pure.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import Envelope

MIN_SHARE: Final = 0.7
"""Share of the lines that have a label, at least."""
MIN_LINES: Final = 20
"""Lines with a label, at least."""
MIN_LINES_PER_LABEL: Final = 6
"""Lines for each label in the mean, at least: the words before the colons of a text all differ."""

_LABEL = lazy_pattern(
    r"(?![\w./-]*\.[a-z]{1,5}:)(?!(?:\[?(?i:info|warn|warning|error|err|debug|trace|fatal|notice|critical|note|npm)\b))"
    r"(?:\[[\w@./#-]{1,40}\] |[\w@./#-]{1,60}(?::[\w./-]{1,40})?(?:: | +\| ?|\t| +> ?))"
)
"""`[api] ` of concurrently, `@town/pump:build: ` of turbo, `web-1  | ` of docker compose, name and tab of parallel."""


def take_labels(text: str) -> tuple[str, Envelope | None]:
    """Return a text without the labels of its lines, and where they were; the text and None if it has none."""
    lines = text.split("\n")
    found = [_LABEL.match(line) for line in lines]
    labels = Counter(match[0] for match in found if match)
    count = labels.total()
    filled = sum(1 for line in lines if line.strip())
    if count < MIN_LINES or count < MIN_SHARE * filled or count < MIN_LINES_PER_LABEL * len(labels) or len(labels) < 2:
        return text, None
    lengths = [match.end() if match else 0 for match in found]
    bare = [line[length:] for line, length in zip(lines, lengths, strict=True)]
    starts = tuple(accumulate((len(line) + 1 for line in bare[:-1]), initial=0))
    return "\n".join(bare), Envelope(starts, tuple(accumulate(lengths)), ("",) * len(lines))
