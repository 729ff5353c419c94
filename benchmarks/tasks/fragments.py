"""Find the faults of a result's fragments: parts of a unit that are shown without what makes them understood.

A fragment is what a result shows between two gap lines. It is compared with the stored text, which is read here line by
line and by rules of its own, so that a unit that Keyhole does not see is counted, too. `python -m
benchmarks.tasks.show_fragments` counts the faults in the first results of all tasks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from benchmarks.search.web.corpus import normalize_text

KINDS: Final = ("fence", "mark", "definition", "row", "entry")
"""A code block that is opened or closed on one side only, a mark of a list item without its text, a definition without
its term, a row without its header, an entry of a changelog without its version or date."""
NAMED_CHARS: Final = 24
"""Characters, without spaces and markup, of a line that a label must repeat. A label cuts long lines."""

_GAP = re.compile(r"^\[…(\d+):(\d+)\]", re.MULTILINE)
_FENCE = re.compile(r"\s*(?:(?:[>*+:-]|\d{1,3}[.)])\s+)*(`{3,}|~{3,})")
_BARE_MARK = re.compile(r"\s*(?:\d{1,3}[.)]|[-*+])\s*")
_TABLE_RULE = re.compile(r"\|[\s:|-]+\|?\s*")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_ENTRY = re.compile(
    r"[#*=\[\s]*(?:(?:[a-z'][\w'+.-]*\s+){0,5}[(\[]?v?\d+(?:\.\d+)+[\w.+~:-]*[)\]]?"
    rf"(?=\W*$|\s*[-–—:,(\[/;]|\s+(?:\d{{1,4}}\b|{_MONTH}|\w+day\b|release|unstable))"
    rf"|\d{{4}}-\d\d-\d\d\b|(?:\w+day,?\s+)?{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}\W*$"
    rf"|\d{{1,2}} {_MONTH} \d{{4}}\b).{{0,100}}",
    re.IGNORECASE,
)


class Fault(NamedTuple):
    """A fragment `text[start:end]` that lacks something."""

    kind: str
    start: int
    end: int


@dataclass(slots=True)
class Findings:
    """The fragments that can have a fault of each kind, and the faults."""

    examined: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    faults: list[Fault] = field(default_factory=list)

    def add(self, kind: str, start: int, end: int, *, is_faulty: bool) -> None:
        """Count a fragment."""
        self.examined[kind] += 1
        if is_faulty:
            self.faults.append(Fault(kind, start, end))


class SourceLines:
    """The lines of a stored text, and for each one what it needs to be understood: the numbers of lines, -1 for none.

    `code`: the opening fence of the line's code block. `term`, `header`, `version`: the lines with the term, the header
    row, and the version or date that the line belongs to.
    """

    def __init__(self, text: str, kind: str = "") -> None:
        """`kind`: of the task's page. Only a changelog has entries."""
        self.lines = text.splitlines(keepends=True) if "\r" not in text else re.split(r"(?<=\n)", text)
        self.starts = [0, *accumulate(map(len, self.lines))][:-1]
        count = len(self.lines)
        self.code, self.term, self.header, self.version = ([-1] * count for _ in range(4))
        self._read_code()
        self._read_terms()
        self._read_tables()
        if kind == "changelog":
            self._read_versions()

    def at(self, offset: int) -> int:
        """Return the number of the line that contains an offset."""
        return bisect_right(self.starts, offset) - 1

    def _read_code(self) -> None:
        opened, sign = -1, ""
        for number, line in enumerate(self.lines):
            fence = _FENCE.match(line)
            if opened < 0 and fence and not self._is_underline(number):
                opened, sign = number, fence[1]
            elif opened >= 0:
                self.code[number] = opened
                if fence and fence[1].startswith(sign[:3]) and not line[fence.end() :].strip():
                    opened = -1

    def is_fence(self, number: int) -> bool:
        """Return whether a line has a fence, and is no underline."""
        is_underline = self.code[number] < 0 and self._is_underline(number)
        return _FENCE.match(self.lines[number]) is not None and not is_underline

    def _is_underline(self, number: int) -> bool:
        """Return whether a line consists of tildes under a line of text, as a heading of reStructuredText has them."""
        line, above = self.lines[number].strip(), self.lines[number - 1].strip() if number else ""
        return len(line) > 3 and not line.strip("~") and bool(above) and len(above) <= len(line) + 1

    def _read_terms(self) -> None:
        term = -1
        for number, line in enumerate(self.lines):
            if self.code[number] >= 0 and term >= 0:
                self.term[number] = term
            elif line.startswith(": ") and number:
                if self.term[number - 1] < 0:
                    term = number - 1
                self.term[number] = term
            elif term >= 0 and (not line.strip() or line.startswith("  ") or _FENCE.match(line)):
                self.term[number] = term
            else:
                term = -1

    def _read_tables(self) -> None:
        for number, line in enumerate(self.lines[1:], 1):
            if not line.startswith("|") or self.code[number] >= 0:
                continue
            above = self.header[number - 1]
            if above >= 0:
                self.header[number] = above
            elif _TABLE_RULE.fullmatch(line) and self.lines[number - 1].startswith("|"):
                self.header[number] = number - 1

    def _read_versions(self) -> None:
        entry, level = -1, 0
        for number, line in enumerate(self.lines):
            marks = len(line) - len(line.lstrip("#")) if self.code[number] < 0 else 0
            if self._is_entry_line(number, line):
                entry, level = number, marks
            elif 0 < marks <= level:
                entry = -1  # a section that is no entry
            else:
                self.version[number] = entry

    def _is_entry_line(self, number: int, line: str) -> bool:
        if not line.strip() or line[0] in " \t|:" or self.code[number] >= 0 or len(line) > 120:
            return False
        is_apart = number == 0 or not self.lines[number - 1].strip() or line.startswith("#")
        return is_apart and _ENTRY.fullmatch(line.rstrip()) is not None


