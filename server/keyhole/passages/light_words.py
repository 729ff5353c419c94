"""Light words by language: words of questions that hardly tell which passage answers.

They are the words of instructions ("explain", "provide examples"), and frequent verbs, adverbs and pronouns. Some are
rare on a page, so their IDF alone would give them much weight. Nouns that name a subject somewhere are not listed.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from keyhole.passages.query import stem_word
from keyhole.text.data_file import read_sections

LIGHT_FACTOR: Final = 0.5
"""Weight of a light word, relative to other words as rare. It is above 0, because a page may be about examples."""

LIGHT_WORDS: Final[dict[str, str]] = read_sections(__file__, "light_words.txt")
"""One form of each word, without the function words of languages.py."""


@cache
def light_stems(language: str) -> frozenset[str]:
    """Return the stems of a language's light words; empty for a language without a list."""
    return frozenset(stem_word(word, language) for word in LIGHT_WORDS.get(language, "").split())
