"""Find the label before each line of a text that several programs print: the name of a task, a service or a host.

The label tells whose line it is, so it is shown. It is left out of what is read, because the formats of programs begin
at the beginning of a line. Pure.
"""

from __future__ import annotations

from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import Envelope, ends_of, take

MIN_SHARE: Final = 0.7
"""Minimum share of the lines that have a label."""
MIN_LINES: Final = 20
"""Minimum number of lines with a label."""
SAMPLE_CHARS: Final = 20_000
"""Characters examined at the beginning, and at the end, to decide whether lines have labels."""
MIN_LINES_PER_LABEL: Final = 6
"""Minimum mean number of lines per label. In prose, the words before colons all differ."""

_LABEL = lazy_pattern(
    r"\n((?![\w./-]*\.[a-z]{1,5}:)(?!(?:\[?(?i:info|warn|warning|error|err|debug|trace|fatal|notice|critical|note|npm)\b))"
    r"(?:\[[\w@./#-]{1,40}\] |[\w@./#-]{1,60}(?::[\w./-]{1,40})?(?:: | +\| ?|\t| +> ?)))"
)
"""`[api] ` of concurrently, `@town/pump:build: ` of turbo, `web-1  | ` of docker compose, name and tab of parallel."""


def take_labels(text: str) -> tuple[str, Envelope | None]:
    """Return a text without the labels of its lines, and where they were; the text and None if it has none."""
    ends = ends_of(text, SAMPLE_CHARS)
    if not _are_labels(ends, [match[0] for match in _LABEL.finditer(f"\n{ends}")]):
        return text, None
    return take(text, _LABEL)


def _are_labels(text: str, found: list[str]) -> bool:
    """Return whether `found` are labels: nearly all lines have one, and only a few of them differ."""
    different = len(set(found))
    filled = sum(1 for line in text.split("\n") if line.strip())
    is_enough = len(found) >= max(MIN_LINES, MIN_SHARE * filled)
    return is_enough and 2 <= different <= len(found) / MIN_LINES_PER_LABEL