def find_faults(source: SourceLines, page_text: str) -> Findings:
    """Return the faults in the page text of a result, whose stored text is `source`."""
    findings = Findings()
    shown = list(_fragments(source, page_text))
    for number, (start, end, _) in enumerate(shown):
        last = "".join(source.lines)[start:end].rstrip("\n").rsplit("\n", 1)[-1] if end > start else ""
        findings.add("mark", start, end, is_faulty=_BARE_MARK.fullmatch(last) is not None)
        first_line = source.at(start)
        for kind, needs in (("definition", source.term), ("row", source.header), ("entry", source.version)):
            needed = needs[first_line]
            if needed >= 0 and end > start:
                findings.add(kind, start, end, is_faulty=not _has_line(source, needed, shown[: number + 1]))
    _check_fences(source, shown, findings)
    return findings


def _fragments(source: SourceLines, page_text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the offsets of each fragment in the stored text, and what the result writes before it."""
    gaps = [(match.start(), match.end(), int(match[1]), int(match[2])) for match in _GAP.finditer(page_text)]
    if gaps and gaps[0][2]:
        yield 0, gaps[0][2], ""
    text = "".join(source.lines)
    for gap, after in zip(gaps, [*gaps[1:], None], strict=True):
        _, label_start, _, start = gap
        shown = page_text[label_start : after[0] if after else len(page_text)]
        # The fragment follows the label, and a line break before the next gap line may be added to it.
        place = shown.find(text[start : min(start + NAMED_CHARS, after[2] if after else len(text))])
        if place >= 0 and shown[place:].strip():
            yield start, after[2] if after else min(len(text), start + len(shown) - place), shown[:place]


def _has_line(source: SourceLines, needed: int, shown: list[tuple[int, int, str]]) -> bool:
    """Return whether one of the fragments shows a line whole, or a label below the line repeats it."""
    begin, line = source.starts[needed], source.lines[needed]
    if any(start <= begin and begin + len(line.rstrip()) <= end for start, end, _ in shown):
        return True
    words = normalize_text(re.sub(r"\]\([^()]*\)", "]", line).strip("#:\n "))[:NAMED_CHARS]
    return any(words in normalize_text(label) for start, _, label in shown if start > begin)


def _check_fences(source: SourceLines, shown: list[tuple[int, int, str]], findings: Findings) -> None:
    """Compare what a reader takes for code with what is code, fragment by fragment."""
    opened = -1  # the opening fence of the block that a reader sees as open
    for place, (start, end, _) in enumerate(shown):
        is_faulty = source.code[source.at(start)] != opened and not _closes(source, start, opened)
        for number in range(source.at(start), source.at(max(start, end - 1)) + 1):
            if source.is_fence(number) and start <= source.starts[number] < end:
                inside = source.code[number]
                opened = number if inside < 0 else (-1 if _is_last_of_block(source, number) else opened)
        following = shown[place + 1][0] if place + 1 < len(shown) else -1
        if opened >= 0 and (following < 0 or source.code[source.at(following)] != opened):
            is_faulty, opened = True, -1
        findings.add("fence", start, end, is_faulty=is_faulty)


def _closes(source: SourceLines, start: int, opened: int) -> bool:
    """Return whether a fragment begins after its first line within the line that closes the open block."""
    return opened >= 0 and source.code[source.at(start)] == opened


def _is_last_of_block(source: SourceLines, number: int) -> bool:
    return number + 1 >= len(source.lines) or source.code[number + 1] != source.code[number]
