"""Read the file in which a client saved the whole of a result, and open any file that an event names."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from keyhole.text.parse_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from keyhole.outputs.hooks.event import Result

MAX_BYTES: Final = 32 * 1024 * 1024
"""Greatest file that is read, in bytes: a hook has seconds. The client's own preview of a larger one stays."""
MAX_WAITS: Final = 20
WAIT: Final = 0.03
"""Pause in seconds between two readings of a file that its client is still writing, and the most pauses."""
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags with which opening a pipe or a device does not wait, and a symbolic link is an error."""


def whole_text(found: Result, sleep: Callable[[float], None] = time.sleep) -> str | None:
    """Return the text in the file of a result; None if the file is not to be read, or has another text.

    The client may still be writing the file: it is read again until it ends like the result, or does not grow.
    """
    data, before = read_saved(found.saved, found.saved_in), None
    for _ in range(MAX_WAITS):
        if data is None or data == before or data.endswith(found.saved_end.encode("utf-8", "replace")):
            break
        sleep(WAIT)
        data, before = read_saved(found.saved, found.saved_in), data
    if data is None:
        return None
    from keyhole.outputs.terminal import decode_output

    text = decode_output(data)
    return text if text.startswith(found.beginning) else None


def read_saved(path: str, folder: str, max_bytes: int = MAX_BYTES) -> bytes | None:
    """Return the content of a file directly in `folder`; None if it is elsewhere, unreadable, empty or too large.

    The file may have another name, as Claude Code 2.1.197 gives it while the hook runs.
    """
    path, folder = os.path.normpath(path), os.path.normpath(folder)
    if os.path.dirname(path) != folder or not os.path.isabs(folder):
        return None
    if (file := open_regular(path)) is None:
        return None
    with file:
        return file.read(max_bytes) if 0 < os.fstat(file.fileno()).st_size <= max_bytes else None


def open_regular(path: str) -> BinaryIO | None:
    """Open a regular file of this user; return None for any other file, or if it cannot be opened.

    A symbolic link may lead to any file, a pipe without a writer never answers, and some devices never end.
    """
    try:
        handle = os.open(path, _FLAGS)
    except (OSError, ValueError):  # ValueError: the path has a null character
        return None
    status = os.fstat(handle)
    if stat.S_ISREG(status.st_mode) and status.st_uid == _user(status):
        return open(handle, "rb")
    os.close(handle)
    return None


def _user(status: os.stat_result) -> int:
    """Return the id of the user of this process; the file's own where the system has no such ids."""
    return os.geteuid() if hasattr(os, "geteuid") else status.st_uid


# Read the exit status and more of a command's output from Codex's transcript, because Codex's event lacks them.

MAX_TRANSCRIPT_BYTES: Final = 1024 * 1024
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


def read_run(path: str, call_id: str, max_bytes: int = MAX_TRANSCRIPT_BYTES) -> CommandRun | None:
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
