"""Name what text without lines to read is: minified code, an encoding, bytes of a known format. Pure."""

from __future__ import annotations

import re
from typing import Final

SAMPLE_CHARS: Final = 4_000
"""Characters of the beginning that are examined."""

_MAGIC: Final = (
    # The first characters of a format, as a terminal shows them, without control characters, or in base64.
    ("ELF program", ("f0VMR",)),
    ("PNG image", ("\\x89PNG", "iVBORw0KGgo")),
    ("JPEG image", ("\\xff\\xd8\\xff", "/9j/")),
    ("GIF image", ("GIF8", "R0lGOD")),
    ("PDF document", ("%PDF-", "JVBERi0")),
    ("ZIP archive", ("PK", "UEsDB")),
    ("gzip archive", ("H4sI",)),
    ("xz archive", ("\\xfd7zXZ", "/Td6WFo")),
    ("zstd archive", ("(\\xb5/\\xfd", "KLUv/")),
    ("SQLite database", ("SQLite format 3", "U1FMaXRlIGZvcm1hdCAz")),
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_\n-]{200,}+=*+\s*+")
_HEX = re.compile(r"[0-9A-Fa-f\s]{200,}")
_BYTES = re.compile(r"\\x[0-9a-f]{2}|[\x00-\x08\x0e-\x1f\ufffd]")
_SCRIPT = re.compile(r"\bfunction\b|=>|\bvar |\bconst ")
_STYLE = re.compile(r"[^{}]\{[^{}:]*+:[^{}]*+\}")


def name_opaque(text: str) -> str:
    """Return what a text is, such as "base64 of a gzip archive; longest line 122,340 characters"."""
    longest = max(map(len, text.split("\n")))
    return f"{_format(text[:SAMPLE_CHARS])}; longest line {longest:,} characters"


def _format(sample: str) -> str:
    start = sample.lstrip()
    encoding = "hexadecimal" if _HEX.fullmatch(sample) else "base64" if _BASE64.fullmatch(sample) else ""
    for name, beginnings in _MAGIC:
        if start.startswith(beginnings):
            return f"{encoding} of a {name}" if encoding else name
    if encoding:
        return encoding
    if len(_BYTES.findall(sample)) > len(sample) / 40:
        return "binary data"
    if start.startswith("<"):
        return "markup"
    return "minified script" if _SCRIPT.search(sample) else "minified style sheet" if _STYLE.search(sample) else "text"
