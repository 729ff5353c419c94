"""Name the facts that are stored with an output of a command, a file or another tool: its kind, command, exit status.

The kind is part of the artifact's URL, the other facts are notes.
"""

from __future__ import annotations

from typing import Final

from keyhole.text.secrets import mask_secrets

OUTPUT: Final = "output:"
"""The beginning of the URL of an artifact that is an output; the kind of the output follows."""
COMMAND: Final = "command"
"""The artifact note with the command line that printed the output."""
EXIT_STATUS: Final = "exit"
"""The artifact note with the exit status of that command, as a decimal number."""
FOLDER: Final = "folder"
"""The artifact note with the folder in which that command ran."""

MAX_COMMAND: Final = 2_000
"""Characters of a command line that are stored: a longer one contains the text of a script. Exports allow as many."""

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


def output_title(command: str, name: str) -> str:
    """Return the title under which an output is stored: its command or the name of its file, on one line."""
    return " ".join(_stored(command or name).split())


def output_notes(command: str, exit_status: int | None, folder: str) -> Notes:
    """Return the notes that are stored with an output: those of its facts that are known. Secrets are masked."""
    status = "" if exit_status is None else str(exit_status)
    facts = ((COMMAND, _stored(command)), (EXIT_STATUS, status), (FOLDER, folder))
    return tuple((name, value) for name, value in facts if value)


def _stored(text: str) -> str:
    """Return a text as it is stored: secrets are masked, and what is after `MAX_COMMAND` characters is left out."""
    masked = mask_secrets(text)
    return masked if len(masked) <= MAX_COMMAND else masked[: MAX_COMMAND - 1] + "…"
