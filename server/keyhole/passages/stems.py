"""Words of a text as terms that compare across texts and queries: for the store's index and across pages."""

from __future__ import annotations

from collections.abc import Iterator

from keyhole.passages.languages import FUNCTION_WORDS, UNKNOWN, guess_language, snowball_stem
from keyhole.passages.languages import count_languages as _count
from keyhole.passages.words import UNSPACED, WORD, fold_word, lower

SAMPLE_WORDS = 600
"""Words whose function words tell the language: as many as a page's first screen."""
GRAM = 2
"""Characters of a term in scripts written without spaces: two Chinese characters are about a word."""


def stems(text: str) -> list[str]:
    """The terms of a text in order: stems without accents; pairs of characters in scripts without spaces."""
    words = WORD.findall(lower(text))
    sample = words[:SAMPLE_WORDS]
    language = guess_language(_count(sample), len(sample), [])
    # A query of two words names no language; English is the likeliest, and its stemmer the mildest.
    language = language if language != UNKNOWN else "en"
    skipped = FUNCTION_WORDS.get(language, frozenset())
    return [term for word in words if word not in skipped for term in terms_of(word, language)]


def search_terms(text: str) -> list[str]:
    """The distinct terms of a text, as the store's index keeps them: each word's stem, and the word itself where
    that differs, so that a query whose language was guessed differently still finds it."""
    found = dict.fromkeys(stems(text))
    for word in WORD.findall(lower(text)):
        if not UNSPACED.search(word):
            found.setdefault(fold_word(word))
    return list(found)


def terms_of(word: str, language: str) -> Iterator[str]:
    """The terms of one lower-case word."""
    if not UNSPACED.search(word):
        yield fold_word(snowball_stem(language, word))
        return
    for run in UNSPACED.findall(word):
        last = max(1, len(run) - GRAM + 1)
        yield from (run[start : start + GRAM] for start in range(last))
    for rest in UNSPACED.sub(" ", word).split():
        yield fold_word(snowball_stem(language, rest))
