"""Read the file or the standard input that a command works on, and print a text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from keyhole.errors import Code, KeyholeError

STDIN: Final = "-"
"""The file name that stands for standard input."""


def read_input(name: str, max_bytes: int | None = None) -> bytes:
    """Return the content of a file or of standard input, which is announced if it is a terminal.

    Raises KeyholeError: invalid_argument if the file is unreadable, too_large if it has more than `max_bytes`.
    """
    if name == STDIN and sys.stdin.isatty():
        print("keyhole: reading standard input; Ctrl-D ends it", file=sys.stderr)
    count = -1 if max_bytes is None else max_bytes + 1
    try:
        if name == STDIN:
            content = sys.stdin.buffer.read(count)
        else:
            with Path(name).open("rb") as file:
                content = file.read(count)
    except OSError as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"cannot read {name}: {error.strerror}") from error
    if max_bytes is not None and len(content) > max_bytes:
        raise KeyholeError(Code.TOO_LARGE, f"{name} is larger than {max_bytes:,} bytes (KEYHOLE_MAX_DECODED_BYTES)")
    return content


def print_text(text: str) -> None:
    """Print a text, with a line feed at its end unless it has one."""
    print(text, end="" if text.endswith("\n") else "\n")


def print_bytes(content: bytes) -> None:
    """Print bytes as they are, after the text that was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
