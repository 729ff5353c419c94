"""Words of a text as terms that compare across texts and queries: for the store's index and across pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from keyhole.passages.languages import FUNCTION_WORDS, UNKNOWN, count_languages, guess_language, snowball_stem
from keyhole.passages.query import MAX_QUERY_CHARS
from keyhole.passages.words import HANGUL, UNSPACED, WORD, fold_word, lower
from keyhole.records import TOPIC

SAMPLE_WORDS = 600
"""Words whose function words tell the language: as many as a page's first screen."""
GRAM = 2
"""Characters of a term in scripts written without spaces: two Chinese characters are about a word."""
TOPICS: Final = 24
"""Terms that a text is about, beside those of its title: the most frequent. A page of 8 KB has some 500 terms."""
TOPIC_COUNT: Final = 3
"""How often a text must say a term to be about it."""

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
"""Beside English, the languages with a stemmer by a letter of their script: two words of a question name none."""


def stems(text: str) -> list[str]:
    """The terms of a text in order: stems without accents; pairs of characters in scripts without spaces."""
    words = WORD.findall(lower(text))
    return stems_in(words, _known(language_of(words)))


def language_of(words: list[str]) -> str:
    """The language that the function words among the first lower-case words are of."""
    sample = words[:SAMPLE_WORDS]
    return guess_language(count_languages(sample), len(sample), [])


def stems_in(words: Iterable[str], language: str) -> list[str]:
    """The terms of lower-case words of a language in order, without its function words."""
    skipped = FUNCTION_WORDS.get(language, frozenset())
    return [term for word in words if word not in skipped for term in terms_of(word, language)]


def index_terms(title: str, text: str) -> list[str]:
    """The distinct terms of a document for the store's index, and those that it is about once more with a mark: an
    index that keeps no counts can so tell the pages on a word from the many that hold it."""
    words = WORD.findall(lower(f"{title}\n{text}"))
    language = _known(language_of(words))
    counts = Counter(stems_in(words, language))
    return [*_with_words(counts, words), *topics(stems_in(WORD.findall(lower(title)), language), counts)]


def topics(title: Iterable[str], counts: Counter[str]) -> list[str]:
    """What a document is about, marked: the terms of its title and those that it says most often."""
    frequent = [term for term, count in counts.most_common(TOPICS) if count >= TOPIC_COUNT]
    return [TOPIC + term for term in dict.fromkeys([*title, *frequent])]


def _with_words(terms: Iterable[str], words: Iterable[str]) -> list[str]:
    found = dict.fromkeys(terms)
    for word in words:
        if not UNSPACED.search(word):
            found.setdefault(fold_word(word))
    return list(found)


def _known(language: str) -> str:
    """A query of two words names no language; English is the likeliest, and its stemmer the mildest."""
    return language if language != UNKNOWN else "en"


def query_words(text: str) -> list[tuple[str, ...]]:
    """The distinct words of a question, each as the forms that find it in an index: its stem in the question's
    language, or where that is not known in every language of its script, and last the word itself. Function words are
    left out, unless there is nothing else; each pair of characters in scripts without spaces is a word of its own."""
    words = WORD.findall(lower(text[:MAX_QUERY_CHARS]))
    language = language_of(words)
    skipped = FUNCTION_WORDS.get(language, frozenset())
    kept = [word for word in words if word not in skipped] or words
    return list(dict.fromkeys(forms for word in kept for forms in _forms(word, language)))


def _forms(word: str, language: str) -> Iterator[tuple[str, ...]]:
    if UNSPACED.search(word):
        yield from ((term,) for term in terms_of(word, _known(language)))
        return
    script = next((languages for kind, languages in _STEMMED if kind.search(word)), ())
    spoken = (language,) if language != UNKNOWN else ("en", *script)
    stemmed, *pairs = zip(*(terms_of(word, each) for each in spoken), strict=True)
    own = fold_word(word)
    yield (*dict.fromkeys(stem for stem in stemmed if stem != own), own)
    yield from ((pair[0],) for pair in pairs)


def terms_of(word: str, language: str) -> Iterator[str]:
    """The terms of one lower-case word."""
    if not UNSPACED.search(word):
        yield fold_word(snowball_stem(language, word))
        if HANGUL.search(word):
            # A Korean word ends in particles that no stemmer takes off: its pairs of syllables find it with others.
            yield from (word[start : start + GRAM] for start in range(len(word) - GRAM + 1) if len(word) > GRAM)
        return
    for run in UNSPACED.findall(word):
        last = max(1, len(run) - GRAM + 1)
        yield from (run[start : start + GRAM] for start in range(last))
    for rest in UNSPACED.sub(" ", word).split():
        yield fold_word(snowball_stem(language, rest))
