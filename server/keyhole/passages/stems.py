"""Turn words of texts and queries into comparable terms, for the store's index and for pages in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from keyhole.passages.languages import FUNCTION_WORDS, UNKNOWN, count_function_words, guess_language, snowball_stem
from keyhole.passages.query import MAX_QUERY_CHARS
from keyhole.passages.words import HANGUL, UNSPACED, WORD, fold_word
from keyhole.records import TOPIC
from keyhole.text.letters import lower

SAMPLE_WORDS = 600
"""Words that the language is detected from: about a page's first screen."""
GRAM = 2
"""Characters of a term in unspaced scripts: two Chinese characters are about a word."""

_STEMMED: Final = (
    (
        re.compile("[a-z]"),
        ("de", "fr", "es", "it", "pt", "nl", "sv", "da", "ro", "tr", "pl", "fi", "no", "hu", "cs", "id"),
    ),
    (re.compile("[а-я]"), ("ru",)),
    (re.compile("[α-ω]"), ("el",)),
    (re.compile("[\u0600-\u06ff]"), ("ar", "fa")),
    (re.compile("[\u0900-\u097f]"), ("hi",)),
)
"""The languages with a stemmer by the letters of their script, except English; for queries too short to detect one."""


def stem_text(text: str) -> list[str]:
    """Return the terms of a text in order: stems without accents, or character pairs in unspaced scripts."""
    words = WORD.findall(lower(text))
    return stem_words(words, _language_or_english(detect_language(words)))


def detect_language(words: list[str]) -> str:
    """Detect the language of lower-case words by the function words among the first `SAMPLE_WORDS`."""
    sample = words[:SAMPLE_WORDS]
    return guess_language(count_function_words(sample), len(sample), [])


def stem_words(words: Iterable[str], language: str) -> list[str]:
    """Return the terms of lower-case words in order, without function words."""
    skipped = FUNCTION_WORDS.get(language, frozenset())
    return [term for word in words if word not in skipped for term in word_terms(word, language)]


def index_terms(title: str, text: str) -> list[str]:
    """Return the terms of a document for the store's index in order: those of its title with the prefix `TOPIC`, then
    those of its text without function words.

    A change of what this returns needs another `VERSION` in store/sqlite/word_index.py.
    """
    title_words, text_words = WORD.findall(lower(title)), WORD.findall(lower(text))
    language = _language_or_english(detect_language([*title_words, *text_words[:SAMPLE_WORDS]]))
    titled = [TOPIC + term for word in title_words for term in word_terms(word, language)]
    return [*titled, *stem_words(text_words, language)]


def _language_or_english(language: str) -> str:
    """Replace an unknown language with English, which is the most likely and has the mildest stemmer."""
    return language if language != UNKNOWN else "en"


def query_words(text: str) -> list[tuple[str, ...]]:
    """Return the distinct words of a query, each as the forms to search an index for.

    The forms are the stem in the query's language, or in each language of its script if unknown, and the word itself.
    Function words are omitted, unless the query has no other words. In unspaced scripts each character pair is a word.
    """
    words = WORD.findall(lower(text[:MAX_QUERY_CHARS]))
    language = detect_language(words)
    skipped = FUNCTION_WORDS.get(language, frozenset())
    content = [word for word in words if word not in skipped] or words
    return list(dict.fromkeys(forms for word in content for forms in _word_forms(word, language)))


def _word_forms(word: str, language: str) -> Iterator[tuple[str, ...]]:
    if UNSPACED.search(word):
        yield from ((term,) for term in word_terms(word, _language_or_english(language)))
        return
    script = next((candidates for letters, candidates in _STEMMED if letters.search(word)), ())
    languages = (language,) if language != UNKNOWN else ("en", *script)
    stemmed, *pairs = zip(*(word_terms(word, each) for each in languages), strict=True)
    own = fold_word(word)
    yield (*dict.fromkeys(stem for stem in stemmed if stem != own), own)
    yield from ((pair[0],) for pair in pairs)


def word_terms(word: str, language: str) -> Iterator[str]:
    """Yield the terms of a lower-case word."""
    if not UNSPACED.search(word):
        yield fold_word(snowball_stem(language, word))
        if HANGUL.search(word):
            # No stemmer removes Korean particles. Syllable pairs match the same word with other particles.
            yield from (word[start : start + GRAM] for start in range(len(word) - GRAM + 1) if len(word) > GRAM)
        return
    for run in UNSPACED.findall(word):
        last = max(1, len(run) - GRAM + 1)
        yield from (run[start : start + GRAM] for start in range(last))
    for rest in UNSPACED.sub(" ", word).split():
        yield fold_word(snowball_stem(language, rest))
