"""Name the facts that are stored with an output of a command, a file or another tool: its kind, command, exit status.

The kind is part of the artifact's URL, the other facts are notes.
"""

from __future__ import annotations

from typing import Final

OUTPUT: Final = "output:"
"""The beginning of the URL of an artifact that is an output; the kind of the output follows."""
COMMAND: Final = "command"
"""The artifact note with the command line that printed the output."""
EXIT_STATUS: Final = "exit"
"""The artifact note with the exit status of that command, as a decimal number."""
FOLDER: Final = "folder"
"""The artifact note with the folder in which that command ran."""

Notes = tuple[tuple[str, str], ...]


def is_output(url: str) -> bool:
    """Return whether the artifact with this URL is an output. A page has an http or https URL."""
    return url.startswith(OUTPUT)


def output_url(kind: str) -> str:
    """Return the URL of the outputs of a kind."""
    return OUTPUT + kind


def output_kind(url: str) -> str:
    """Return the kind of an output, "" for a page."""
    return url.removeprefix(OUTPUT) if is_output(url) else ""


def output_notes(command: str, exit_status: int | None, folder: str) -> Notes:
    """Return the notes that are stored with an output: those of its facts that are known."""
    status = "" if exit_status is None else str(exit_status)
    facts = ((COMMAND, command), (EXIT_STATUS, status), (FOLDER, folder))
    return tuple((name, value) for name, value in facts if value)
