"""The files that `keyhole install` writes: clients' configuration files, with backups, and the programs they start."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import keyhole
from keyhole.config.folders import home_folder
from keyhole.extensions.install.clients import PROGRAM, SCRIPT
from keyhole.store.private_files import make_private_folder

# Configuration files of clients.

MAX_BACKUPS: Final = 3
"""Greatest number of backups of one file; older backups are deleted."""
MAX_BYTES: Final = 50_000_000
"""Greatest size of a file that is read. Claude Code stores megabytes of history in its file."""
_PRIVATE_MODE: Final = 0o600
"""Permissions of a new file: an entry may contain the key of a search engine."""
_OTHERS: Final = 0o077
"""Permissions of the group and of all other users."""
_BACKUP: Final = re.compile(r"(.+)\.keyhole-(\d{1,9})\.bak", re.DOTALL)


def read(path: Path) -> bytes | None:
    """Return the file's content, or None if it does not exist.

    Raises OSError, also if it is not a regular file or is larger than MAX_BYTES: reading a pipe would never end, and a
    device must not be replaced.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        if status.st_size > MAX_BYTES:
            raise OSError(f"it is larger than {MAX_BYTES:,} bytes")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def replace(
    path: Path, before: bytes | None, after: bytes, *, private: bool = False, needed: Collection[Path] = ()
) -> Path | None:
    """Replace the content `before` by `after` atomically, and return the path of the backup; None if there was no file.

    Symbolic links are followed, and permissions are kept; with `private`, those of other users are removed, also from
    the backups. Backups in `needed` are kept, however old. Raises OSError, also if the content is no longer `before`:
    clients write their files too.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        _copy_permissions(path, Path(name))
        if private:
            _restrict(Path(name))
        _check_unchanged(path, before)
        backup = _back_up(path, before, needed) if before is not None else None
        Path(name).replace(path)
        if private:
            make_private(path)
        return backup
    finally:
        Path(name).unlink(missing_ok=True)


def make_private(path: Path) -> None:
    """Remove other users' permissions of a file and its backups."""
    for each in (path, *list_backups(path)):
        _restrict(each)


def exposure(path: Path, system: str = os.name) -> str:
    """Return why users other than the owner may read a file, or "" if they cannot."""
    if system != "posix":
        return "the permissions of its folder decide who can read it"
    with suppress(FileNotFoundError):
        if (mode := stat.S_IMODE(path.stat().st_mode)) & _OTHERS:
            return f"other users can read it (mode {mode:o})"
    return ""


def remove(path: Path, before: bytes | None) -> None:
    """Delete the file. Raises OSError, also if its content is no longer `before`."""
    _check_unchanged(path, before)
    path.resolve().unlink(missing_ok=True)


def _check_unchanged(path: Path, before: bytes | None) -> None:
    if read(path) != before:
        raise OSError("another program changed it meanwhile; run the command again")


def list_backups(path: Path) -> list[Path]:
    """Return the backups of a file, the latest first."""
    path = path.resolve()
    with suppress(OSError):
        named = ((_BACKUP.fullmatch(each.name), each) for each in path.parent.iterdir())
        found = [(int(match[2]), each) for match, each in named if match and match[1] == path.name]
        return [each for _, each in sorted(found, reverse=True)]
    return []


def remove_backups(backups: Iterable[Path]) -> None:
    """Delete backups. One that cannot be deleted stays."""
    for each in backups:
        with suppress(OSError):
            each.unlink(missing_ok=True)


def _back_up(path: Path, before: bytes, needed: Collection[Path]) -> Path:
    backups = list_backups(path)
    number = int(backups[0].name.removesuffix(".bak").rpartition("-")[2]) + 1 if backups else 1
    backup = path.with_name(f"{path.name}.keyhole-{number}.bak")
    # "x" fails if the name exists: it may be another user's link. The mode is private: the file may contain keys.
    with open(backup, "xb", opener=lambda name, flags: os.open(name, flags, _PRIVATE_MODE)) as file:
        file.write(before)
    with suppress(OSError):
        shutil.copystat(path, backup)
    remove_backups(old for old in backups[MAX_BACKUPS - 1 :] if old not in needed)
    return backup


def _restrict(path: Path) -> None:
    """Remove other users' permissions. If the file system ignores this, `exposure` says so."""
    with suppress(OSError):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


def _copy_permissions(path: Path, new: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return  # the mode of a temporary file is private
    if hasattr(os, "chown"):  # first: it removes some permissions
        with suppress(OSError):  # only root may change the owner
            os.chown(new, status.st_uid, status.st_gid)
    with suppress(OSError):  # some file systems have no permissions
        new.chmod(stat.S_IMODE(status.st_mode))


# Small programs that clients register: they start Keyhole faster than its installed scripts. They run Python without
# its `site` module and without the Python settings of the environment (-I -S). They stay in the home folder when the
# installation is removed or its Python is replaced. A hook then succeeds without a word, so that the client goes on;
# a server says what is missing.

BOOT_FOLDER: Final = "bin"
"""The folder of the programs, in the home folder."""
FUNCTIONS: Final = {PROGRAM: "start", SCRIPT: "start_reader"}
"""The function of `keyhole.__main__` that each program runs."""
BOOT_MODE: Final = 0o700

# A shell script and a Python program in one: for Python, the lines of the shell are a string. So the path of the
# interpreter may be long and have spaces, unlike in the first line, and may be missing.
_TEXT: Final = """\
#!/bin/sh
# Written by `keyhole install`.
''''[ -x {python} ] && exec {python} -I -S "$0" "$@"
[ "$1" = hook ] && exit 0
echo {name}: {python} is missing\\; install keyhole-reader again and run: keyhole install >&2
exit 127 #'''
import sys
sys.path.append({folder!r})
try:
    from keyhole.__main__ import {function}
except ImportError:
    import site
    site.main()
    try:
        from keyhole.__main__ import {function}
    except ImportError:
        if sys.argv[1:2] == ["hook"]:
            sys.exit()
        sys.exit("{name}: Keyhole is missing; install keyhole-reader again and run: keyhole install")
{function}()
"""


def boot_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder of the programs, None on a system without POSIX shells."""
    return Path(home_folder(environment)).absolute() / BOOT_FOLDER if os.name == "posix" else None


def boot_text(name: str, python: str) -> str:
    """Return the text of a program that runs this installation with an interpreter."""
    folder = str(Path(keyhole.__file__).resolve().parents[1])
    return _TEXT.format(name=name, python=shlex.quote(python), folder=folder, function=FUNCTIONS[name])


def write_boot_files(folder: Path, python: str) -> None:
    """Write both programs, unless they are there. Raises OSError."""
    make_private_folder(folder)
    for name in FUNCTIONS:
        path, text = folder / name, boot_text(name, python)
        if _read(path) != text or not os.access(path, os.X_OK):
            temporary = path.with_name(f".{name}-{os.getpid()}")
            temporary.write_text(text, encoding="utf-8")
            with suppress(OSError):  # a file system without modes, where all files can be executed
                temporary.chmod(BOOT_MODE)
            temporary.replace(path)


def is_written(folder: Path, python: str) -> bool:
    """Return whether both programs are there and run this installation."""
    return all(_read(folder / name) == boot_text(name, python) for name in FUNCTIONS)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
