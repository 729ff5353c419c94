"""Exchange lines with a runner process, one line per page, and survive its end or its silence.

The runner measures the time of its extraction call itself.
"""

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
"""Seconds after which a runner is killed: thirty times what the slowest peer takes for most pages."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The text that a system extracted from a page, its time and its error."""

    text: str
    ms: float
    error: str | None

    def record(self) -> dict[str, Any]:
        """Return the answer as a JSON object for the cache."""
        return asdict(self)


class Conversation:
    """A runner process: started for the first page, and started again for the next page after it ended."""

    def __init__(self, command: list[str], home: Path) -> None:
        self._command = command
        # Peers store their files, settings and caches in this folder, not in the user's home.
        self._env = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "CRAWL4_AI_BASE_DIRECTORY": str(home)}
        self._env["PYTHONHASHSEED"] = "0"
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, html: str, url: str) -> Answer:
        """Return the answer for a page, with an error if the runner ended or did not answer in time."""
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
        """Return the peak memory of the runner in MB; None where /proc does not report it."""
        status = Path(f"/proc/{self._process.pid}/status") if self._process else None
        if status is None or not status.exists():
            return None
        return next((int(line.split()[1]) / 1e3 for line in status.open() if line.startswith("VmHWM")), None)

    def close(self) -> None:
        """Kill the runner."""
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
def open_conversation(command: list[str]) -> Iterator[Conversation]:
    """Yield a conversation with a runner, which is killed when the block ends."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        talk = Conversation(command, Path(home))
        try:
            yield talk
        finally:
            talk.close()


def use_one_core() -> None:
    """Pin this process and its subprocesses to one core, so that every peer has the same computing power."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
