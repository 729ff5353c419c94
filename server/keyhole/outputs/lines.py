"""Order the lines of an output for a reader who asks nothing: lines that name the command's words, and both ends. Pure.

Nothing is indexed, so this takes a few milliseconds for an output of 100,000 characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import log, log2
from typing import Final

from keyhole.outputs.repeats import template
from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.letters import is_inside_word, lower

MIN_WORD: Final = 3
"""Characters of the shortest word that is looked for."""
MAX_LINES: Final = 3_000
"""Maximum number of lines with a word that are examined: a word on more lines distinguishes none."""
MAX_LINE: Final = 400
"""Characters of a line that are taken. A longer one is mostly data."""
STRETCH: Final = 350
"""Characters of the stretches from the ends."""
HEAD_SHARE: Final = 0.75
"""Share of the shown characters that come from the beginning."""


def lines_with(text: str, words: str) -> Iterator[Span]:
    """Yield the lines with any of the words, those with more and rarer ones first; equal lines once, long ones cut."""
    low, lines = lower(text), text.count("\n") + 1
    weights: dict[int, float] = {}
    places: dict[int, int] = {}
    seen: set[str] = set()
    for word in dict.fromkeys(lower(words).split()):
        starts = _starts(low, word) if len(word) >= MIN_WORD else {}
        for start, place in starts.items():
            weights[start] = weights.get(start, 0.0) + log(1 + lines / len(starts))
            places.setdefault(start, place)
    for start in sorted(weights, key=lambda start: (-weights[start], start))[:MAX_LINES]:
        end = text.find("\n", start) + 1 or len(text)
        start = start if end - start <= MAX_LINE else max(start, places[start] - MAX_LINE // 4)
        end = min(end, start + MAX_LINE)
        if text[start:end] not in seen:
            seen.add(text[start:end])
            yield start, end


def _starts(low: str, word: str) -> dict[int, int]:
    """Return the starts of the first lines that contain a word, each with the word's offset."""
    starts: dict[int, int] = {}
    place = low.find(word)
    while place >= 0 and len(starts) < MAX_LINES:
        end = place + len(word)
        if not is_inside_word(low, place):
            starts[low.rfind("\n", 0, place) + 1] = place
            end = low.find("\n", place)
        place = low.find(word, end) if end >= 0 else -1
    return starts


def ends_first(text: str, start: int = 0, end: int | None = None, head_share: float = HEAD_SHARE) -> Iterator[Span]:
    """Yield stretches of whole lines from both ends of a range towards its middle; a long line is cut.

    `head_share`: the share of the characters that are of the beginning.
    """
    first, last = start, len(text) if end is None else end
    head, tail = first, last
    while head < tail:
        if (head - first) * (1 - head_share) <= head_share * (last - tail):
            stop = text.find("\n", head + STRETCH, tail) + 1 or tail
            stop = stop if stop - head <= 2 * STRETCH else min(tail, head + STRETCH)
            yield head, stop
            head = stop
        else:
            begin = text.rfind("\n", head, max(head, tail - STRETCH)) + 1
            begin = begin if begin > head and tail - begin <= 2 * STRETCH else max(head, tail - STRETCH)
            yield begin, tail
            tail = begin


# Find the last lines of an output, and the lines that tell most of a failure, whatever program printed them.

END_LINES: Final = 4
"""Last lines of an output, which come before the lines with words of failure."""
MAX_FAILURE_LINES: Final = 4_000
"""Lines with a word of failure that are compared, the last ones: a log of a megabyte has some two thousand."""
MAX_FAILURE_LINE: Final = 300
"""Characters of a line that is shown apart from the lines around it. A longer one is mostly a command or data."""
FORM_WEIGHT: Final = 1.0
PLACE_WEIGHT: Final = 0.5
"""What a line gains by a form of `_SHOUTED`, loses by a word of `_HARMLESS`, and gains by naming a file and a line. The
position in the text adds 0 to 1. With twice of either, about as many signals of benchmarks/outputs/failed_runs.py are
found."""
COUNT_WEIGHT: Final = 0.25
"""What a line loses for each doubling of the number of lines that begin as it does: what happens all the time is no
failure."""
MAX_BEGINNINGS: Final = 500
"""Beginnings of lines that are counted. Each takes a third of a millisecond for a megabyte."""

