"""Function words, language detection and stemmers by language."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final

import snowballstemmer

from keyhole.text.data_file import read_sections

UNKNOWN: Final = "xx"
"""An unrecognised language. It has no function words and no stemmer, so words match by prefix only."""

VIETNAMESE: Final = "vi"
"""Vietnamese is neither folded nor stemmed: it is written in syllables whose accents distinguish words."""

SNOWBALL: Final[dict[str, str]] = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french",
    "hi": "hindi", "hu": "hungarian", "id": "indonesian", "it": "italian", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""The name of each language's stemmer in snowballstemmer."""

GUESS_SAMPLE_CHARS: Final = 3_000
"""Characters read at the start and in the middle of a page to guess its language: about 400 words each, of which a
third are function words."""

GUESS_QUERY_WEIGHT: Final = 3
"""Weight of the query's function words: the query decides for a page that mixes languages."""

GUESS_MIN_SHARE: Final = 0.02
"""Minimum share of function words among the sampled words that identifies a language."""

STEM_CACHE_WORDS: Final = 50_000
"""Cached stems (about 8 MB); a page has a few thousand different words."""


FUNCTION_WORDS: Final[dict[str, frozenset[str]]] = {
    language: frozenset(words.split()) for language, words in read_sections(__file__, "function_words.txt").items()
}
"""Function and question words by language, in lower case and with accents."""


def _languages_by_word() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words:
            table[word] = (*table.get(word, ()), language)
    return table


_LANGUAGES_BY_WORD: Final = _languages_by_word()


def is_function_word(word: str) -> bool:
    """Return whether a word in lower case is a function word of any language."""
    return word in _LANGUAGES_BY_WORD


def count_function_words(words: list[str]) -> dict[str, int]:
    """Count the words that are function words of each language."""
    counts = dict.fromkeys(FUNCTION_WORDS, 0)
    for word in words:
        for language in _LANGUAGES_BY_WORD.get(word, ()):
            counts[language] += 1
    return counts


def guess_language(page: dict[str, int], page_words: int, query_words: list[str]) -> str:
    """Return the language with the most function words in page and query, or `UNKNOWN`; of equals, the first listed.

    `page`: the page's function words by language.
    """
    query = count_function_words(query_words)
    best, most = UNKNOWN, 0
    for language in FUNCTION_WORDS:
        count = page[language] + GUESS_QUERY_WEIGHT * query[language]
        if count > most:
            best, most = language, count
    enough = max(2.0, GUESS_MIN_SHARE * (page_words + len(query_words)))
    # Two function words in the query are enough, even if the page is a list of names and numbers.
    return best if most >= enough or query.get(best, 0) >= 2 else UNKNOWN


@cache
def _stemmer(language: str) -> Callable[[str], str] | None:
    name = SNOWBALL.get(language)
    if name is None or name not in snowballstemmer.algorithms():
        return None
    stem: Callable[[str], str] = snowballstemmer.stemmer(name).stemWord
    return stem


@lru_cache(maxsize=STEM_CACHE_WORDS)
def snowball_stem(language: str, word: str) -> str:
    """Return the Snowball stem of a lower-case word, or the word itself if the language has no stemmer."""
    stem = _stemmer(language)
    return word if stem is None else stem(word)
