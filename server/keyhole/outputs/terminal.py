"""Turn the bytes of an output into the text that a terminal shows at the end. Pure.

Colours and other escape sequences are removed. A line that was redrawn with carriage returns, backspaces or moves of
the cursor, such as a progress bar, is its last state. No other character that a terminal shows is removed. What else is
changed is named by `changes_of`.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from keyhole.text.clean import clean, invisible_signs
from keyhole.text.lazy_pattern import lazy_pattern

_BINARY = lazy_pattern("[\x01-\x06\x0e-\x1a]|\0{4}")
"""Characters of binary data. In other outputs NUL separates names, as `find -print0` and `git -z` write it."""
_TO_START = lazy_pattern(r"\x1b\[[01]?G")
_UP = lazy_pattern(r"\x1b\[(\d{0,3})[AF]")
_ERASE_LINE: Final = "\x1b[2K"
_ERASE = lazy_pattern(r"\x1b\[[012]?K")
_ESCAPE = lazy_pattern(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CARET_COLOUR = lazy_pattern(r"\^\[\[[0-9;]*m")
"""A colour as `cat -v` and some CI systems write it, with `^[` for the escape character."""
MIN_CARET_COLOURS: Final = 4
"""Such colours are removed if there are at least this many. Fewer may be what a text is about."""
UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SAMPLE_BYTES: Final = 65_536
"""Bytes of the beginning by which the encoding is found."""
UTF16_SHARE: Final = 0.4
"""Share of NUL among the bytes at even or at odd places from which a text without mark is UTF-16: most are ASCII."""
CODE_PAGE_SHARE: Final = 0.8
MIN_RUNS: Final = 2
"""Share of the runs of bytes above 127 that must be pairs (GB 18030, the code page of Windows in China) or letters
and quotes (Windows-1252), and the smallest number of such runs: a single byte is stored as a hexadecimal number."""
_HIGH_RUN = lazy_pattern(r"[\x80-\xff]+")
_WESTERN_LETTER = lazy_pattern(r"(?<![\x80-\xff])[\x91-\x97\xc0-\xff]{1,2}(?=[A-Za-z\s.,:)\"'])")
_CONTROLS = lazy_pattern(r"[\x00-\x06\x0e-\x1a]")
"""Characters of binary data."""
INVALID: Final = "invalid bytes as \\xNN"
ERRORS: Final = "backslashreplace"
"""Name of the error handler of Python's decoders for bytes that are not valid."""


def decode_output(data: bytes, changes: set[str] | None = None) -> str:
    r"""Return the text of an output, in the encoding of `find_encoding`. What decoding changes is added to `changes`.

    A byte that is not valid becomes its hexadecimal value, such as `\xe9`, so that it can be recovered from the text.
    """
    return "".join(decode_blocks([data], set() if changes is None else changes))


def find_encoding(sample: bytes) -> str:
    """Return the encoding of an output that begins with `sample`: UTF-8 unless nearly all of it says otherwise."""
    if sample.startswith(UTF16_MARKS):
        return "utf-16"
    if b"\0" in sample:
        odd, even = sample[1::2].count(0), sample[::2].count(0)
        if max(odd, even) > UTF16_SHARE * len(sample) / 2 and min(odd, even) < len(sample) / 100:
            return "utf-16-le" if odd > even else "utf-16-be"
    if sample.isascii() or _decodes(sample, "utf-8"):
        return "utf-8"
    text = sample.decode("latin-1")  # the patterns are of characters
    runs = _HIGH_RUN.findall(text)
    if len(runs) < MIN_RUNS or _CONTROLS.search(text):
        return "utf-8"
    pairs = sum(len(run) % 2 == 0 for run in runs)
    if pairs >= CODE_PAGE_SHARE * len(runs) and _decodes(sample, "gb18030"):
        return "gb18030"
    is_western = len(_WESTERN_LETTER.findall(text)) >= CODE_PAGE_SHARE * len(runs)
    return "cp1252" if is_western and _decodes(sample, "cp1252") else "utf-8"


def _decodes(sample: bytes, encoding: str) -> bool:
    """Return whether a sample is valid in an encoding. Its last character may be cut."""
    try:
        codecs.getincrementaldecoder(encoding)("strict").decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def terminal_text(output: str) -> str:
    """Return what a terminal shows of an output at the end, with line feeds as line breaks."""
    text = output.replace("\r\n", "\n") if "\r" in output else output
    if "\0" in text and not _BINARY.search(text):
        text = text.replace("\0", "\n")
    if "\x1b[" in text:
        text = _TO_START.sub("\r", text)
        text = _join_redrawn(text) if _UP.search(text) else text
    if "\r" in text:
        text = "\n".join(last_state(line) if "\r" in line else line for line in text.split("\n"))
    if "\x08" in text:
        text = "\n".join(_without_erased(line) if "\x08" in line else line for line in text.split("\n"))
    text = clean(text)
    if text.count("^[[") >= MIN_CARET_COLOURS and len(_CARET_COLOUR.findall(text)) >= MIN_CARET_COLOURS:
        text = _CARET_COLOUR.sub("", text)
    return text


