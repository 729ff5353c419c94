"""Take the lock of a shared server's files, find the server that holds one, and end it.

A server writes its process id and machine into the locked file, and the kernel tells which process holds a lock. Only
if both agree, that process is the server. So neither another program that holds the lock nor a process that got the id
of an ended server is ever signalled.
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import sys
import time
from contextlib import suppress
from typing import Final

LAYOUTS: Final = {"linux": ("hhqqi", (0, 1, 4)), "darwin": ("qqihh", (3, 4, 2))}
"""The members of `struct flock`, and where the kind, the origin and the process are (fcntl(2))."""
SIGNALS: Final = ((signal.SIGTERM, 0.5), (signal.SIGKILL, 1.0))
"""The signals that end a server, and the seconds to wait for its end. One that is stopped ignores the first."""
POLL_SECONDS: Final = 0.01
"""Seconds between two looks at a lock: an ended process frees it within milliseconds."""


def take_lock(path: str) -> bool:
    """Take a lock until this process ends, and return whether no other process holds it.

    No other part of the process may open the file: closing it would free the lock.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        os.close(file)
        return False
    os.ftruncate(file, 0)
    os.write(file, _describe(os.getpid()))
    return True


def find_server(path: str) -> int:
    """Return the process id of the server that holds a lock, 0 if none does or the kernel does not tell."""
    try:
        with open(path, "rb") as file:
            process = _find_holder(file.fileno())
            return process if process and file.read() == _describe(process) else 0
    except OSError:
        return 0


def end_server(path: str, process: int) -> bool:
    """End a process if it is the server that holds a lock, and return whether it has ended."""
    for number, seconds in SIGNALS if process else ():
        if find_server(path) == process:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)
        if wait_for_end(path, process, seconds):
            return True
    return False


def wait_for_end(path: str, process: int, seconds: float) -> bool:
    """Wait until a server no longer holds its lock, for at most some seconds; return whether it ended."""
    end = time.monotonic() + seconds
    while (is_there := find_server(path) == process) and time.monotonic() < end:
        time.sleep(POLL_SECONDS)
    return not is_there


def _find_holder(descriptor: int) -> int:
    if sys.platform not in LAYOUTS:
        return 0
    layout, (kind, origin, process) = LAYOUTS[sys.platform]
    asked = [0] * len(layout)
    asked[kind], asked[origin] = fcntl.F_WRLCK, os.SEEK_SET
    answer = struct.unpack(layout, fcntl.fcntl(descriptor, fcntl.F_GETLK, struct.pack(layout, *asked)))
    return 0 if answer[kind] == fcntl.F_UNLCK else max(0, int(answer[process]))


def _describe(process: int) -> bytes:
    return f"{process} on {os.uname().nodename}\n".encode()
