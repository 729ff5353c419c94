"""Light words: which words they are, and that they do not decide between windows."""

from __future__ import annotations

import pytest

from keyhole.passages import index_text, score_index
from keyhole.passages.languages import FUNCTION_WORDS
from keyhole.passages.light_words import LIGHT_WORDS, light_stems
from keyhole.passages.query import stem_word

FILLER = "The committee met on Tuesday and approved the minutes of its session in the usual manner.\n\n" * 12
SUBJECT = "The turbine was replaced by a newer model in spring.\n\n"


def best_window(text: str, question: str) -> str:
    """Return the best window of a text."""
    scored = score_index(index_text(text), question)
    best = scored.order[0]
    return text[scored.index.starts[best] : scored.index.end(best)]


@pytest.mark.parametrize("word", ["explain", "explained", "elaborate", "provides", "keeping", "again"])
def test_words_of_instructions_are_light_in_each_inflection(word: str) -> None:
    assert stem_word(word, "en") in light_stems("en")


@pytest.mark.parametrize("word", ["turbine", "license", "certificate", "recursion"])
def test_words_of_a_subject_are_not_light(word: str) -> None:
    assert stem_word(word, "en") not in light_stems("en")


def test_a_language_without_a_list_has_no_light_words() -> None:
    assert light_stems("xx") == frozenset()


@pytest.mark.parametrize("language", LIGHT_WORDS)
def test_light_words_are_not_function_words(language: str) -> None:
    assert FUNCTION_WORDS[language].isdisjoint(LIGHT_WORDS[language].split())


def test_the_subject_of_a_question_decides_and_not_its_instruction() -> None:
    text = f"{FILLER}Please explain and elaborate in the annex.\n\n{FILLER}{SUBJECT}{FILLER}{SUBJECT}{FILLER}"
    assert "turbine" in best_window(text, "Could you explain and elaborate on the turbine?")


def test_a_light_word_is_found_if_it_is_the_whole_question() -> None:
    text = f"{FILLER}Examples are in the annex.\n\n{FILLER}"
    assert "Examples" in best_window(text, "examples")
