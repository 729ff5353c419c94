"""Render the shown ranges of an output: the summary of what is left out, the ranges, and a mark for each omission."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Final

from keyhole.outputs.output import Output, OutputPart
from keyhole.outputs.parts import LINES_BY_FILE
from keyhole.outputs.records import MAX_INNER, inner_address
from keyhole.outputs.repeats import template
from keyhole.passages.gaps import Span, find_gaps, gap_line, shown_part
from keyhole.text.escape import escape_gap_lines

# Sum the entries of a summary by folder, for a summary in which not all entries fit. Pure.

MAX_DEPTH: Final = 6
"""Maximum depth of the folders that are summed."""

_ENTRY: Final = re.compile(r"(.*/[^/\s]*)((?: [+-]?\d+)+)")
_NUMBER: Final = re.compile(r"([+-]?)(\d+)")


def by_folder(entries: Sequence[str]) -> Iterator[list[str]]:
    """Yield the sums of entries such as `src/a.py +12 -3` or `src/a.py 4` by folder, the deepest folders first.

    The sum of a single folder is left out, because it says less than the largest entries. Yields nothing if an entry
    has no folder or no numbers.
    """
    found = [match for entry in entries if (match := _ENTRY.fullmatch(entry))]
    if len(found) < len(entries) or len(entries) < 2:
        return
    paths = [match[1].split("/")[:-1] for match in found]
    numbers = [_NUMBER.findall(match[2]) for match in found]
    before = len(entries)
    for depth in range(MAX_DEPTH, 0, -1):
        sums: dict[str, list[int]] = defaultdict(lambda: [0] * (1 + len(numbers[0])))
        for path, counts in zip(paths, numbers, strict=True):
            folder = sums["/".join(path[:depth])]
            for column, count in enumerate((1, *(int(digits) for _, digits in counts))):
                folder[column] += count
        if 1 < len(sums) < before:
            before = len(sums)
            signs = [sign for sign, _ in numbers[0]]
            of_files = not found[0][1].endswith("/")
            yield [_sum(folder, signs, counts, of_files=of_files) for folder, counts in sums.items()]


def _sum(folder: str, signs: Sequence[str], counts: Sequence[int], *, of_files: bool) -> str:
    files = f" {counts[0]:,} file{'s' if counts[0] > 1 else ''}" if of_files else ""
    numbers = "".join(f" {sign}{count}" for sign, count in zip(signs, counts[1:], strict=True))
    return f"{folder}/{files}{numbers}"


# Render the shown ranges of an output: the summary of what is left out, the ranges, and a mark for each omission.

MIN_SUMMARY: Final = 80
"""With fewer characters there is no summary: only its first words would fit."""
MAX_LABEL: Final = 80
"""Characters of a label with two numbers of lines, of up to twelve digits and separators each."""
MAX_NAMED: Final = 1_000
"""Characters of a shown range in which the value that names its record is looked for."""
MAX_TIME: Final = len(" 00:00:00 to 00:00:00")
"""Characters of the times of a shown range in a mark."""
NOTE_DIVISOR: Final = 8
"""The note about what is left out of each line takes at most one part in this many of a result."""
MAX_NESTED: Final = 300
"""Parts before an offset that are examined for the one that contains it."""
MAX_ABOVE: Final = 1_000
"""Characters of a shown range whose last lines are compared with the omitted ones."""


class OutputText:
    """An output prepared for rendering ranges of it in `max_chars`, with at most `summary_chars` of summary."""

    def __init__(self, output: Output, summary_chars: int, max_chars: int) -> None:
        self._output = output
        self._repeats = [start for start, _ in output.repeats]
        self._parts = [part.start for part in output.parts]
        self._joints = [offset for offset, _ in output.joints]
        self._missing = [0, *accumulate(count for _, count in output.joints)]
        self._max_name = max((len(part.name) for part in output.parts), default=0)
        if output.kind == "json" and self._max_name:
            self._max_name += MAX_INNER
        label = (MAX_LABEL if output.repeats else 0) + len(" ") + self._max_name + (MAX_TIME if output.envelope else 0)
        self._max_mark = len("\n" + gap_line(output.total, output.total)) + label
        self._envelope = output.envelope
        note = self._name_prefixes()
        self.note = note if len(note) <= max_chars // NOTE_DIVISOR else ""
        """The line that says what is left out of each line."""
        self._total = len(output.text) + self._missing[-1]
        self.summary_chars = len(self.summary((), summary_chars)) if summary_chars >= MIN_SUMMARY else 0
        """Characters to reserve for the summary."""

    def render(self, spans: Sequence[Span]) -> str:
        """Return the summary of what the spans leave out, and the spans with a mark for each omission."""
        summary = self.summary(spans, self.summary_chars) if self.summary_chars else ""
        return self.note + summary + self.passages(spans)

    def passages(self, spans: Sequence[Span]) -> str:
        """Return the spans with a mark for each omission before, between and after them."""
        text = self._output.text
        spans = [*self.split(spans), (len(text), len(text))]
        places = [self.place(span) for span in spans]
        pieces: list[str] = []
        above, position, shown_to = 0, 0, 0
        times_before, name_before = ("", ""), ""
        for number, ((start, end), (first, last)) in enumerate(zip(spans, places, strict=True)):
            if first > shown_to:
                on_new_line = not pieces or pieces[-1].endswith("\n")
                pieces.append("" if on_new_line else "\n")
                gap = self._stored(shown_to, first)
                times = self._times_of(first, last) if start < len(text) else ("", "")
                name = self._name_of(start, end, places, number)
                label = self._repeats_label(above, position, start) if self._repeats else ""
                pieces.append(gap_line(*gap, label + _further(name, name_before) + _times_label(times, times_before)))
                times_before = times if times[0] else times_before
                name_before = name or name_before
            pieces.append(shown_part(text, start, end))
            above, position, shown_to = above if start == position else start, end, last
        return "".join(pieces)

    def stored_places(self, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Return the offsets of spans in the stored text; if prefixes were taken, those of each line."""
        places = map(self.place, self.split(spans))
        return tuple(
            chain.from_iterable(self._envelope.places(*each) if self._envelope else (each,) for each in places)
        )

    def _name_prefixes(self) -> str:
        """Return the line that says that the time of each line is left out, with the first and the last one."""
        if self._envelope is None:
            return ""
        first, last = (self._envelope.prefixes[end].split("\t")[-1].strip() for end in (0, -1))
        return escape_gap_lines(f"[the time of each line is left out: {first} to {last}]\n")

    def _times_of(self, first: int, last: int) -> tuple[str, str]:
        """Return the times of the first and the last line of a range of the larger text, "" if they are not known."""
        if self._envelope is None:
            return "", ""
        return self._envelope.time_at(first), self._envelope.time_at(max(first, last - 1))

    def _stored(self, start: int, end: int) -> Span:
        """Return the offsets of an omission in the stored text, with the prefix of the line that follows it."""
        if self._envelope is None:
            return start, end
        before = self._envelope.place(start - 1) + 1 if start else 0
        return before, self._envelope.place(end) if end < self._total else self._output.total

    def most_chars(self, spans: Sequence[Span]) -> int:
        """Return an upper bound of the characters by which `passages` grows if these spans are shown too."""
        marks = sum(2 + bisect_left(self._joints, end) - bisect_right(self._joints, start) for start, end in spans)
        return sum(end - start for start, end in spans) + self._max_mark * marks

    def least_chars(self, spans: Sequence[Span]) -> int:
        """Return a lower bound of the characters of `passages`: those of the spans and of the marks without labels."""
        gaps = find_gaps(self._total, [self.place(span) for span in self.split(spans)])
        return sum(end - start for start, end in spans) + sum(len(gap_line(*gap)) for gap in gaps)

    def split(self, spans: Sequence[Span]) -> Sequence[Span]:
        """Return the spans, cut where characters of the larger text are missing."""
        if not self._joints:
            return spans
        pieces: list[Span] = []
        for start, end in spans:
            inner = self._joints[bisect_right(self._joints, start) : bisect_left(self._joints, end)]
            pieces += pairwise([start, *inner, end])
        return pieces

    def place(self, span: Span) -> Span:
        """Return the offsets of a span in the larger text."""
        start, end = span
        first = start + self._missing[bisect_right(self._joints, start)]
        return first, max(first, end + self._missing[bisect_left(self._joints, end)])

    def summary(self, spans: Sequence[Span], limit: int) -> str:
        """Return the lines that say what the output is and which parts are not shown, in `limit` characters."""
        output = self._output
        places = [self.place(span) for span in self.split(spans)]
        counts = self._counts(limit // 2 if output.about or output.parts else limit)
        room = limit - len(counts)
        about = next((line for each in output.about if len(line := f"[{each}]\n") <= room), "")
        hidden = [part for part in output.parts if part.entry and not _is_shown(places, part.start, part.end)]
        if output.summary_title == LINES_BY_FILE and not output.joints:
            hidden = [part for each in hidden if (part := _with_hidden_lines(output.text, each, spans))]
        return escape_gap_lines(counts + about + self._entries(hidden, room - len(about)))

    def _counts(self, limit: int) -> str:
        """Return the line with as many numbers of records by value as fit `limit` characters."""
        shown: list[str] = []
        for entry in self._output.counts:
            if len(f"[{'; '.join([*shown, entry])}]\n") <= limit:
                shown.append(entry)
        return f"[{'; '.join(shown)}]\n" if shown else ""

    def _entries(self, parts: Sequence[OutputPart], limit: int) -> str:
        """Return the line that names parts: all of them, their folders, or the largest ones, in `limit` characters."""
        form = f"[{self._output.summary_title} not shown: {{}}]\n"
        if not parts:
            return ""
        entries = [part.entry for part in parts]
        for named in (entries, *by_folder(entries)):
            if len(whole := form.format(", ".join(named))) <= limit:
                return whole
        left = limit - len(form) - len("99,999 more")
        chosen: list[OutputPart] = []
        for part in sorted(parts, key=lambda part: part.start - part.end):
            left -= len(part.entry) + len(", ")
            if left < 0:
                break
            chosen.append(part)
        largest = [*(part.entry for part in sorted(chosen)), f"{len(parts) - len(chosen):,} more"]
        return form.format(", ".join(largest)) if chosen else ""

    def _name_of(self, start: int, end: int, places: Sequence[Span], number: int) -> str:
        """Return the name of the part with the shown range `text[start:end]`, "" if its first line has the name.

        The field that names a record, such as `name=web-017`, is left out if the range shows it.
        """
        text = self._output.text
        part = self._part_at(places[number][0]) if self._max_name and start < len(text) else None
        if part is None:
            return ""
        inner = ""
        if self._output.kind == "json" and not self._joints:
            is_line = text[start - 1 : start] in ("", "\n")
            inner = inner_address(text, part, start if is_line else (start + end) // 2)
        if _is_shown(places, part.start, part.start + 1, number) and (not inner or text.count("\n", part.start, start)):
            return ""
        address, space, field = part.name.partition(" ")
        part = part._replace(name=address + inner + space + field)
        first_line = text[start : min(end, start + len(part.name) + 200)].split("\n", 1)[0]
        field, _, value = part.name.partition("=")
        is_said = value and text.find(value, start, min(end, start + MAX_NAMED)) >= 0
        name = field.rpartition(" ")[0] if is_said else part.name
        return name if name not in first_line else ""

    def _repeats_label(self, above: int, start: int, end: int) -> str:
        """Return the label that counts the omitted lines `text[start:end]` that are like one shown above, "" for none.

        `above`: the beginning of the range that is shown above them.
        """
        text, place = self._output.text, bisect_right(self._repeats, start) - 1
        is_complete = bisect_left(self._joints, start) == bisect_right(self._joints, end)
        if not is_complete or place < 0 or start >= self._output.repeats[place][1]:
            return ""
        shown = set(template(text[max(above, start - MAX_ABOVE) : start]).splitlines())
        lines = sum(form in shown for form in template(text[start:end]).splitlines())
        others = _count_lines(text, start, end) - lines
        if not lines:
            return ""
        return f" {lines:,} more lines like this" + (f", {others:,} others" if others else "")

    def _part_at(self, offset: int) -> OutputPart | None:
        """Return the innermost part that contains an offset."""
        place = bisect_right(self._parts, offset) - 1
        for number in range(place, max(-1, place - MAX_NESTED), -1):
            if self._output.parts[number].end > offset:
                return self._output.parts[number]
        return None


def _with_hidden_lines(text: str, part: OutputPart, spans: Sequence[Span]) -> OutputPart | None:
    """Return the file of a search with the number of its lines that are not shown, None if all are."""
    name, _, count = part.entry.rpartition(" ")
    inside = [(max(start, part.start), min(end, part.end)) for start, end in spans]
    hidden = int(count) - sum(_count_lines(text, start, end) for start, end in inside if start < end)
    return part._replace(entry=f"{name} {hidden}") if hidden > 0 else None


def _further(name: str, before: str) -> str:
    """Return the label for a part: its name, or only the line number if the label before it names the same file."""
    file, _, line = name.rpartition(":")
    if not name or name == before:
        return ""
    return f" :{line}" if line.isdigit() and before.rpartition(":")[0] == file else f" {name}"


def _times_label(times: tuple[str, str], before: tuple[str, str]) -> str:
    """Return the label for the times of a shown range, "" if all are in the last minute of the range before it."""
    (first, last), minute = times, before[1][:-3]
    if not first or first[:-3] == last[:-3] == minute:
        return ""
    return f" {first}" if first[:-3] == last[:-3] else f" {first} to {last}"


def _count_lines(text: str, start: int, end: int) -> int:
    return text.count("\n", start, end) + (end > start and end == len(text) and text[-1] != "\n")


def _is_shown(spans: Sequence[Span], start: int, end: int, count: int | None = None) -> bool:
    """Return whether one of the first `count` spans contains a range."""
    place = bisect_right(spans, start, hi=count, key=lambda span: span[0]) - 1
    return place >= 0 and spans[place][1] >= end
