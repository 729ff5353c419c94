"""Go on reading the output of processes that an ended command left running, in a process that outlives this one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import closing
from typing import Final

from keyhole.store.running_output import RunningOutput

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
