"""Read the exit status and more of a command's output from Codex's transcript, because Codex's event lacks them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from keyhole.cli.hook.saved_file import open_regular
from keyhole.text.parse_json import parse_json

if TYPE_CHECKING:
    from keyhole.cli.hook.event import Result

MAX_BYTES: Final = 1024 * 1024
"""Bytes of the transcript's end that are read. An item has up to 65,536 bytes of output, which JSON can lengthen
sixfold."""
CUT: Final = "\n... command output truncated for persistence ...\n"
CUT_NOTE: Final = "Codex kept only the head and the tail of this output, 65,536 bytes."


class CommandRun(NamedTuple):
    """A command that ended."""

    output: str
    """Its output; of a long one the head and the tail of 32,768 bytes each, with a line about it between them."""
    exit_status: int


def complete(found: Result) -> Result:
    """Return a command's result with the transcript's output and exit status; unchanged if the transcript lacks it."""
    if (run := read_run(found.transcript, found.call_id)) is None:
        return found
    note = CUT_NOTE if CUT in run.output else ""
    return found._replace(text=run.output, exit_status=run.exit_status, note=note)


def read_run(path: str, call_id: str, max_bytes: int = MAX_BYTES) -> CommandRun | None:
    """Return the output and exit status of a call from the transcript at `path`, None if it is not there."""
    if (file := open_regular(path)) is None:
        return None
    with file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - max_bytes))
        return find_run(file.read(max_bytes), call_id)


def find_run(transcript: bytes, call_id: str) -> CommandRun | None:
    """Return the output and exit status of a call from the end of a transcript, None if it is not there."""
    for line in reversed(transcript.splitlines()):
        if b'"CommandExecution"' in line and call_id.encode() in line and (run := _parse(line, call_id)):
            return run
    return None


def _parse(line: bytes, call_id: str) -> CommandRun | None:
    try:
        item: dict[str, Any] = parse_json(line)["payload"]["item"]
        output, exit_status = item["aggregated_output"], item["exit_code"]
        is_it = item["type"] == "CommandExecution" and item["id"] == call_id
    except (
        ValueError,
        LookupError,
        TypeError,
    ):  # a line that was cut at its beginning, or another kind of entry
        return None
    return CommandRun(output, exit_status) if is_it and isinstance(output, str) and type(exit_status) is int else None
