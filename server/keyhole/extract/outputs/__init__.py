"""Read the output of a command, a file or another tool. Pure.

An output is text that was not written as a page: the log of a build, the results of a search, a table of data. Reading
it means to show it as a terminal would, to recognise its kind, and to mark the lines that every reader looks for.
"""

from __future__ import annotations

from keyhole.extract.outputs.json_records import read_json, shape_of_lines
from keyhole.extract.outputs.kinds import KINDS, command_words, recognise
from keyhole.extract.outputs.marks import mark_lines
from keyhole.extract.outputs.opaque import name_opaque
from keyhole.extract.outputs.parts import find_parts
from keyhole.extract.outputs.repeats import REPEATING_KINDS, find_repeats, line_forms
from keyhole.extract.outputs.terminal import decode_output, terminal_text
from keyhole.extract.outputs.traces import TRACED_KINDS, find_traces
from keyhole.text.output import Output

__all__ = [
    "KINDS",
    "Output",
    "command_words",
    "decode_output",
    "read_lines",
    "read_output",
    "read_parts",
    "recognise",
    "terminal_text",
]


def read_output(output: str, *, kind: str | None = None, command: str = "", name: str = "") -> Output:
    """Read an output, as text that may contain escape sequences.

    `kind`: one of `KINDS`; None to recognise it from the content, the `command` that printed it and its file's `name`.
    """
    text = terminal_text(output)
    return read_parts(text, read_lines(text, kind or recognise(text, command, name)))


def read_lines(text: str, kind: str) -> Output:
    """Read the lines of a text of a kind, or of an excerpt of it: those that matter, and those that repeat others."""
    forms = line_forms(text)
    repeats = find_repeats(text, forms) if kind in REPEATING_KINDS else ()
    traces = find_traces(text) if kind in TRACED_KINDS else ()
    return Output(text, kind, mark_lines(text, kind, forms), traces, repeats)


def read_parts(text: str, lines: Output) -> Output:
    """Return the lines that were read of a text, or of an excerpt of it, with the parts of the text."""
    if lines.kind == "json":
        parts, shapes = read_json(text)
        return lines._replace(records=tuple(part[:2] for part in parts), parts=parts, about=shapes)
    parts, title = find_parts(text, lines.kind)
    is_long = lines.kind == "opaque"
    about = shape_of_lines(text) if lines.kind == "jsonl" else (name_opaque(text),) if is_long else ()
    return lines._replace(parts=parts, summary_title=title, about=about)
