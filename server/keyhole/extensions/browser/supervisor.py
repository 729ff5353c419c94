"""Run a browser as the child of a small process that ends the browser's whole process tree.

chromium.py starts this file as a script with `python -I -S`, so it imports only the standard library. It kills every
descendant and removes the profile when its standard input ends (the server closed it, or died), at the deadline, when
the processes need more memory than allowed, or when the browser ends. A line on standard input is a new deadline, in
seconds from now.

Linux gives it the processes whose parent died (PR_SET_CHILD_SUBREAPER), so a process cannot leave its tree.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
"""Options of prctl(2)."""
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000
"""Flags of unshare(2): the namespaces that Chromium's sandbox needs."""
CHECK_SECONDS: Final = 0.1
"""Seconds between two checks of the memory. A page can fill about 100 MB in this time."""
KILL_SECONDS: Final = 0.01
"""Seconds between two rounds of killing. A process that was starting another may need a second round."""
SANDBOX: Final = "--no-sandbox"


def main(arguments: list[str]) -> None:
    """Run a browser.

    `arguments`: seconds, bytes of memory, the profile's folder, the descriptors from which the browser reads DevTools
    commands and to which it writes answers, then the browser's command.
    """
    seconds, memory, profile, commands, answers, *command = arguments
    deadline = time.monotonic() + float(seconds)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        browser = _start(command, int(commands), int(answers))
        while browser.poll() is None and (left := deadline - time.monotonic()) > 0:
            if select.select([0], [], [], min(CHECK_SECONDS, left))[0]:
                if not (line := os.read(0, 64)):
                    break
                deadline = time.monotonic() + float(line)
            if memory_of(descendants()) > int(memory):
                break
    finally:
        kill_descendants()
        shutil.rmtree(profile, ignore_errors=True)


def _start(command: list[str], commands: int, answers: int) -> subprocess.Popen[bytes]:
    """Start the browser, which dies with this process, and close its DevTools pipes here."""

    def prepare() -> None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Chromium reads from descriptor 3 and writes to 4. The copies keep one from overwriting the other.
        copies = os.dup(commands), os.dup(answers)
        os.dup2(copies[0], 3)
        os.dup2(copies[1], 4)

    if not can_sandbox():
        command = [*command, SANDBOX]
    browser = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(3, 4),
        preexec_fn=prepare,
    )
    os.close(commands)
    os.close(answers)
    return browser


def can_sandbox() -> bool:
    """Return True if Chromium's sandbox works here: not for root, and only if the system permits user namespaces."""
    if os.geteuid() == 0:
        return False
    child = os.fork()
    if child == 0:
        libc = ctypes.CDLL(None)
        # Some systems permit the user namespace and deny the rights in it.
        os._exit(1 if libc.unshare(CLONE_NEWUSER) or libc.unshare(CLONE_NEWPID | CLONE_NEWNET) else 0)
    return os.waitpid(child, 0)[1] == 0


def descendants() -> list[int]:
    """Return the ids of all processes below this one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (parent := _parent(int(name))):
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(os.getpid(), ()))
    for process in found:  # grows while it is read
        found += children.get(process, ())
    return found


def _parent(process: int) -> int:
    """Return the id of a process's parent, 0 if the process has ended."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def memory_of(processes: Iterable[int]) -> int:
    """Return the bytes of memory that belong to these processes alone, and their shared memory, not mapped files."""
    total = 0
    for process in processes:
        with suppress(OSError), open(f"/proc/{process}/status", "rb") as file:
            for line in file:
                if line.startswith((b"RssAnon:", b"RssShmem:")):
                    total += int(line.split()[1]) * 1024
    return total


def kill_descendants() -> None:
    """Kill all descendants, and wait until none is left."""
    while True:
        for process in descendants():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(KILL_SECONDS)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
