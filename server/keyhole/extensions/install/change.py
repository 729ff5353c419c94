"""Change a client's file: show the diff, ask, keep a backup, replace the file, and say what was done."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from keyhole.cli.colours import has_colours
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.install import files
from keyhole.extensions.install.clients import McpClient
from keyhole.extensions.install.edit import refusal
from keyhole.extensions.install.output import color_lines, diff_lines


@dataclass(frozen=True, slots=True)
class Edit:
    """An addition to a client's file, and its removal."""

    client: McpClient
    path: Path | None
    """None if the client has no such file."""
    add: Callable[[str], str]
    """Return the text of the file with the addition."""
    remove: Callable[[str, Sequence[str]], str | None]
    """Return the text without the addition, given the text and the texts of the backups; None to delete the file."""
    missing: str
    """The message if there is nothing to remove."""
    removed: Callable[[str], str] = lambda _text: "entry removed"
    """Return the message after a removal, given the text before it."""
    has_key: Callable[[str], bool] = lambda _text: False
    """Return True if what was added to the text contains a key."""
    secrets: Callable[[str], frozenset[str]] = lambda _text: frozenset()
    """Return values in the text that the diff masks besides those that look like a secret."""
    needed: Callable[[str, Sequence[str]], Sequence[bool]] = lambda _text, backups: [False] * len(backups)
    """Return for each backup whether it is needed to undo what is in the text, however old it is."""
    is_spare: Callable[[str, str, Sequence[str]], bool] = lambda _text, _backup, _backups: False
    """Return True if a backup is superfluous, given the new text, this backup and all backups."""
    prepare: Callable[[], None] = lambda: None
    """Write what the addition needs besides the file."""
    added: str = "registered"
    """The message after an addition."""
    unchanged: str = "already registered, nothing to change"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of a client's file. `state`: changed, unchanged, would change, refused."""

    client: str
    path: str
    state: str
    message: str
    backup: str = ""
    diff: tuple[str, ...] = ()
    note: str = ""
    """A note about the permissions of a file that contains a key."""
    next_step: str = ""
    """The step for the user after something was added."""

    def json_facts(self) -> dict[str, object]:
        """Return the change as `keyhole install --json` prints it."""
        return {
            "client": self.client, "path": self.path, "state": self.state, "message": self.message,
            "backup": self.backup, "diff": self.diff, "note": self.note, "next_step": self.next_step,
        }  # fmt: skip


def try_change(edit: Edit, arguments: argparse.Namespace) -> FileChange:
    """Change the file and print the result, unless it is for programs. A failure is a change that is refused."""
    try:
        if edit.path is None:
            message = f"{edit.client.title} has no file for a project folder; omit --scope project"
            raise KeyholeError(Code.INVALID_ARGUMENT, message)
        change = _change_file(edit, edit.path, arguments)
    except (KeyholeError, OSError) as error:
        if isinstance(error, OSError):
            error = refusal(edit.client, error.strerror or str(error))
        change = FileChange(edit.client.name, str(edit.path or ""), "refused", error.message)
    if not arguments.json:
        _print_change(edit.client, change, is_diff_shown=_is_interactive(arguments))
    return change


def _change_file(edit: Edit, path: Path, arguments: argparse.Namespace) -> FileChange:
    client, before = edit.client, files.read(path)
    after = _new_content(edit, path, before, is_removal=arguments.uninstall)
    old, new = _decode(before or b"", client), _decode(after or b"", client)
    exposure = files.exposure(path) if edit.has_key(new) else ""
    if after == before:
        if exposure and not arguments.dry_run:
            files.make_private(path)
        message = edit.missing if arguments.uninstall else edit.unchanged
        note = _key_note(exposure, path) if exposure else ""
        return FileChange(client.name, str(path), "unchanged", message, note=note)
    diff = tuple(diff_lines(old, new, edit.secrets(old) | edit.secrets(new)))
    if arguments.dry_run or not _confirm(client, path, diff, arguments):
        return FileChange(client.name, str(path), "would change", "nothing was written", diff=diff)
    if after is None:
        files.remove(path, before)
        return FileChange(client.name, str(path), "changed", "file deleted: it had no other content", diff=diff)
    if not arguments.uninstall:
        edit.prepare()
    backup = _replace(edit, path, before, after)
    if arguments.uninstall:
        removed = edit.removed(old)
        return FileChange(client.name, str(path), "changed", removed, backup, diff)
    note = _key_note(exposure, path) if edit.has_key(new) else ""
    return FileChange(client.name, str(path), "changed", edit.added, backup, diff, note, client.next_step)


