"""Read the output of a command, a file or another tool. Pure.

An output is text that was not written as a page: the log of a build, the results of a search, a table of data. Reading
it means to show it as a terminal would, to recognise its kind, and to mark the lines that every reader looks for.
"""

from __future__ import annotations

from dataclasses import dataclass

from keyhole.extract.outputs.json_records import Span, find_records
from keyhole.extract.outputs.kinds import KINDS, command_words, recognise
from keyhole.extract.outputs.marks import Mark, mark_lines
from keyhole.extract.outputs.terminal import decode_output, terminal_text

__all__ = ["KINDS", "Output", "command_words", "decode_output", "read_output", "terminal_text"]


@dataclass(frozen=True, slots=True)
class Output:
    """The text of an output as a terminal shows it at the end, its kind, and the lines that every reader looks for."""

    text: str
    kind: str
    marks: tuple[Mark, ...] = ()
    records: tuple[Span, ...] = ()
    """The records of JSON, which are shown whole."""


def read_output(output: str, *, kind: str | None = None, command: str = "", name: str = "") -> Output:
    """Read an output, as text that may contain escape sequences.

    `kind`: one of `KINDS`; None to recognise it from the content, the `command` that printed it and its file's `name`.
    """
    text = terminal_text(output)
    kind = kind or recognise(text, command, name)
    return Output(text, kind, mark_lines(text, kind), find_records(text) if kind == "json" else ())
