"""Find the last lines of an output, and the lines that tell most of a failure, whatever program printed them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from math import log2
from typing import Final

from keyhole.outputs.lines import find_in_lines
from keyhole.outputs.output import Mark
from keyhole.outputs.repeats import template
from keyhole.passages.gaps import Span
from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.letters import lower

FAILING_KINDS: Final = frozenset({"log", "test", "compiler", "trace"})
"""Kinds of outputs in which failures are looked for whatever program printed them."""
MISTAKABLE_KINDS: Final = frozenset({"yaml", "csv", "listing"})
"""Kinds for which the log of a failed run may be taken, because most of its lines have their form."""
ANNOUNCED_WEIGHT: Final = 1.5
"""Weight of a failure from which those of an output of `MISTAKABLE_KINDS` are shown: it is announced, and not early."""
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
AGAIN_WEIGHT: Final = 0.5
"""What a line gains by a second form of `_SHOUTED`: `TEST-UNEXPECTED-FAIL`."""
COUNT_WEIGHT: Final = 0.25
"""What a line loses for each doubling of the number of failures that begin as it does: what happens all the time is no
failure."""
FIRST_WORDS: Final = 4
"""Words at the beginnings of failures that are compared. With 3 or 6, fewer signals are found."""
LOSS_BEFORE: Final = 1.2
LOSSES_AFTER: Final = (0.8, 1.1, 1.4)
PART_GAIN: Final = 0.25
"""How much less the line before a failure tells than the failure, and the three lines after it, which explain it more
often; an indented line loses less by `PART_GAIN`."""
INTRODUCED_GAIN: Final = 0.8
"""How much less the lines lose that follow a failure with a colon at its end: `error during build:` only introduces
them. With 0.5, a quarter fewer of the signals are found that this adds."""
MIN_NEIGHBOUR: Final = 0.4
"""What a line beside a failure must tell to be shown: those beside warnings are left to the other orders."""
INDENTED: Final = (" ", "\t", "|")
MAX_WITH_NEIGHBOURS: Final = 150
"""Failures whose neighbours are weighed, those that tell most. No budget shows more."""
COMMON_WEIGHT: Final = 1.0
"""What the weight of a line lacks to this number is taken from the weight of its mark."""

MAX_FORMS: Final = 4_000
"""Failures of different forms that are kept of a text of any length: about 2 MB."""
CHARS_BEFORE: Final = 1_000
CHARS_AFTER: Final = 2_000
"""Characters around a failure that are kept with it: what was done before, and the trace that follows."""

_FAILURE_WORDS: Final = (
    "error", "fail", "fatal", "exception", "panic", "abort", "crash", "killed", "denied", "refused", "undefined",
    "cannot", "reject", "unexpected", "timed out", "timeout", "segmentation fault", "not found", "exit code",
    "exit status",
)  # fmt: skip
"""The beginnings of the words with which programs report a failure. The pattern is slow, and is tried only where one
is."""
_FAILURE = lazy_pattern(
    r"\b(?:errors?|fail(?:s|ed|ures?|ing)?|fatal|exceptions?|panic(?:ked)?|abort(?:ed|ing)?|crash(?:ed)?|killed|denied"
    r"|refused|undefined|cannot|rejects?|unexpected|timed out|timeout|segmentation fault|not found"
    r"|exit (?:code|status))\b"
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
_VARIABLE: Final = frozenset("0123456789/.'`" + '"')
"""Characters of words in which equal failures differ: numbers, paths, names in quotes."""
_PLACE = lazy_pattern(r"\.\w{1,5}:\d")
"""The place of a failure: a file and a line."""


def telling_failures(text: str) -> Iterator[Span]:
    """Yield the last lines of an output, and then its lines with a word of failure, those that tell most first."""
    yield from order_failures(text, weigh_failures(text))


def weigh_failures(text: str) -> dict[Span, float]:
    """Return how much each line with a word of failure tells; of a longer line, its beginning is returned.

    A line tells more if few failures begin as it does, if it announces a failure, names a place, and is late. The first
    failures of an output are often warnings; the last ones ended the run.
    """
    lines = {span: text[slice(*span)] for span in _failure_lines(text)}
    heads = {span: _first_words(line) for span, line in lines.items()}
    counts = Counter(heads.values())
    return {
        span: span[0] / len(text) + _telling(line) - COUNT_WEIGHT * log2(counts[heads[span]])
        for span, line in lines.items()
    }


def order_failures(text: str, weights: Mapping[Span, float]) -> Iterator[Span]:
    """Yield the last lines of an output, and then those of `weigh_failures` with the lines beside them.

    Of lines that differ only in numbers, the last one is yielded. The lines beside a failure tell less than it does,
    and may tell more than other failures.
    """
    ends = list(islice(_lines_backwards(text, 0), END_LINES))
    yield from ends
    forms = template("\n".join(text[slice(*span)].rstrip("\n") for span in weights)).split("\n")
    last = dict(zip(forms, weights, strict=False))  # without failures, there is one empty form
    scores = {span: weights[span] for span in last.values()}
    for span in _best_first(scores)[:MAX_WITH_NEIGHBOURS]:
        for neighbour, loss in _neighbours(text, span):
            if (score := scores[span] - loss) >= MIN_NEIGHBOUR:
                scores[neighbour] = max(scores.get(neighbour, score), score)
    yield from (span for span in _best_first(scores) if span not in ends)


def _best_first(scores: Mapping[Span, float]) -> list[Span]:
    return sorted(scores, key=lambda span: (-scores[span], -span[0]))


def lower_common(marks: Iterable[Mark], weights: Mapping[Span, float]) -> tuple[Mark, ...]:
    """Return marks in which those lines of `weigh_failures` that tell little weigh less."""
    losses = {start: min(0.0, weight - COMMON_WEIGHT) for (start, _), weight in weights.items()}
    return tuple((start, end, weight + losses.get(start, 0.0)) for start, end, weight in marks)


def _neighbours(text: str, span: Span) -> Iterator[tuple[Span, float]]:
    """Yield the line before a failure and those after it, up to a blank line, each with how much less it tells.

    A blank line after a failure that introduces the next lines is skipped.
    """
    start = text.rfind("\n", 0, max(0, span[0] - 1)) + 1
    if text[start : span[0]].strip():
        yield (start, min(span[0], start + MAX_FAILURE_LINE)), LOSS_BEFORE
    start = text.find("\n", span[0]) + 1
    introduces = text[slice(*span)].rstrip().endswith(":")
    if introduces and text.startswith("\n", start):
        start += 1
    for loss in LOSSES_AFTER:
        end = text.find("\n", start) + 1 or len(text)
        if not start or not text[start:end].strip():
            return
        is_part = text.startswith(INDENTED, start)
        gain = (PART_GAIN if is_part else 0.0) + (INTRODUCED_GAIN if introduces else 0.0)
        yield (start, min(end, start + MAX_FAILURE_LINE)), loss - gain
        start = end if end < len(text) else 0


def _telling(line: str) -> float:
    """Return how much the words of a line with a word of failure tell."""
    score = PLACE_WEIGHT if _PLACE.search(line) else 0.0
    if shouted := sum(form in line for form in _SHOUTED):
        score += FORM_WEIGHT + (AGAIN_WEIGHT if shouted > 1 else 0.0)
    line = line.lower()
    return score - FORM_WEIGHT if any(form in line for form in _HARMLESS) else score


def _failure_lines(text: str) -> list[Span]:
    """Return the beginnings of the last `MAX_FAILURE_LINES` lines with a word of failure, in order."""
    low = lower(text)
    starts: set[int] = set()

    def tells_failure(place: int) -> bool:
        return bool(_FAILURE.match(low, place) or (place and _NAMED_FAILURE.match(text, place - 1)))

    for place, _ in chain.from_iterable(find_in_lines(low, word, tells_failure) for word in _FAILURE_WORDS):
        start = low.rfind("\n", 0, place) + 1
        if place < start + MAX_FAILURE_LINE:
            starts.add(start)
    return [
        (start, text.find("\n", start, start + MAX_FAILURE_LINE) + 1 or min(len(text), start + MAX_FAILURE_LINE))
        for start in sorted(starts)[-MAX_FAILURE_LINES:]
    ]


def _lines_backwards(text: str, first: int) -> Iterator[Span]:
    """Yield the beginnings of the lines of `text[first:]` that are not blank, the last one first."""
    end = len(text)
    while end > first:
        start = text.rfind("\n", first, end - 1) + 1 or first
        if not text[start:end].isspace():
            yield start, min(end, start + MAX_FAILURE_LINE)
        end = start


class FailureFinder:
    """Finds the lines that tell most of a failure in a text of any length that is added piece by piece.

    Of lines that differ only in numbers, the last one is kept, with the lines around it in its piece.
    """

    def __init__(self) -> None:
        self._chars = 0
        self._counts: Counter[str] = Counter()
        self._found: dict[str, tuple[float, Span]] = {}

    def add(self, piece: str) -> None:
        """Add the next piece of the text."""
        spans = _failure_lines(piece)
        forms = template("\n".join(piece[slice(*span)].rstrip("\n") for span in spans)).split("\n")
        counts = Counter(forms)
        last = dict(zip(forms, spans, strict=False))  # without failures, there is one empty form
        for form, (start, end) in last.items():
            first = piece.rfind("\n", 0, max(0, start - CHARS_BEFORE)) + 1
            after = piece.find("\n", min(len(piece), end + CHARS_AFTER) - 1) + 1 or len(piece)
            telling = self._found[form][0] if form in self._found else _telling(piece[start:end])
            self._found[form] = telling, (self._chars + first, self._chars + after)
            self._counts[_first_words(form)] += counts[form]
        self._chars += len(piece)
        if len(self._found) > 2 * MAX_FORMS:
            self._found = dict(self._best_first()[:MAX_FORMS])
            kept = set(map(_first_words, self._found))
            self._counts = Counter({head: count for head, count in self._counts.items() if head in kept})

    def spans(self, max_chars: int) -> Iterator[Span]:
        """Yield the lines around the failures that tell most, of at most `max_chars` characters."""
        for _, (_, (start, end)) in self._best_first():
            max_chars -= end - start
            if max_chars < 0:
                return
            yield start, end

    def _best_first(self) -> list[tuple[str, tuple[float, Span]]]:
        def score(found: tuple[str, tuple[float, Span]]) -> float:
            form, (telling, (start, _)) = found
            return telling + start / max(1, self._chars) - COUNT_WEIGHT * log2(self._counts[_first_words(form)])

        return sorted(self._found.items(), key=score, reverse=True)


def _first_words(line: str) -> str:
    """Return the first words of a line, with `#` for a word in which equal failures differ, such as a number."""
    return " ".join(
        word if _VARIABLE.isdisjoint(word) else "#" for word in line.split(maxsplit=FIRST_WORDS)[:FIRST_WORDS]
    )
