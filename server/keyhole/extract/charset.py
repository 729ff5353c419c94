"""Guess the charset of a text that declares no charset and is not UTF-8."""

from __future__ import annotations

import re
from typing import Final

FALLBACK: Final = "cp1252"
"""The charset that browsers assume for Latin script when none is declared."""
_CANDIDATES: Final = (
    "cp1252", "iso8859-15", "cp1250", "iso8859-2", "cp1257", "iso8859-13", "cp1254", "cp1258",
    "cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866", "cp1253", "iso8859-7", "cp1255", "iso8859-8", "cp1256",
    "iso8859-6", "cp874", "cp932", "euc-jp", "gb18030", "big5hkscs", "cp949",
)  # fmt: skip
"""Charsets of web pages by their Python names. Of two overlapping charsets only the superset is listed. Charsets that
no website uses (EBCDIC, Macintosh) are left out, because they would always be wrong guesses."""
_SAMPLE_BYTES: Final = 64 * 1024
"""Bytes passed to the detector. With 20,000 characters it is slower than with 1,000, but not more accurate
(benchmarks/extraction/charsets.py)."""
_MIN_HIGH_BYTES: Final = 3
"""Least number of bytes over 127 for a guess. With fewer, the charset cannot be determined (é, ® or й?), and the text
is nearly always Western."""
_HIGH_BYTES: Final = bytes(range(128, 256))
_LETTERS: Final = re.compile(rb"[\xc0-\xff]|[\x80-\xbf]{2}")
"""Letters beyond ASCII. Other bytes over 127 are Western quotes and signs such as §, ½ and •."""
_TEXT_RUN: Final = re.compile(rb"[^<>]+")
_ISO_2022_JP: Final = re.compile(rb"\x1b\$[@B]")
"""The escape sequence of ISO-2022-JP, the only 7-bit charset of the web other than ASCII."""
_OTHER_ALPHABET: Final = re.compile(r"[\u0370-\u0e7f]")
_MIXED: Final = re.compile(r"[A-Za-z][\u0370-\u0e7f]|[\u0370-\u0e7f][A-Za-z]")
MAX_MIXED: Final = 0.3
"""Largest share of non-Latin letters that are next to a Latin letter. A larger share means that the guess is wrong:
`dйjа vu` is French."""


def is_iso_2022_jp(body: bytes) -> bool:
    """Return whether the bytes are ISO-2022-JP, which is also valid ASCII and UTF-8."""
    return body.isascii() and _ISO_2022_JP.search(body) is not None


def detect_charset(body: bytes) -> str:
    """Guess the charset of `body` and return the name of its Python codec. The result is deterministic."""
    if is_iso_2022_jp(body):
        return "iso2022_jp"
    sample = _take_sample(body)
    if len(sample) - len(sample.translate(None, _HIGH_BYTES)) < _MIN_HIGH_BYTES or not _LETTERS.search(sample):
        return FALLBACK
    from chardet import detect as guess  # loading its models takes 0.1 s, and few pages need them

    encoding = guess(sample, include_encodings=_CANDIDATES, compat_names=False, prefer_superset=False)["encoding"]
    if encoding is None:
        return FALLBACK
    text = sample.decode(encoding, "replace")
    is_wrong = len(_MIXED.findall(text)) > len(_OTHER_ALPHABET.findall(text)) * MAX_MIXED
    return FALLBACK if is_wrong else encoding


def _take_sample(body: bytes) -> bytes:
    """Return the first `_SAMPLE_BYTES` bytes of the texts between tags that are not pure ASCII.

    No multi-byte charset uses the bytes of `<` or `>` inside a character, so at most the last character is truncated.
    """
    runs, size = [], 0
    for match in _TEXT_RUN.finditer(body):
        run = match[0]
        if not run.isascii():
            runs.append(run[: _SAMPLE_BYTES - size])
            size += len(runs[-1]) + 1
            if size >= _SAMPLE_BYTES:
                break
    return b"\n".join(runs)
