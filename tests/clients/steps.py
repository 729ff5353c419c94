"""Run steps, print their outcomes and count them; run programs with a timeout."""

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
"""Seconds for one program, a hundred times the normal duration, so that only hangs time out."""

FAULTS = (AssertionError, LookupError, TypeError, ValueError, OSError, subprocess.SubprocessError)
"""Exceptions that a misbehaving client can cause; other exceptions are faults of these scripts."""


TOTALS = {"passed": "ok", "failed": "FAIL", "skipped": "skipped"}
"""The column headings of the table, with the word that begins a step's line."""


class Steps:
    """Prints the outcome of each step and counts the outcomes."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()
        self._rows: list[str] = []

    @contextmanager
    def group(self, client: str) -> Iterator[None]:
        """Count the steps in the block as a row of the final table."""
        before, began = self._count.copy(), time.monotonic()
        yield
        counts = [self._count[kind] - before[kind] for kind in TOTALS.values()]
        self._rows.append(f"{client:20}" + "".join(f"{n:8}" for n in counts) + f"{time.monotonic() - began:8.1f} s")

    def run(self, name: str, check: Callable[[], T]) -> T | None:
        """Run a check; return its result, or None if it raised one of FAULTS, which is reported as FAIL."""
        try:
            result = check()
        except FAULTS as fault:
            self.fail(name, fault)
            return None
        self._report("ok", name)
        return result

    def fail(self, name: str, fault: Exception) -> None:
        """Report a failed step."""
        text = " ".join(str(fault).split())
        self._report("FAIL", name, f": {type(fault).__name__}: {text[:600]}")

    def skip(self, client: str, reason: str) -> None:
        """Report that a client could not be installed."""
        self._report("skipped", client, f": {reason}")

    def finish(self) -> int:
        """Print the table and the totals; return the exit code."""
        print("\n".join(["", f"{'':20}" + "".join(f"{word:>8}" for word in TOTALS), *self._rows, ""]))
        print(", ".join(f"{self._count[kind]} {word}" for word, kind in TOTALS.items()))
        return 1 if self._count["FAIL"] else 0

    def _report(self, kind: str, name: str, more: str = "") -> None:
        self._count[kind] += 1
        print(f"{kind}: {name}{more}", flush=True)


def run_program(
    command: Sequence[str], env: Mapping[str, str], folder: Path, seconds: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run a program, then kill the processes that it started. Raises subprocess.TimeoutExpired."""
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
    """Kill a program that was started in a new session, and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
