"""The charset of a text that names none and is not UTF-8. A guess from its bytes; no names and no markup are read."""

from __future__ import annotations

import re
from typing import Final

FALLBACK: Final = "cp1252"
"""What browsers take for the Latin script when nothing is named."""
_CANDIDATES: Final = (
    "cp1252", "iso8859-15", "cp1250", "iso8859-2", "cp1257", "iso8859-13", "cp1254", "cp1258",
    "cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866", "cp1253", "iso8859-7", "cp1255", "iso8859-8", "cp1256",
    "iso8859-6", "cp874", "cp932", "euc-jp", "gb18030", "big5hkscs", "cp949",
)  # fmt: skip
"""Charsets of the web as Python calls them, the wider of two everywhere. What no site was ever served in (EBCDIC, the
charsets of the Macintosh) could only be guessed wrongly."""
_SAMPLE: Final = 64 * 1024
"""Bytes judged: 20,000 characters are read no better than 1,000 (benchmarks/extraction/charsets.py), more only take longer."""
_ENOUGH: Final = 3
"""Bytes over 127. Fewer say nothing: é, ®, or й? Nearly always it is a Western name, quote or sign."""
_HIGH: Final = bytes(range(128, 256))
_LETTERS: Final = re.compile(rb"[\xc0-\xff]|[\x80-\xbf]{2}")
"""Letters beyond ASCII. Without them the others are Western quotes and signs: §, ½, •."""
_RUN: Final = re.compile(rb"[^<>]+")
_ISO_2022_JP: Final = re.compile(rb"\x1b\$[@B]")
"""The one charset of the web in 7 bits: it shifts by escape sequences, which no other text has."""
_OTHER_SCRIPT: Final = re.compile(r"[\u0370-\u0e7f]")
_MIXED: Final = re.compile(r"[A-Za-z][\u0370-\u0e7f]|[\u0370-\u0e7f][A-Za-z]")
MAX_MIXED: Final = 0.3
"""Share of letters of another alphabet that touch a Latin one: `dйjа vu` is French."""


def is_iso_2022_jp(body: bytes) -> bool:
    """Whether the bytes are Japanese in 7 bits, which fit UTF-8 too."""
    return body.isascii() and _ISO_2022_JP.search(body) is not None


def detect(body: bytes) -> str:
    """The name of Python's codec for `body`; the same bytes give the same name."""
    if is_iso_2022_jp(body):
        return "iso2022_jp"
    sample = _sample(body)
    if len(sample) - len(sample.translate(None, _HIGH)) < _ENOUGH or not _LETTERS.search(sample):
        return FALLBACK
    from chardet import detect as guess  # its models take 0.1 s to load, and nearly every page is UTF-8

    found = guess(sample, include_encodings=_CANDIDATES, compat_names=False, prefer_superset=False)["encoding"]
    if found is None:
        return FALLBACK
    text = sample.decode(found, "replace")
    others = len(_OTHER_SCRIPT.findall(text))
    return FALLBACK if len(_MIXED.findall(text)) > others * MAX_MIXED else found


def _sample(body: bytes) -> bytes:
    """The first runs of text between tags that are not ASCII alone. No charset of several bytes to a character puts
    `<` or `>` inside one, so no character is cut but the last."""
    runs, size = [], 0
    for found in _RUN.finditer(body):
        run = found[0]
        if not run.isascii():
            runs.append(run[: _SAMPLE - size])
            size += len(runs[-1]) + 1
            if size >= _SAMPLE:
                break
    return b"\n".join(runs)
