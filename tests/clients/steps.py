"""What was tried and how it went: one line a step, a count at the end; and programs run within a time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds for one program: a hundred times what a step takes, so that only a hang meets it."""

FAULTS = (AssertionError, LookupError, TypeError, ValueError, OSError, subprocess.SubprocessError)
"""What a client that misbehaves makes our code raise; anything else is a fault of these scripts."""


TOTALS = {"passed": "ok", "failed": "FAIL", "skipped": "skipped"}
"""The words of the table, and of a step's line."""


class Steps:
    """Prints each step's outcome as it is known and counts them."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._rows: list[str] = []

    @contextmanager
    def of(self, client: str) -> Iterator[None]:
        """The steps of one client, which are a line of the table at the end."""
        before, began = self._count.copy(), time.monotonic()
        yield
        counts = [self._count[kind] - before[kind] for kind in TOTALS.values()]
        self._rows.append(f"{client:20}" + "".join(f"{n:8}" for n in counts) + f"{time.monotonic() - began:8.1f} s")

    def run(self, name: str, check: Callable[[], T]) -> T | None:
        """Try one thing: its result, or None (told as FAIL) when it raised."""
        try:
            result = check()
        except FAULTS as fault:
            self.fail(name, fault)
            return None
        self._tell("ok", name)
        return result

    def fail(self, name: str, fault: Exception) -> None:
        """Say that something went wrong, and what."""
        said = " ".join(str(fault).split())
        self._tell("FAIL", name, f": {type(fault).__name__}: {said[:600]}")

    def skip(self, client: str, reason: str) -> None:
        """Say that a client could not be brought here."""
        self._tell("skipped", client, f": {reason}")

    def finish(self) -> int:
        """Print the table and the totals; the exit code."""
        print("\n".join(["", f"{'':20}" + "".join(f"{word:>8}" for word in TOTALS), *self._rows, ""]))
        print(", ".join(f"{self._count[kind]} {word}" for word, kind in TOTALS.items()))
        return 1 if self._count["FAIL"] else 0

    def _tell(self, kind: str, name: str, more: str = "") -> None:
        self._count[kind] += 1
        print(f"{kind}: {name}{more}", flush=True)


def run_program(
    command: Sequence[str], env: Mapping[str, str], folder: Path, seconds: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; with all it started it is gone when this returns.

    Raises subprocess.TimeoutExpired when it takes too long.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=env, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=seconds)
        finally:
            end_group(process)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def end_group(process: subprocess.Popen[str]) -> None:
    """End a program that was started in a session of its own, and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
