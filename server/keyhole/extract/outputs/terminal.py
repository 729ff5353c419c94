"""Turn the bytes of an output into the text that a terminal shows at the end. Pure.

Colours and other escape sequences are removed. A line that was redrawn with carriage returns or backspaces, such as a
progress bar, is its last state. No other character that a terminal shows is removed.
"""

from __future__ import annotations

import codecs
from typing import Final

from keyhole.text.clean import clean
from keyhole.text.lazy_pattern import lazy_pattern

_ERASE = lazy_pattern(r"\x1b\[[012]?K")
_ESCAPE = lazy_pattern(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CARET_COLOUR = lazy_pattern(r"\^\[\[[0-9;]*m")
"""A colour as `cat -v` and some CI systems write it, with `^[` for the escape character."""
MIN_CARET_COLOURS: Final = 4
"""Such colours are removed if there are at least this many. Fewer may be what a text is about."""
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
        text = "\n".join(last_state(line) if "\r" in line else line for line in text.split("\n"))
    if "\x08" in text:
        text = "\n".join(_without_erased(line) if "\x08" in line else line for line in text.split("\n"))
    text = clean(text)
    if text.count("^[[") >= MIN_CARET_COLOURS and len(_CARET_COLOUR.findall(text)) >= MIN_CARET_COLOURS:
        text = _CARET_COLOUR.sub("", text)
    return text


def last_state(line: str) -> str:
    """Return the last state of a line with carriage returns: each part is written over the one before it."""
    shown: list[str] = []
    length = 0
    for part in reversed(line.split("\r")):
        written = _ESCAPE.sub("", part)
        if len(written) > length:
            shown.append(written[length:])
            length = len(written)
        if _ERASE.search(part):
            break
    return "".join(shown)


def _without_erased(line: str) -> str:
    """Return a line without the characters that backspaces erase, as a spinner does."""
    first, *others = line.split("\x08")
    shown = list(first)
    for part in others:
        if shown:
            shown.pop()
        shown.extend(part)
    return "".join(shown)
