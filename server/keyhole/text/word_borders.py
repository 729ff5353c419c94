"""Tell where words begin and end, without the tables of `passages/words.py`, which a hook has no time to make."""

from __future__ import annotations

import re
from typing import Final

ATTACHED: Final = (
    "\u0400-\u052f\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
"""Scripts that Latin words and digits stand in without spaces, as in `API仕様`, `JSON은` and `IPадрес`: Cyrillic, Thai,
Lao, Burmese, Khmer, Hangul, kana and Han. A word is either of these scripts or of the others."""
IS_ATTACHED: Final = re.compile(f"[{ATTACHED}]")
"""A character of these scripts."""


def is_inside_word(text: str, offset: int) -> bool:
    """Return whether the characters before and at an offset belong to one word."""
    around = text[offset - 1 : offset + 1] if offset else ""
    if len(around) < 2 or not around.isalnum():
        return False
    return around.isascii() or (IS_ATTACHED.match(around) is None) == (IS_ATTACHED.match(around, 1) is None)
