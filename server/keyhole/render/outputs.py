"""Render a bounded output: one line about it, its text between boundary lines, and the call that reads on."""

from __future__ import annotations

from dataclasses import dataclass

from keyhole.records import Selection
from keyhole.render.answer import END, NextArguments, enclose, read_call
from keyhole.text.output_facts import describe_output


@dataclass(frozen=True, slots=True)
class OutputHead:
    """The facts in the first line of a bounded output."""

    kind: str
    chars: int
    lines: int
    tokens: int
    command: str = ""
    exit_status: int | None = None
    """The exit status of the command, None if it is unknown."""


def bounded_text(
    head: OutputHead, selection: Selection, secret: bytes, id: str, following: NextArguments | None
) -> str:
    """Return the text of a bounded output for a model. Without an `id`, nothing can be read on."""
    call = read_call(id, following) if id else ""
    lines = [_first_line(head, selection), enclose(selection.text, secret), call and f"Next: {call}", END]
    return "\n".join(line for line in lines if line)


def _first_line(head: OutputHead, selection: Selection) -> str:
    size = f"{head.chars:,} characters in {head.lines:,} lines, about {head.tokens:,} tokens"
    return f"{describe_output(head.kind, head.command, head.exit_status)}: {size}; {selection.shown:,} shown."
