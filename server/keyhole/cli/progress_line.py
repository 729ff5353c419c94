"""Show on a terminal that a command runs: a line with its bytes, lines, time and last line. A pipe gets nothing."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final, TextIO

DELAY: Final = 1.0
"""Seconds before the line is shown: a shorter command needs none."""
INTERVAL: Final = 0.2
"""Seconds between two changes of the line."""
LAST_BYTES: Final = 2_000
"""Bytes at the end of the output that are kept, to show its last line."""
CLEAR: Final = "\r\x1b[2K"
"""Moves to the beginning of the line and clears it (ECMA-48: EL)."""


class ProgressLine:
    """Counts an output, and describes it in one line."""

    def __init__(self) -> None:
        self._size = self._lines = 0
        self._end = b""
        self._start = time.monotonic()

    def write(self, block: bytes) -> None:
        """Count a block of the output."""
        self._size += len(block)
        self._lines += block.count(b"\n")
        self._end = (self._end + block)[-LAST_BYTES:]

    def text(self, columns: int) -> str:
        """Return the line, at most `columns` wide, without control characters."""
        from keyhole.cli.table import one_line

        seconds = time.monotonic() - self._start
        counts = f"{self._size:,} bytes, {self._lines:,} lines, {seconds:.0f} s"
        ends = [line for line in self._end.decode("utf-8", "replace").splitlines() if line.strip()]
        return one_line(f"{counts}: {ends[-1].strip()}" if ends else counts, columns)


@contextmanager
def shown_progress(terminal: TextIO = sys.stderr, delay: float = DELAY) -> Iterator[ProgressLine]:
    """Show the line on a terminal while the block runs, after a delay, and remove it at the end."""
    progress, is_done = ProgressLine(), Event()

    def show() -> None:
        if is_done.wait(delay):
            return
        while True:
            columns = shutil.get_terminal_size().columns - 1  # in the last column, some terminals begin a new line
            terminal.write(CLEAR + progress.text(columns))
            terminal.flush()
            if is_done.wait(INTERVAL):
                break
        terminal.write(CLEAR)
        terminal.flush()

    thread = Thread(target=show, daemon=True)
    if terminal.isatty():
        thread.start()
    try:
        yield progress
    finally:
        is_done.set()
        if thread.is_alive():
            thread.join()
