"""Read the file or the standard input that a command works on, and print a text to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from keyhole.errors import Code, KeyholeError

STDIN: Final = "-"
"""The file name that stands for standard input."""


BLOCK_BYTES: Final = 262_144
"""Bytes that are read at a time."""


def read_input(name: str, max_bytes: int) -> bytes:
    """Return the content of a file or of standard input, which is announced if it is a terminal.

    Raises KeyholeError: invalid_argument if the file is unreadable, too_large if it has more than `max_bytes`.
    """
    content = bytearray()
    for block in read_blocks(name):
        content += block
        if len(content) > max_bytes:
            message = f"{name} is larger than {max_bytes:,} bytes (twice KEYHOLE_MAX_BYTES)"
            raise KeyholeError(Code.TOO_LARGE, message)
    return bytes(content)


def read_blocks(name: str) -> Iterator[bytes]:
    """Yield the blocks of a file or of standard input, which is announced if it is a terminal.

    Raises KeyholeError (invalid_argument) if the file is unreadable.
    """
    if name == STDIN and sys.stdin.isatty():
        print("keyhole: reading standard input; Ctrl-D ends it", file=sys.stderr)
    try:
        if name == STDIN:
            yield from iter(lambda: sys.stdin.buffer.read(BLOCK_BYTES), b"")
        else:
            with Path(name).open("rb") as file:
                yield from iter(lambda: file.read(BLOCK_BYTES), b"")
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"cannot read {name}: {error.strerror}") from error


def open_closed_streams() -> None:
    """Open the null device in place of each standard stream that was closed when this process started."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def discard_buffered() -> None:
    """Discard what is not written to standard output, so that this process can end after a failed write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_text(text: str) -> None:
    """Print a text, with a line feed at its end unless it has one."""
    print(text, end="" if text.endswith("\n") else "\n")


def print_bytes(content: bytes) -> None:
    """Write bytes to standard output unchanged, after the text that is still buffered."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
