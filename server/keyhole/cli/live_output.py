"""Print the beginning of an output while its command still runs, so that its reader sees that a server is ready."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final

MAX_BYTES: Final = 1_000
"""Bytes that are printed before the command has ended, a quarter of the budget: what a server prints at its start."""


class LiveOutput:
    """Prints the first MAX_BYTES of an output at once, from the call of `start` on."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self._is_live = False
        self.printed = 0
        """Bytes that are printed already."""

    def write(self, block: bytes) -> None:
        """Add a block of the output."""
        if len(self._begun) < MAX_BYTES:
            self._begun += block[: MAX_BYTES - len(self._begun)]
            self._print()

    def start(self) -> None:
        """Print what was added before, and from now on each block."""
        self._is_live = True
        self._print()

    @property
    def ends_in_line(self) -> bool:
        """True if a text that follows needs a new line."""
        return self.printed > 0 and self._begun[self.printed - 1] != ord("\n")

    def _print(self) -> None:
        """Print what is not printed yet. The bytes before the limit end with a whole line."""
        if not self._is_live:
            return
        end = len(self._begun) if len(self._begun) < MAX_BYTES else self._begun.rfind(b"\n") + 1
        if end > self.printed:
            with suppress(BrokenPipeError):  # printing the result raises it again
                sys.stdout.buffer.write(self._begun[self.printed : end])
                sys.stdout.flush()
            self.printed = end
