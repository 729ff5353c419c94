"""A client's file read, kept a copy of and replaced. What is to stand in it is decided elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

BACKUPS: Final = 3
"""Copies that are kept of one file: of its state before each of the last changes."""
MAX_BYTES: Final = 50_000_000
"""Of a file that is read: Claude Code keeps its history in the same one, which is megabytes."""
_PRIVATE: Final = 0o600
"""For a file that is new: an entry may hold the key of a search engine."""


def read(path: Path) -> bytes | None:
    """What the file holds; None where there is none. Raises OSError, also for what is no settings file: a pipe would
    never end, and a device must not be replaced."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no regular file")
        if status.st_size > MAX_BYTES:
            raise OSError(f"it holds more than {MAX_BYTES:,} bytes")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def replace(path: Path, before: bytes | None, after: bytes) -> Path | None:
    """Put `after` in the place of `before`, at once or not at all; the copy of `before`, if there was anything.

    A link is followed and stays one; rights stay as they were. Raises OSError, also where the file is no longer what
    `before` says: clients write their files too.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        _same_rights(path, Path(name))
        _same(path, before)
        kept = _keep(path, before) if before is not None else None
        Path(name).replace(path)
        return kept
    finally:
        Path(name).unlink(missing_ok=True)


def remove(path: Path, before: bytes | None) -> None:
    """Take away a file that held nothing but our entry. Raises OSError, also where it is no longer what `before` says:
    a person may have thought about it for long."""
    _same(path, before)
    path.resolve().unlink(missing_ok=True)


def _same(path: Path, before: bytes | None) -> None:
    if read(path) != before:
        raise OSError("another program changed it meanwhile; run the command again")


def backups(path: Path) -> list[Path]:
    """The copies of a file, the latest first."""
    path = path.resolve()
    numbered = re.compile(re.escape(path.name) + r"\.keyhole-(\d{1,9})\.bak")
    with suppress(OSError):
        found = [(int(match[1]), each) for each in path.parent.iterdir() if (match := numbered.fullmatch(each.name))]
        return [each for _, each in sorted(found, reverse=True)]
    return []


def _keep(path: Path, before: bytes) -> Path:
    there = backups(path)
    number = int(there[0].name.removesuffix(".bak").rpartition("-")[2]) + 1 if there else 1
    kept = path.with_name(f"{path.name}.keyhole-{number}.bak")
    # Anew: a folder that others made may have a link of this name. Private at once: the file may hold keys.
    with open(kept, "xb", opener=lambda name, flags: os.open(name, flags, _PRIVATE)) as file:
        file.write(before)
    shutil.copystat(path, kept)
    for old in there[BACKUPS - 1 :]:
        with suppress(OSError):
            old.unlink(missing_ok=True)
    return kept


def _same_rights(path: Path, new: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        new.chmod(_PRIVATE)
        return
    new.chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown"):
        with suppress(OSError):  # only root may give a file to another
            os.chown(new, status.st_uid, status.st_gid)
