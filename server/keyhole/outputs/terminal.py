"""Turn the bytes of an output into the text that a terminal shows at the end. Pure.

Colours and other escape sequences are removed. A line that was redrawn with carriage returns or backspaces, such as a
progress bar, is its last state. No other character that a terminal shows is removed.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
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


# Read an output that arrives in blocks as a terminal shows it, in memory that does not depend on its length.

MAX_LINE: Final = 1_000_000
"""Characters of a line that is read in one piece. In a longer one, a carriage return overwrites only the last piece."""
MAX_WORD: Final = 4_096
"""Characters before the end of a piece in which it is cut at a space."""
MAX_SEQUENCE: Final = 128
"""Characters of an escape sequence that a cut does not divide."""


def decode_blocks(blocks: Iterable[bytes]) -> Iterator[str]:
    """Yield the text of an output that arrives in blocks. All of it is decoded as `decode_output` does."""
    decoder = None
    begun = b""
    for block in blocks:
        if decoder is None:
            begun += block
            if len(begun) < len(UTF16_MARKS[0]):
                continue
            decoder, block = _decoder(begun), begun
        if text := decoder.decode(block):
            yield text
    yield (decoder or _decoder(begun)).decode(b"" if decoder else begun, True)


def _decoder(begun: bytes) -> codecs.IncrementalDecoder:
    """Return the decoder for an output that begins with these bytes."""
    return codecs.getincrementaldecoder("utf-16" if begun.startswith(UTF16_MARKS) else "utf-8")(ERRORS)


def terminal_pieces(blocks: Iterable[str]) -> Iterator[str]:
    """Yield in pieces what a terminal shows at the end of an output. A piece ends with a line, unless the line is long.

    Joined, they are the `terminal_text` of the joined blocks, if no line is longer than `MAX_LINE`.
    """
    pending = ""
    for block in blocks:
        pending += block
        if not (cut := pending.rfind("\n") + 1) and len(pending) > MAX_LINE:
            pending = _without_overwritten(pending)
            cut = _cut(pending) if len(pending) > MAX_LINE else 0
        if piece := terminal_text(pending[:cut]):
            yield piece
        pending = pending[cut:]
    if piece := terminal_text(pending):
        yield piece


def _without_overwritten(line: str) -> str:
    """Return the beginning of a line with the part before its last carriage return replaced by its last state."""
    end = line.rfind("\r", 0, len(line) - 1)  # the last character may be the first of a line break
    return last_state(line[:end]) + line[end:] if end > 0 else line


def _cut(line: str) -> int:
    """Return where a long line is cut: after a space if there is one, and not within an escape sequence."""
    cut = line.rfind(" ", len(line) - MAX_WORD) + 1 or len(line)
    start = line.rfind("\x1b", max(1, cut - MAX_SEQUENCE), cut)
    cut = start if start > 0 else cut
    return cut - 1 if line[cut - 1] == "\r" and cut > 1 else cut  # it may be the first character of a line break