_FAILURE_WORDS: Final = (
    "error", "fail", "fatal", "exception", "panic", "abort", "crash", "killed", "denied", "refused", "undefined",
    "cannot", "reject", "unexpected", "timed out", "timeout", "segmentation fault", "not found", "exit code",
    "exit status",
)  # fmt: skip
"""Words with which programs of any kind report a failure. They are searched first, because the pattern is slow."""
_FAILURE = lazy_pattern(
    r"\b(?:errors?|fail(?:s|ed|ures?|ing)?|fatal|exceptions?|panic(?:ked)?|abort(?:ed|ing)?|crash(?:ed)?|killed|denied"
    r"|refused|undefined|cannot|rejects?|unexpected|timed? ?out|segmentation fault|not found|exit (?:code|status))\b"
)
"""The same words as words, in lower case: `failover` is none."""
_NAMED_FAILURE = lazy_pattern(r"\w(?:Error|Exception)\b")
_SHOUTED: Final = (
    "FAIL", "ERROR", "FATAL", "CRASH", "PANIC", "UNEXPECTED", "ABORT", "CRITICAL", "EXCEPTION", "rror: ", "Exception: ",
    "Traceback", "panic: ", "panicked", "core dumped", "egmentation", "illed",
)  # fmt: skip
"""The forms in which programs announce their own failure. A first letter that is written small or large is left out."""
_HARMLESS: Final = (
    "warn", "retry", "echo ", "deprecated", "no error", "0 error", "0 fail", "failed: 0", "failed:  0", "failures: 0",
)  # fmt: skip
"""Words of lines that name failures without being one: warnings, scripts, counts of none. In lower case."""
_FIRST_WORDS = lazy_pattern(r"\s*(?:[^\s\d]+[ \t]+){0,2}[^\s\d]+")
_PLACE = lazy_pattern(r"\.\w{1,5}:\d")
"""The place of a failure: a file and a line."""


def telling_failures(text: str) -> Iterator[Span]:
    """Yield the last lines of an output, and then its lines with a word of failure, those that tell most first.

    A line tells more if few lines begin as it does, if it announces a failure, names a place, and is late. The first
    failures of an output are often warnings; the last ones ended the run. Of lines that differ only in numbers, the
    last one is yielded.
    """
    ends = list(islice(_lines_backwards(text, 0), END_LINES))
    yield from ends
    last: dict[str, Span] = {}
    for start, end in _failure_lines(text):
        last[template(text[start:end])] = (start, end)
    lines = f"\n{text}"
    counts: dict[str, int] = {}
    scores: dict[Span, float] = {}
    for span in last.values():
        head = _beginning(text[slice(*span)])
        if head not in counts:
            counts[head] = lines.count(f"\n{head}") if len(counts) < MAX_BEGINNINGS else 1
        scores[span] = _telling(text, span) - COUNT_WEIGHT * log2(max(1, counts[head]))
    yield from (span for span in sorted(scores, key=lambda span: (-scores[span], -span[0])) if span not in ends)


def _beginning(line: str) -> str:
    """Return the first words of a line, up to a number."""
    found = _FIRST_WORDS.match(line)
    return found[0] if found else line


def _telling(text: str, line: Span) -> float:
    """Return how much the words of a line with a word of failure tell."""
    words = text[slice(*line)]
    score = line[0] / len(text) + (PLACE_WEIGHT if _PLACE.search(words) else 0.0)
    if any(form in words for form in _SHOUTED):
        score += FORM_WEIGHT
    words = words.lower()
    return score - FORM_WEIGHT if any(form in words for form in _HARMLESS) else score


def _failure_lines(text: str) -> list[Span]:
    """Return the beginnings of the last `MAX_FAILURE_LINES` lines with a word of failure, in order."""
    low = lower(text)
    starts: set[int] = set()
    for word in _FAILURE_WORDS:
        place = low.find(word)
        while place >= 0:
            starts.add(low.rfind("\n", 0, place) + 1)
            end = low.find("\n", place)
            place = low.find(word, end) if end >= 0 else -1
    spans = []
    for start in sorted(starts)[-MAX_FAILURE_LINES:]:
        end = text.find("\n", start, start + MAX_FAILURE_LINE) + 1 or min(len(text), start + MAX_FAILURE_LINE)
        if _FAILURE.search(low, start, end) or _NAMED_FAILURE.search(text, start, end):
            spans.append((start, end))
    return spans


def _lines_backwards(text: str, first: int) -> Iterator[Span]:
    """Yield the beginnings of the lines of `text[first:]` that are not blank, the last one first."""
    end = len(text)
    while end > first:
        start = text.rfind("\n", first, end - 1) + 1 or first
        if not text[start:end].isspace():
            yield start, min(end, start + MAX_FAILURE_LINE)
        end = start
