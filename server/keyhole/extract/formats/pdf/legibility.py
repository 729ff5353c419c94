"""Detect text that a PDF file gives wrongly: characters of the wrong code, and words without spaces between them."""

from __future__ import annotations

import re
from typing import Final

GARBLED_SHARE: Final = 0.05
"""A text is garbled if this share of its words has letters of unlike scripts, or characters without a meaning."""
GLUED_SHARE: Final = 0.25
"""Words are glued if this share of the letters stands in words of over 25 letters. German manuals have 0.01."""
MIN_WORDS: Final = 20
"""A shorter text is not judged."""
_WORD = re.compile(r"[^\s|#*`]+")
_NONSENSE = re.compile(r"[\ufffd\ue000-\uf8ff\x80-\x9f\U000f0000-\U0010ffff]")
_SCRIPTS = re.compile(
    r"(?P<latin>[a-zA-Z\u00c0-\u024f])|(?P<greek>[\u0370-\u03ff])|(?P<cyrillic>[\u0400-\u04ff])|(?P<armenian>[\u0530-\u058f])"
    r"|(?P<hebrew>[\u05d0-\u05ff])|(?P<arabic>[\u0620-\u06ff])|(?P<indic>[\u0900-\u0dff])|(?P<thai>[\u0e00-\u0eff])"
    r"|(?P<georgian>[\u10a0-\u10ff])|(?P<ethiopic>[\u1200-\u137f])|(?P<phonetic>[\u0250-\u02af])"
)
_LONG_WORD = re.compile(r"[a-zA-Z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]{26,}")
_LETTER = re.compile(r"[a-zA-Z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]")


def name_defect(text: str) -> str:
    """Return the notice for a text: `garbled`, `glued`, or "" for a text that can be read."""
    words = _WORD.findall(text)
    if len(words) >= MIN_WORDS and sum(map(_is_garbled, words)) > GARBLED_SHARE * len(words):
        return "garbled_text"
    letters = len(_LETTER.findall(text))
    glued = sum(len(word) for word in _LONG_WORD.findall(text))
    return "glued_text" if letters >= 10 * MIN_WORDS and glued > GLUED_SHARE * letters else ""


def _is_garbled(word: str) -> bool:
    if word.isascii():
        return False
    nonsense = len(_NONSENSE.findall(word))
    scripts = {match.lastgroup for match in _SCRIPTS.finditer(word)}
    return (nonsense > 1 and nonsense * 3 > len(word)) or (len(scripts) >= 2 and len(word) > 2)
