"""Read the output of a command, a file or another tool. Pure.

An output is text that was not written as a page: the log of a build, the results of a search, a table of data. Reading
it means to show it as a terminal would, to recognise its kind, and to mark the lines that every reader looks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from keyhole.outputs.envelope import take_prefixes
from keyhole.outputs.failures import (
    ANNOUNCED_WEIGHT,
    FAILING_KINDS,
    MISTAKABLE_KINDS,
    lower_common,
    order_failures,
    weigh_failures,
)
from keyhole.outputs.fields import Data, place_of, read_json_lines, read_keys, read_stanzas, read_table, read_values
from keyhole.outputs.kinds import KINDS, Evidence, command_words, name_opaque, recognise, take_labels, weigh_kinds
from keyhole.outputs.marks import COMMIT_KINDS, FAILED_KIND, MAX_LINE_CHARS, find_key_marks, mark_lines
from keyhole.outputs.output import Envelope, Mark, Output, OutputPart
from keyhole.outputs.parts import find_commits, find_parts
from keyhole.outputs.records import read_json, read_xml
from keyhole.outputs.repeats import REPEATING_KINDS, find_repeats, line_forms
from keyhole.outputs.sections import (
    HEADED_KINDS,
    SECTIONED_KINDS,
    count_stacks,
    find_equal_stacks,
    find_failed,
    find_headed,
)
from keyhole.outputs.terminal import decode_output, terminal_text
from keyhole.outputs.values import Telling, count_values, find_telling_values
from keyhole.passages.gaps import Span, merge_spans, uncovered
from keyhole.text.output_facts import OutputFacts

TABLE_KINDS: Final = frozenset({"csv", "log", "text", "listing"})
"""Kinds that may be tables: `ps`, `ls -l` and psql print rows with columns, too."""
HEADER_WEIGHT: Final = 6.9
"""The header of a table, without which its rows mean little."""
MAX_RECORD_NAME: Final = 80
"""Characters of the name of a record in the mark of an omission."""
OUTSIDE_SHARE: Final = 0.3
"""Share of its weight that a marked line keeps outside of the failed sections, if there are any."""
OUTSIDE_WEIGHT: Final = 5.0
"""Outside of the failed sections, only lines of a larger weight are marked: failures, but not the output's ends."""
TITLE_WEIGHT: Final = 6.9
"""The first line of a failed section: what was run."""
END_WEIGHT: Final = 7.5
"""The last line of a failed section, which says that it failed."""

__all__ = [
    "KINDS",
    "Output",
    "command_words",
    "decode_output",
    "explain_kind",
    "read_lines",
    "read_output",
    "read_parts",
    "recognise",
    "take_prefixes",
    "terminal_text",
]


def read_output(output: str, *, kind: str | None = None, command: str = "", name: str = "") -> Output:
    """Read an output, as text that may contain escape sequences, without the prefixes of its lines.

    `kind`: one of `KINDS`; None to recognise it from the content, the `command` that printed it and its file's `name`.
    """
    text, envelope = take_prefixes(terminal_text(output))
    return read_parts(text, read_lines(text, kind or recognise(text, command, name)))._replace(envelope=envelope)


def explain_kind(output: str, facts: OutputFacts) -> Iterator[Evidence]:
    """Yield the kinds that an output may have, the one as which it is read first."""
    text, _ = take_prefixes(terminal_text(output))
    return weigh_kinds(text, facts.command, facts.name, facts.exit_status)


def read_lines(
    text: str, kind: str, failed: Sequence[Span] | None = None, key_marks: Iterable[Mark] | None = None
) -> Output:
    """Find the important lines and the repeated lines of an output, or of an excerpt. `kind` decides what is important.

    `failed`: the sections that failed; `key_marks`: the marks of `find_key_marks`; None to look for them.
    """
    forms = line_forms(text)
    if failed is None:
        failed = find_failed(text) if kind in SECTIONED_KINDS else ()
    repeats = find_repeats(text, forms) if kind in REPEATING_KINDS else ()
    units = find_headed(text) if kind in HEADED_KINDS else ()
    bare, labels = take_labels(text) if kind in SECTIONED_KINDS else (text, None)
    if labels:
        marks = tuple(_with_labels(mark_lines(bare, FAILED_KIND, line_forms(bare)), labels))
    else:
        marks = mark_lines(text, kind, forms, list(find_key_marks(text, kind) if key_marks is None else key_marks))
    if equal := find_equal_stacks(text) if kind in HEADED_KINDS else ():
        repeats = tuple(merge_spans([*repeats, *equal]))
        marks = tuple(mark for mark in marks if uncovered(mark[:2], equal))
        units = tuple(unit for unit in units if uncovered(unit, equal))
    weights = weigh_failures(text) if kind in FAILING_KINDS or kind in MISTAKABLE_KINDS else {}
    if kind in MISTAKABLE_KINDS and max(weights.values(), default=0.0) < ANNOUNCED_WEIGHT:
        weights = {}
    marks = _mark_failed(text, marks, failed) if failed else lower_common(marks, weights)
    failures = tuple(order_failures(text, weights)) if weights or kind in FAILING_KINDS else ()
    return Output(text, kind, marks, units, repeats, failed=tuple(failed), failures=failures)


