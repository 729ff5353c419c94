"""Find the last lines of an output, and the last ones with a word of failure. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.line_form import template
from keyhole.text.output import Span

END_LINES: Final = 4
"""Last lines of an output, which come before the lines with words of failure."""
MAX_SEARCHED: Final = 400_000
"""Characters before the end in which lines with words of failure are searched, in some milliseconds."""
MAX_LINE: Final = 300
"""Characters of a line that is shown apart from the lines around it. A longer one is mostly a command or data."""

_FAILURE = lazy_pattern(
    r"\b(?:errors?|fail(?:s|ed|ures?|ing)?|fatal|exceptions?|panic(?:ked)?|abort(?:ed|ing)?|crash(?:ed)?|killed|denied"
    r"|refused|undefined|cannot|rejects?|unexpected|timed? ?out|segmentation fault|not found|exit (?:code|status))\b",
    re.IGNORECASE,
)
"""Words with which programs of any kind report a failure."""


def last_failures(text: str) -> Iterator[Span]:
    """Yield the last lines of an output, and then its last lines with a word of failure, the last one first.

    The first failures of an output are often warnings; the last ones ended the run. Of lines that differ only in
    numbers, the last one is yielded.
    """
    seen: set[str] = set()
    for number, (start, end) in enumerate(_lines_backwards(text, max(0, len(text) - MAX_SEARCHED))):
        if number < END_LINES:
            seen.add(template(text[start:end]))
            yield start, end
        elif _FAILURE.search(text, start, end) and (form := template(text[start:end])) not in seen:
            seen.add(form)
            yield start, end


def _lines_backwards(text: str, first: int) -> Iterator[Span]:
    """Yield the beginnings of the lines of `text[first:]` that are not blank, the last one first."""
    end = len(text)
    while end > first:
        start = text.rfind("\n", first, end - 1) + 1 or first
        if not text[start:end].isspace():
            yield start, min(end, start + MAX_LINE)
        end = start
