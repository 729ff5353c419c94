"""Find the stack traces of an output, which are shown whole unless they are long. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import Span

TRACED_KINDS: Final = frozenset({"trace", "log", "test"})
"""Kinds in which stack traces are looked for."""

_PYTHON = lazy_pattern(r"(?:^[ \t].*\n)+(\S.*\n?)?", re.MULTILINE)
"""What follows the first line of a trace of Python: its frames, and the error. Without the error, it is cut off."""
_PYTHON_START: Final = "Traceback (most recent call last):\n"
_FRAMES = lazy_pattern(r"(?:^[ \t]+(?:at .*|\.\.\. \d+ more)\n|^Caused by: .*\n)+", re.MULTILINE)
"""What follows the first line of a trace of Java or JavaScript."""
_FRAME_STARTS: Final = ("\n\tat ", "\n    at ")


def find_traces(text: str) -> tuple[Span, ...]:
    """Return the stack traces of Python, Java and JavaScript, in order."""
    return tuple(sorted([*_python_traces(text), *_traces_of_frames(text)]))


def _python_traces(text: str) -> Iterator[Span]:
    start = text.find(_PYTHON_START)
    while start >= 0:
        after = start + len(_PYTHON_START)
        match = _PYTHON.match(text, after)
        if match and match[1] and text[start - 1 : start] in ("", "\n"):
            yield start, match.end()
        start = text.find(_PYTHON_START, match.end() if match else after)


def _traces_of_frames(text: str) -> Iterator[Span]:
    for frame in _FRAME_STARTS:
        place = text.find(frame)
        while place >= 0:
            match = _FRAMES.match(text, place + 1)
            end = match.end() if match else place + len(frame)
            if match:
                yield text.rfind("\n", 0, place) + 1, end
            place = text.find(frame, end - 1)
