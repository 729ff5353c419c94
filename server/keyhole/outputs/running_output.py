"""Keep the output of a running command in the spool folder, so that it survives the end of this process."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from keyhole.store.private_files import make_private_folder
from keyhole.store.spool import PARTIAL

log = logging.getLogger(__name__)

RUNNING: Final = ".running"
"""The suffix of the output of a command that runs, or whose `keyhole run` was killed. A running process holds a
lock."""
BLOCK_BYTES: Final = 262_144
"""Bytes that are read at a time."""
MAX_HEAD_BYTES: Final = 65_536
"""Greatest length of the line of facts at the beginning of the file."""


class RunningOutput:
    """The output of a command that runs, in a file of at most `max_bytes` bytes.

    `folder`: the spool folder, "" to keep nothing after the end of this process. `facts`: what is known of the command.
    """

    def __init__(self, folder: str, facts: Mapping[str, str], max_bytes: int) -> None:
        self._path: Path | None = None
        self._left = max_bytes
        self.size = 0
        """Bytes of the output, with those that are not kept."""
        self.dropped = 0
        """Bytes that are not kept, because the file or the disk is full."""
        head = json.dumps(dict(facts)).encode() + b"\n"
        self._start = len(head)
        self._file = self._create(folder, head) if folder else _open_unnamed(head)

    def _create(self, folder: str, head: bytes) -> BinaryIO:
        """Create the file and lock it. Without a folder that can be written, use a temporary file."""
        path = Path(folder, f"{os.getpid()}-{time.time_ns()}{RUNNING}")
        partial = path.with_suffix(PARTIAL)
        try:
            make_private_folder(path.parent)
            file = os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b", buffering=0)
            file.write(head)
            _lock(file)
            partial.rename(path)  # from here on, a file without a lock is that of an ended process
        except OSError as error:
            log.warning("the output is lost if this process is killed: cannot write %s: %s", folder, error.strerror)
            return _open_unnamed(head)
        self._path = path
        return file

    def write(self, block: bytes) -> None:
        """Add a block, or count as dropped what does not fit."""
        self.size += len(block)
        written = 0
        with suppress(OSError):  # the disk is full
            written = self._file.write(block[: self._left]) if self._left else 0
        self._left -= written
        if written < len(block):
            self._left = 0  # stop writing: a gap in the middle of the output would be invisible
            self.dropped += len(block) - written

    def blocks(self) -> Iterator[bytes]:
        """Yield the output from its beginning."""
        self._file.seek(self._start)
        yield from _read(self._file)

    def fileno(self) -> int | None:
        """Return the descriptor of the file, for a process that goes on writing it and holds its lock.

        It is None if the output is in memory.
        """
        return None if isinstance(self._file, BytesIO) else self._file.fileno()

    def remove(self) -> None:
        """Remove the file after the output was shown or stored."""
        if self._path:
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file. Unless it was removed, it is stored when artifacts are next listed."""
        self._file.close()


class Abandoned:
    """The output of a command whose `keyhole run` was killed."""

    def __init__(self, file: BinaryIO, facts: Mapping[str, str]) -> None:
        self._file = file
        self.facts = facts

    def blocks(self) -> Iterator[bytes]:
        """Yield the output from its beginning."""
        yield from _read(self._file)


@contextmanager
def abandoned(path: Path) -> Iterator[Abandoned | None]:
    """Open and lock the output of an ended process, and remove it at the end unless an exception is raised.

    Yields None if its process still runs, another process is reading it, or it has no facts.
    """
    try:
        file = path.open("rb")
    except OSError:  # another process has stored it
        yield None
        return
    with file:
        if not _lock(file):
            yield None
            return
        facts = _read_facts(file)
        yield Abandoned(file, facts) if facts is not None else None
        path.unlink(missing_ok=True)


def list_running(folder: str) -> list[Path]:
    """Return the files of running commands and of those whose process was killed, oldest first."""
    with suppress(OSError):
        return sorted(path for path in Path(folder).iterdir() if path.name.endswith(RUNNING))
    return []


def _open_unnamed(head: bytes) -> BinaryIO:
    """Return a temporary file, or one in memory where no folder can be written, as in a sandbox."""
    try:
        file: BinaryIO = TemporaryFile(buffering=0)  # noqa: SIM115 - closed by `close`
    except OSError:
        file = BytesIO()
    file.write(head)
    return file


def _lock(file: BinaryIO) -> bool:
    """Lock a file for as long as it is open; return False if another process has locked it."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _read(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        yield block


def _read_facts(file: BinaryIO) -> Mapping[str, str] | None:
    try:
        facts = json.loads(file.readline(MAX_HEAD_BYTES))
        return {str(name): str(value) for name, value in facts.items()}
    except (ValueError, AttributeError):
        return None


# Go on reading the output of processes that an ended command left running, in a process that outlives this one.

MAX_BYTES: Final = 16 * 1024 * 1024
"""Greatest part of the output that is kept. A server may run and print for days."""
READER: Final = """\
exec 3<&0 0</dev/null
{ if [ "$1" -gt 0 ]; then head -c "$1" <&3; fi; exec cat <&3 >/dev/null; } 2>/dev/null &"""
"""A script that reads a pipe until no process can write to it. The first $1 bytes go to standard output."""


def keep_reading(pipe: int, folder: str, facts: Mapping[str, str]) -> None:
    """Start a reader of a pipe, and close the pipe here. Without a reader, writing to it would end a process.

    The reader is in a session of its own: whoever kills the group of this process does not kill it. What it reads is in
    a file of the spool folder, and is stored when artifacts are listed after the last of the processes has ended.
    `folder`: the spool folder, "" to keep nothing. `facts`: the facts about the command.
    """
    with open(pipe, "rb", buffering=0) as reading:
        if not folder:
            return _start(reading.fileno(), None)
        with closing(RunningOutput(folder, facts, MAX_BYTES)) as output:
            return _start(reading.fileno(), output.fileno())


def _start(pipe: int, file: int | None) -> None:
    """Start the reader, with the file that it writes or None."""
    words = ["/bin/sh", "-c", READER, "sh", str(MAX_BYTES if file is not None else 0)]
    environment = {"PATH": os.confstr("CS_PATH") or os.defpath}
    subprocess.run(
        words, stdin=pipe, stdout=subprocess.DEVNULL if file is None else file, stderr=subprocess.DEVNULL,
        env=environment, cwd="/", start_new_session=True, check=False,
    )  # fmt: skip
