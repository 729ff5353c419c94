"""Name the facts that are stored with an output of a command, a file or another tool: its kind, command, exit status.

The kind is part of the artifact's URL, the other facts are notes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from keyhole.text.escape import plain_line
from keyhole.text.secrets.mask import mask_secrets

OUTPUT: Final = "output:"
"""The beginning of the URL of an artifact that is an output; the kind of the output follows."""
COMMAND: Final = "command"
"""The artifact note with the command line that printed the output."""
EXIT_STATUS: Final = "exit"
"""The artifact note with the exit status of that command, as a decimal number."""
FOLDER: Final = "folder"
"""The artifact note with the folder in which that command ran."""

KIND_NAMES: Final = {
    "test": "test run", "compiler": "compiler output", "trace": "stack trace", "log": "log", "diff": "diff",
    "grep": "search results", "listing": "listing", "source": "source", "json": "JSON", "jsonl": "JSON Lines",
    "yaml": "YAML", "xml": "XML",
    "csv": "table", "page": "HTML", "markdown": "Markdown", "opaque": "long lines", "text": "text",
}  # fmt: skip
"""The names of the kinds of outputs, as they are shown."""
MAX_SHOWN_TITLE: Final = 80
"""Bytes of the command line that are shown in a result. Its reader has usually just run it."""
WHOLE_FILE_CHARS: Final = 20_000
"""Characters up to which a file that was read is left alone, some 500 lines of source. An agent that reads a file to
edit it needs its exact lines. Longer files are data or logs, or are better read in parts."""
LARGE_CHARS: Final = 4_000_000
"""Characters up to which an output is in memory as a whole."""
MAX_COMMAND: Final = 2_000
"""Characters of a command line that are stored: a longer one contains the text of a script. Exports allow as many."""

Notes = tuple[tuple[str, str], ...]


class OutputFacts(NamedTuple):
    """The facts of an output that are known before it is read: what printed it, where, and who will read it."""

    command: str = ""
    """The command line that printed it."""
    name: str = ""
    """The name of the file that it was read from."""
    kind: str | None = None
    """One of `keyhole.outputs.read.KINDS`, None to recognise it."""
    exit_status: int | None = None
    """The exit status of the command, None if it is unknown."""
    folder: str = ""
    """The folder in which the command ran."""
    names_command: bool = False
    """True if its reader may have no tool `read_artifact`, but can run commands."""
    changes: frozenset[str] = frozenset()
    """What decoding its bytes changed, as `decode_output` in outputs/terminal.py says."""

    @property
    def title(self) -> str:
        """The title under which the output is stored. Secrets are masked."""
        return output_title(self.command, self.name)

    @property
    def notes(self) -> Notes:
        """The notes that are stored with the output. Secrets are masked."""
        return output_notes(self.command, self.exit_status, self.folder)


def is_output(url: str) -> bool:
    """Return whether the artifact with this URL is an output. A page has an http or https URL."""
    return url.startswith(OUTPUT)


def output_url(kind: str) -> str:
    """Return the URL of the outputs of a kind."""
    return OUTPUT + kind


def output_kind(url: str) -> str:
    """Return the kind of an output, "" for a page."""
    return url.removeprefix(OUTPUT) if is_output(url) else ""


def describe_output(kind: str, title: str, exit_status: int | str | None, limit: int = MAX_SHOWN_TITLE) -> str:
    """Return one line that says what an output is, with an exit status other than 0; the title is escaped."""
    source = f" of `{plain_line(title, limit)}`" if title else ""
    status = "" if exit_status in {None, 0, "", "0"} else f", exit status {plain_line(str(exit_status), 20)}"
    return f"Output{source} ({kind_name(output_url(kind))}){status}"


def kind_name(url: str) -> str:
    """Return the name of the kind of an output, such as "test run", as it is shown."""
    return KIND_NAMES.get(output_kind(url), "text")


def output_title(command: str, name: str) -> str:
    """Return the title under which an output is stored: its command or the name of its file, on one line."""
    return " ".join(_stored(command or name).split())


def output_notes(command: str, exit_status: int | None, folder: str) -> Notes:
    """Return the notes that are stored with an output: those of its facts that are known. Secrets are masked."""
    status = "" if exit_status is None else str(exit_status)
    facts = ((COMMAND, _stored(command)), (EXIT_STATUS, status), (FOLDER, _stored(folder)))
    return tuple((name, value) for name, value in facts if value)


def _stored(text: str) -> str:
    """Return a text as it is stored: secrets are masked, and what is after `MAX_COMMAND` characters is left out."""
    masked = mask_secrets(text)
    return masked if len(masked) <= MAX_COMMAND else masked[: MAX_COMMAND - 1] + "…"