def _with_labels(marks: Sequence[Mark], labels: Envelope) -> Iterator[Mark]:
    """Convert the marks of a text without labels to marks of the text with its labels."""
    for start, end, weight in marks:
        begin = labels.place(max(0, start - 1)) + 1 if start else 0
        yield begin, labels.place(max(start, end - 1)) + 1, weight


def _mark_failed(text: str, marks: Sequence[Mark], failed: Sequence[Span]) -> tuple[Mark, ...]:
    """Mark the failed sections with the patterns of `FAILED_KIND`, and lower or drop the marks outside of them."""
    found = {mark[0]: (*mark[:2], mark[2] * OUTSIDE_SHARE) for mark in marks if mark[2] > OUTSIDE_WEIGHT}
    for start, end in failed:
        section = text[start:end]
        inner = mark_lines(section, FAILED_KIND, line_forms(section))
        found |= {start + first: (start + first, start + last, weight) for first, last, weight in inner}
        first_end = text.find("\n", start) + 1 or len(text)
        last_start = text.rfind("\n", start, end - 1) + 1
        found[start] = (start, min(first_end, start + MAX_LINE_CHARS), TITLE_WEIGHT)
        found[last_start] = (last_start, min(end, last_start + MAX_LINE_CHARS), END_WEIGHT)
    return tuple(sorted(found.values()))


def read_parts(text: str, lines: Output, question: str = "") -> Output:
    """Return `lines`, the result of `read_lines` for a text or its excerpt, with the records and parts of the text.

    `question`: its records are found too.
    """
    data = Data({})
    if lines.kind == "json":
        json = read_json(text)
        spans = tuple(part[:2] for part in json.parts)
        lines = lines._replace(records=spans, parts=json.parts, about=json.shapes)
        names = tuple(part.name for part in json.parts)
        data = read_values(json.values, spans)._replace(names=names) if spans else read_keys(text)
    elif lines.kind == "xml":
        xml = read_xml(text)
        lines = lines._replace(records=xml.records, parts=xml.parts, about=xml.about)
        data = read_values(xml.values, xml.records)
    else:
        parts, title = find_parts(text, lines.kind)
        stacks = count_stacks(text) if lines.kind in HEADED_KINDS else ""
        about = name_opaque(text) if lines.kind == "opaque" else stacks
        lines = lines._replace(parts=parts, summary_title=title, about=(about,) if about else ())
        data = _read_data(text, lines)
        if data.names:
            named = zip(data.records, data.names, strict=True)
            lines = lines._replace(parts=tuple(OutputPart(*span, name[:MAX_RECORD_NAME]) for span, name in named))
    return _with_data(text, lines, data, question)


def _read_data(text: str, lines: Output) -> Data:
    """Return the records of an output that is neither JSON nor XML, and their fields."""
    if lines.kind == "jsonl":
        return read_json_lines(text)
    if lines.kind == "yaml":
        return read_keys(text)._replace(records=tuple(part[:2] for part in lines.parts))
    if lines.kind in COMMIT_KINDS and (commits := find_commits(text)):
        ends = [*(start for start, *_ in commits[1:]), len(text)]
        records = tuple((start, end) for (start, *_), end in zip(commits, ends, strict=True))
        return Data({}, records, heads=tuple(end for _, end, _ in commits))
    if lines.kind not in TABLE_KINDS:
        return Data({})
    stanzas = read_stanzas(text)
    return stanzas if stanzas.records else read_table(text)


def _with_data(text: str, lines: Output, data: Data, question: str) -> Output:
    """Return an output with the marks of what its data tells, and with what a question asks of it."""
    marks = [(*place_of(text, each.record, each.field, each.value), each.weight) for each in find_telling_values(data)]
    if data.header:
        marks.append((*data.header, HEADER_WEIGHT))
    found = {mark[0]: mark for mark in lines.marks}
    for start, end, weight in marks:
        if start not in found or weight > found[start][2]:
            found[start] = (start, min(end, start + MAX_LINE_CHARS), weight)
    words: list[str] = []
    asked: tuple[Span, ...] = ()
    if question and (data.records or data.fields):
        from keyhole.outputs.asked import find_asked, question_words  # most calls have no question

        words = question_words(question)
        asked = tuple(
            place_of(text, each.record, each.field, each.value) if isinstance(each, Telling) else each
            for each in find_asked(text, question, data)
        )
    return lines._replace(marks=tuple(sorted(found.values())), counts=count_values(data, words), asked=asked)