def _replace(edit: Edit, path: Path, before: bytes | None, after: bytes) -> str:
    """Replace the file, and delete the backups that are superfluous then. Return the path of the new one, or ""."""
    old, new = _decode(before or b"", edit.client), _decode(after, edit.client)
    backups = files.list_backups(path)
    _, *is_needed = edit.needed(new, [old, *map(_read_text, backups)])
    needed = [each for each, is_one in zip(backups, is_needed, strict=True) if is_one]
    is_private = edit.has_key(new) or edit.has_key(old)
    backup = files.replace(path, before, after, private=is_private, needed=needed)
    texts = {each: _read_text(each) for each in files.list_backups(path)}
    spare = [each for each, text in texts.items() if edit.is_spare(new, text, list(texts.values()))]
    files.remove_backups(spare)
    return str(backup) if backup and backup not in spare else ""


def _read_text(path: Path) -> str:
    """Return the text of a backup, "" if it cannot be read."""
    with suppress(OSError, UnicodeDecodeError):
        return (files.read(path) or b"").decode("utf-8")
    return ""


def _key_note(exposure: str, path: Path) -> str:
    """Return the note for a file with a key; `exposure`: why other users could read it before."""
    if remaining := files.exposure(path):
        return f"the file contains a key, and {remaining}"
    return "the file contains a key: only you can read it and its backups now" if exposure else ""


def _new_content(edit: Edit, path: Path, before: bytes | None, *, is_removal: bool) -> bytes | None:
    """Return the new content of the file; None if there should be no file."""
    text = _decode(before or b"", edit.client)
    if not is_removal:
        return edit.add(text).encode()
    if before is None:
        return None
    after = edit.remove(text, read_backups(edit.client, path)[:1])
    return None if after is None else after.encode()


def read_backups(client: McpClient, path: Path) -> list[str]:
    """Return the texts of a file's backups, the latest first. Raises OSError or KeyholeError if one is not readable."""
    return [_decode(files.read(each) or b"", client) for each in files.list_backups(path)]


def _decode(content: bytes, client: McpClient) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal(client, "it is not UTF-8") from error


def _confirm(client: McpClient, path: Path, diff: Sequence[str], arguments: argparse.Namespace) -> bool:
    """Show the diff and ask whether to apply it; return True without asking if the command is not interactive."""
    if not _is_interactive(arguments):
        return True
    print(f"{client.title}: {path}")
    _print_diff(diff)
    try:
        return input("Apply this change? [Y/n] ").strip().lower() in {"", "y", "yes"}
    except EOFError:
        return False


def _is_interactive(arguments: argparse.Namespace) -> bool:
    """Return True if a person at a terminal is asked before a file is changed."""
    is_unattended = arguments.yes or arguments.json or arguments.dry_run
    return not is_unattended and sys.stdin.isatty() and sys.stdout.isatty()


def _print_change(client: McpClient, change: FileChange, *, is_diff_shown: bool) -> None:
    """Print the result of a change. `is_diff_shown`: True if the diff was already printed with the question."""
    if change.state == "refused":
        print(f"keyhole: {change.path and f'{change.path}: '}{change.message}", file=sys.stderr)
        return
    if not (is_diff_shown and change.diff):
        print(f"{client.title}: {change.path}")
        _print_diff(change.diff)
    print(f"  {change.message}" + (f"; backup: {Path(change.backup).name}" if change.backup else ""))
    if change.note:
        print(f"  {change.note}")
    if change.next_step:
        print(f"  {change.next_step} `keyhole doctor` checks that it starts.")


def _print_diff(lines: Sequence[str]) -> None:
    shown = color_lines(lines) if has_colours(os.environ, terminal=sys.stdout.isatty()) else lines
    for line in shown:
        print(f"  {line}")
