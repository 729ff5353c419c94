"""Talks to a runner, a line a page, and does without it when it ends or takes too long. Nothing is measured here:
the runner times its own call."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

PAGE_SECONDS: Final = 60.0
"""For one page, thirty times what the slowest peer takes for most; then the process is ended."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system made of one page."""

    text: str
    ms: float
    error: str | None

    def record(self) -> dict[str, Any]:
        """As a cache keeps it."""
        return asdict(self)


class Conversation:
    """One runner; started at the first page, and again after it ended."""

    def __init__(self, command: list[str], home: Path) -> None:
        self._command = command
        # Peers that keep files keep them here; their settings and caches are not this user's.
        self._env = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "CRAWL4_AI_BASE_DIRECTORY": str(home)}
        self._env["PYTHONHASHSEED"] = "0"
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, html: str, url: str) -> Answer:
        """One page's answer; an error if the runner ended or did not answer in time."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        watchdog = threading.Timer(PAGE_SECONDS, end)
        watchdog.start()
        try:
            process.stdin.write(json.dumps({"html": html, "url": url}).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            watchdog.cancel()
        if not line:
            self.close()
            return Answer("", 1_000 * PAGE_SECONDS, f"over {PAGE_SECONDS:.0f} s" if late.is_set() else "ended")
        return Answer(**json.loads(line))

    def peak_megabytes(self) -> float | None:
        """The most memory that the runner has held, where the system tells (Linux)."""
        status = Path(f"/proc/{self._process.pid}/status") if self._process else None
        if status is None or not status.exists():
            return None
        return next((int(line.split()[1]) / 1e3 for line in status.open() if line.startswith("VmHWM")), None)

    def close(self) -> None:
        """End the runner."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


@contextmanager
def conversation(command: list[str]) -> Iterator[Conversation]:
    """A runner that ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        talk = Conversation(command, Path(home))
        try:
            yield talk
        finally:
            talk.close()


def use_one_core() -> None:
    """Keep this process and all that it starts on one core, so that no peer gets more than another."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