CHANGES: Final = (
    ("\r\n", "CRLF as LF"),
    ("\x85", "NEL as LF"),
    ("\u2028", "U+2028 as LF"),
    ("\u2029", "U+2029 as LF"),
    ("\u2800", "blank Braille cells as spaces"),
)
"""Characters that the stored text lacks, each with a description of the change."""
_OTHER_CONTROLS: Final = bytes([*range(1, 8), 11, 12, *range(14, 27), *range(28, 32), 127])
"""Control characters beside those of line breaks, redrawn lines and escape sequences."""


def changes_of(output: str, text: str) -> Iterator[str]:
    """Yield what `terminal_text` changed in an output. `text`: its result."""
    if text == output:
        return
    yield from (change for sign, change in CHANGES if sign in output)
    if "\0" in output:
        yield "no NUL" if _BINARY.search(output) else "NUL as LF"
    if output.count("\r") > output.count("\r\n") or "\x08" in output or _UP.search(output):
        yield "redrawn lines as last shown"
    if "\x1b" in output or _CARET_COLOUR.search(output):
        yield "no escape sequences"
    data = output.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _OTHER_CONTROLS)) < len(data):
        yield "no control characters"
    if not output.isascii() and any(output.count(sign) > text.count(sign) for sign in invisible_signs(output)):
        yield "no invisible characters"


def _join_redrawn(text: str) -> str:
    """Return a text in which what is written after a move of the cursor upwards follows, after a carriage return, the
    line that it is written over."""
    rows: list[list[str]] = []
    row = -1
    for line in text.split("\n"):
        row += 1
        if row == len(rows):
            rows.append([])
        first, *others = _UP.split(line)
        rows[row] += [first] if first else []
        for count, part in zip(others[::2], others[1::2], strict=True):
            row = max(0, row - (int(count or 1) or 1))
            rows[row] += [part] if part else []
    return "\n".join("\r".join(parts) for parts in rows)


def last_state(line: str) -> str:
    """Return the last state of a line with carriage returns: each part is written over the one before it."""
    shown: list[str] = []
    length = 0
    for part in reversed(line.split("\r")):
        erased, sign, kept = part.rpartition(_ERASE_LINE)
        blank = " " * len(_ESCAPE.sub("", erased)) if kept else ""
        written = blank + _ESCAPE.sub("", kept) if sign else _ESCAPE.sub("", part)
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


def decode_blocks(blocks: Iterable[bytes], changes: set[str]) -> Iterator[str]:
    """Yield the text of an output that arrives in blocks, as `decode_output` does."""
    blocks, begun = iter(blocks), b""
    for block in blocks:
        begun += block
        if len(begun) >= SAMPLE_BYTES:
            break
    encoding = find_encoding(begun[:SAMPLE_BYTES])
    if encoding != "utf-8":
        changes.add(f"{encoding} as UTF-8")
    decoder = codecs.getincrementaldecoder(encoding)(ERRORS)
    for block in chain([begun], blocks):
        text = decoder.decode(block)
        if text.count("\\x") > block.replace(b"\0", b"").count(b"\\x"):
            changes.add(INVALID)
        if text:
            yield text
    if rest := decoder.decode(b"", True):
        changes.add(INVALID)
        yield rest


def terminal_pieces(blocks: Iterable[str], changes: set[str]) -> Iterator[str]:
    """Yield in pieces what a terminal shows at the end of an output. A piece ends with a line, unless the line is long.
    What this changes is added to `changes`.

    Joined, they are the `terminal_text` of the joined blocks, if no line is longer than `MAX_LINE` and the cursor moves
    only over lines of its own block.
    """
    pending = ""
    for block in blocks:
        pending += block
        if not (cut := pending.rfind("\n") + 1) and len(pending) > MAX_LINE:
            pending = _without_overwritten(pending)
            cut = _cut(pending) if len(pending) > MAX_LINE else 0
        yield from _shown(pending[:cut], changes)
        pending = pending[cut:]
    yield from _shown(pending, changes)


def _shown(output: str, changes: set[str]) -> Iterator[str]:
    text = terminal_text(output)
    changes.update(changes_of(output, text))
    if text:
        yield text


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
