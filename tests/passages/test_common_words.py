"""Common words say little about the subject of a question."""

from __future__ import annotations

import pytest

from keyhole.passages.common_words import COMMON_WORDS, common_stems
from keyhole.passages.languages import FUNCTION_WORDS
from keyhole.passages.query import stem_word


@pytest.mark.parametrize("language", sorted(COMMON_WORDS))
def test_no_word_is_listed_twice(language: str) -> None:
    words = COMMON_WORDS[language].split()
    assert language in FUNCTION_WORDS
    assert len(words) == len(set(words))
    assert all(word == word.lower() for word in words)


@pytest.mark.parametrize(
    ("word", "language"), [("providing", "en"), ("examples", "en"), ("Jahren", "de"), ("années", "fr")]
)
def test_inflections_of_a_common_word_are_common(word: str, language: str) -> None:
    assert stem_word(word.lower(), language) in common_stems(language)


@pytest.mark.parametrize("word", ["kestrel", "tungsten", "engineer", "ownership"])
def test_words_of_a_subject_are_not_common(word: str) -> None:
    assert stem_word(word, "en") not in common_stems("en")


def test_a_language_without_a_list_has_no_common_words() -> None:
    assert common_stems("xx") == frozenset()
