"""Find where a text repeats a question word for word.

Pages that are made for search engines repeat the question in their title and first lines without answering it. Such a
place matches every word of the question, and is no evidence that the page answers it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from keyhole.passages.index import Index
from keyhole.passages.query import MAX_QUERY_CHARS
from keyhole.passages.words import UNSPACED, WORD, fold
from keyhole.text.lower_case import lower

MIN_ECHO_WORDS: Final = 5
"""Words of a question whose repetition counts as an echo. Fewer words are a name or term, which an answer uses too."""
CHARS_PER_WORD: Final = 2
"""Characters of a word in scripts without spaces."""


def find_echoes(index: Index, query: str, *, folded: bool) -> frozenset[int]:
    """Return the windows of a text that contain a part of the whole query, repeated word for word.

    Returns no windows for a query of fewer than `MIN_ECHO_WORDS` words. `folded`: accents are ignored.
    """
    low = lower(query[:MAX_QUERY_CHARS])
    words = WORD.findall(fold(low) if folded else low)
    if sum(map(_count_words, words)) < MIN_ECHO_WORDS:
        return frozenset()
    text = index.searchable_text(folded)
    windows: set[int] = set()
    for match in _echo_pattern(words).finditer(text):
        windows.update(range(index.window_at(match.start()), index.window_at(match.end() - 1) + 1))
    return frozenset(windows)


def _echo_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of words in this order, whatever signs are between them."""
    return re.compile(r"[\W_]++".join(map(re.escape, words)))


def _count_words(word: str) -> int:
    """Return 1 for a word, or the approximate number of words in a run of a script without spaces."""
    return max(1, len("".join(UNSPACED.findall(word))) // CHARS_PER_WORD)
