"""Read an excerpt of an output that is too large to be ranked as a whole. Pure."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from keyhole.outputs.envelope import take_prefixes_for
from keyhole.outputs.failures import FailureFinder, telling_failures
from keyhole.outputs.marks import find_key_marks
from keyhole.outputs.output import of_larger_text
from keyhole.outputs.read import Output, command_words, read_lines, read_parts, recognise
from keyhole.outputs.sections import SECTIONED_KINDS, find_failed
from keyhole.passages.excerpt import EXCERPT_CHARS as MAX_CHARS
from keyhole.passages.excerpt import Excerpt, ExcerptChooser, make_excerpt, query_needles, word_needles
from keyhole.passages.gaps import merge_spans
from keyhole.text.output_facts import LARGE_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from keyhole.passages.excerpt import Needle
    from keyhole.passages.gaps import Span
    from keyhole.text.output_facts import OutputFacts

UNREAD_JSON: Final = f"the shape and the records of JSON over {LARGE_CHARS:,} characters are not read"
"""What is said of JSON of which only an excerpt is in memory: its values would take ten times its size."""
PIECE_CHARS: Final = 262_144
"""Characters of the pieces in which a text in memory is examined."""
STRETCH_CHARS: Final = 1_024
"""Characters of the stretches of a text in memory. The shorter they are, the more places fit an excerpt."""
EXCERPT_CHARS: Final = 48_000
"""Characters of the smallest excerpt: several times the largest default budget."""
FAILED_SHARE: Final = 0.75
"""Share of an excerpt that is chosen from the sections that failed, if there are any."""
LAST_SHARE: Final = 0.2
"""Share of an excerpt for the last lines with a word of failure."""
FAILURE_SHARE: Final = 0.5
"""Share that failures, with the lines around them, have in the excerpt of an output that is too large for memory."""
SHARE: Final = 20
"""An excerpt of a text in memory is a twentieth of it, if that is more than EXCERPT_CHARS."""


def needles_of(query: str | None, command: str) -> list[Needle]:
    """Return what is searched for in an output: the words of the query, or those of the command if there is none."""
    return query_needles(query) if query else word_needles(command_words(command))


def read_by_excerpt(text: str, kind: str, needles: Sequence[Needle], least: int = 0, question: str = "") -> Output:
    """Read a text in memory by an excerpt of at least `least` characters. Its parts are those of the whole text.

    `needles`: what the excerpt should contain; `question`: its records are found in the whole text.
    """
    whole = read_parts(text, Output("", kind), question)
    failed = find_failed(text) if kind in SECTIONED_KINDS else ()
    most = max(least, EXCERPT_CHARS, min(MAX_CHARS, len(text) // SHARE))
    cuts = [0, *_cuts(text, whole.records), len(text)]
    spans = _choose(text, cuts, needles, most if not failed else int(most * (1 - FAILED_SHARE)))
    for section in failed:
        spans += _choose(text, section, needles, int(most * FAILED_SHARE / len(failed)))
    if kind in SECTIONED_KINDS:
        spans += _whole_lines(text, telling_failures(text), int(most * LAST_SHARE))
    key_marks = [*find_key_marks(text, kind), *whole.marks]
    heaviest = (mark[:2] for mark in sorted(key_marks, key=lambda mark: -mark[2]))
    asked = [(start, min(end, start + STRETCH_CHARS)) for start, end in whole.asked]
    spans = merge_spans([*spans, *asked, *_whole_lines(text, heaviest, most)])
    excerpt = make_excerpt(spans, len(text), lambda start, end: text[start:end])
    failed_there = [place for span in failed if (place := _overlap(span, spans))]
    places = _inside([mark[:2] for mark in key_marks], spans)
    read = read_lines(excerpt.text, kind, failed_there, [(*place, key_marks[number][2]) for number, place in places])
    return whole._replace(
        text=read.text,
        marks=read.marks,
        repeats=read.repeats,
        records=read.records or tuple(place for _, place in _inside(whole.records, spans)),
        asked=tuple(place for _, place in _inside(asked, spans)),
        joints=excerpt.joints,
        failed=read.failed,
        failures=read.failures,
    )


def _choose(text: str, cuts: Sequence[int], needles: Sequence[Needle], most: int) -> list[Span]:
    """Return the stretches chosen from the pieces between the cuts, of at most `most` characters."""
    chooser = ExcerptChooser(needles, STRETCH_CHARS)
    for start, end in pairwise(cuts):
        for first in range(start, end, PIECE_CHARS):
            chooser.add(text[first : min(end, first + PIECE_CHARS)])
    return [(start + cuts[0], end + cuts[0]) for start, end in chooser.choose(most)]


def _overlap(section: Span, spans: Sequence[Span]) -> Span | None:
    """Return the offsets of a section in the excerpt that consists of `spans`; None if the excerpt has none of it."""
    before = [0, *accumulate(end - start for start, end in spans)]
    inside = [
        (before[number] + max(0, section[0] - start), before[number] + min(end, section[1]) - start)
        for number, (start, end) in enumerate(spans)
        if start < section[1] and end > section[0]
    ]
    return (inside[0][0], inside[-1][1]) if inside else None


def _cuts(text: str, records: Sequence[Span]) -> Iterator[int]:
    """Yield where a text is cut into pieces, so that short records are whole in a stretch."""
    if not records:
        yield from range(PIECE_CHARS, len(text), PIECE_CHARS)
    position = 0
    for record, (start, end) in pairwise(records):
        if end - position > STRETCH_CHARS:
            position = text.rfind("\n", record[1], start) + 1 or start
            yield position


def _whole_lines(text: str, spans: Iterable[Span], most: int) -> Iterator[Span]:
    """Yield the spans to the ends of their lines, those that fit `most` characters in all."""
    for start, end in spans:
        end = text.find("\n", end - 1) + 1 or len(text)
        most -= end - start
        if most >= 0:
            yield start, end


def _inside(ranges: Sequence[Span], spans: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """Yield the numbers of the ranges that are whole in an excerpt of these spans, and their offsets in the excerpt."""
    starts = [start for start, _ in spans]
    before = [0, *accumulate(end - start for start, end in spans)]
    for number, (start, end) in enumerate(ranges):
        place = bisect_right(starts, start) - 1
        if place >= 0 and end <= spans[place][1]:
            offset = before[place] - spans[place][0]
            yield number, (start + offset, end + offset)


class OutputExcerpt:
    """Chooses the excerpt of an output that is too large for memory: its ends, `needles`, and its failures."""

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._chooser, self._finder = ExcerptChooser(needles, failures=()), FailureFinder()

    def examine(self, pieces: Iterable[str]) -> Iterator[str]:
        """Yield the pieces of the text unchanged, and look for what the excerpt shall have."""
        for piece in pieces:
            self._chooser.add(piece)
            self._finder.add(piece)
            yield piece

    def spans(self) -> tuple[Span, ...]:
        """Return the offsets of the excerpt in order."""
        chars = int(MAX_CHARS * FAILURE_SHARE)
        return tuple(merge_spans([*self._finder.spans(chars), *self._chooser.choose(MAX_CHARS - chars)]))


def read_excerpt(excerpt: Excerpt, query: str | None, facts: OutputFacts) -> Output:
    """Read an excerpt as the output from which it is taken, without the prefixes of its lines.

    The parts of an excerpt are not those of the whole, so it has none but the steps that its prefixes name.
    """
    text, envelope = take_prefixes_for(excerpt.text, query)
    joints = excerpt.joints
    if envelope:
        envelope, joints = of_larger_text(envelope, joints)
    kind = facts.kind or recognise(text, facts.command, facts.name, facts.exit_status)
    parts = envelope.parts(excerpt.total) if envelope else ()
    about = (UNREAD_JSON,) if kind == "json" else ()
    return read_lines(text, kind)._replace(joints=joints, envelope=envelope, parts=parts, about=about)
