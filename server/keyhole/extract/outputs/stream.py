"""Read an output that arrives in blocks as a terminal shows it, in memory that does not depend on its length. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import Final

from keyhole.extract.outputs.terminal import ERRORS, UTF16_MARKS, last_state, terminal_text

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
