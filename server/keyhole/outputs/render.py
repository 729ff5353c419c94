"""Render a bounded output: one line about it, its text between boundary lines, and the call that reads on."""

from __future__ import annotations

from typing import NamedTuple

from keyhole.outputs.output import Shown
from keyhole.render.boundary import END, NextArguments, enclose, read_call, read_command
from keyhole.text.output_facts import describe_output


class OutputHead(NamedTuple):
    """The facts in the first line of a bounded output."""

    kind: str
    """One of `keyhole.outputs.read.KINDS`."""
    chars: int
    """Characters of the whole output, as a terminal shows it."""
    lines: int
    tokens: int
    """An estimate."""
    title: str = ""
    """The command line, in which secrets are masked, or the name of the file."""
    exit_status: int | None = None
    """The exit status of the command, None if it is unknown."""
    changes: str = ""
    """How the stored text differs from the output."""


def bounded_text(
    head: OutputHead,
    shown: Shown,
    secret: bytes,
    id: str,
    following: NextArguments | None,
    *,
    names_command: bool = False,
) -> str:
    """Return the text of a bounded output for a model. Without an `id`, nothing can be read on.

    `names_command`: also name the command that reads on, for a reader that may lack the tool.
    """
    calls = [f"Next: {read_call(id, following)}"] if id and following else []
    calls += [f"In a shell: {read_command(id, following)}"] if calls and following and names_command else []
    return "\n".join([_first_line(head, shown), enclose(shown.text, secret), *calls, END])


def _first_line(head: OutputHead, shown: Shown) -> str:
    size = f"{head.chars:,} characters in {head.lines:,} lines, about {head.tokens:,} tokens"
    changes = f" Stored with {head.changes}." if head.changes else ""
    return f"{describe_output(head.kind, head.title, head.exit_status)}: {size}; {shown.chars:,} shown.{changes}"
