"""Turn the bytes of an output into the text that a terminal shows at the end. Pure.

Colours and other escape sequences are removed. A line that was redrawn with carriage returns or backspaces, such as a
progress bar, is its last state. No other character that a terminal shows is removed.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from keyhole.text.clean import clean

_ERASE = re.compile(r"\x1b\[[012]?K")
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_REDRAWN_LINE = re.compile(r"[^\n]*\r[^\n]*")
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08")
MAX_BACKSPACES: Final = 64
"""Backspaces in a row that are applied; a spinner has one, and a longer run deletes a typed word."""
UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ERRORS: Final = "backslashreplace"
"""Name of the error handler of Python's decoders for bytes that are not valid."""


def decode_output(data: bytes) -> str:
    r"""Return the text of an output: UTF-8, or UTF-16 with a byte order mark.

    A byte that is not valid becomes its hexadecimal value, such as `\xe9`, so that it can be recovered from the text.
    """
    encoding = "utf-16" if data.startswith(UTF16_MARKS) else "utf-8"
    return data.decode(encoding, ERRORS)


def terminal_text(output: str) -> str:
    """Return what a terminal shows of an output at the end, with line feeds as line breaks."""
    text = output.replace("\r\n", "\n") if "\r" in output else output
    if "\r" in text:
        text = _REDRAWN_LINE.sub(lambda match: last_state(match[0]), text)
    for _ in range(MAX_BACKSPACES):
        if "\x08" not in text:
            break
        text = _OVERSTRUCK.sub("", text)
    return clean(text)


def last_state(line: str) -> str:
    """Return the last state of a line with carriage returns: each part is written over the one before it."""
    shown = ""
    for part in line.split("\r"):
        written = _ESCAPE.sub("", part)
        shown = written if _ERASE.search(part) else written + shown[len(written) :]
    return shown
