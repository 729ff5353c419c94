"""Words of any script, lower case that keeps offsets, and what is folded together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.words import LOWERED_CHARS, WORD, fold, fold_word, lower


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't stop_now 3rd", ["don", "t", "stop", "now", "3rd"]),
        ("मॉन्ट्रियल का पानी", ["मॉन्ट्रियल", "का", "पानी"]),
        ("ที่ไหน น้ำ", ["ที่ไหน", "น้ำ"]),
        ("مَدِينَة كبيرة", ["مَدِينَة", "كبيرة"]),
        ("e\u0301cole Tha\u0300nh", ["e\u0301cole", "Tha\u0300nh"]),
        ("می\u200cشود", ["می\u200cشود"]),
        ("\u0301\u0301", []),
        ("\udc80 \x00", []),
    ],
)
def test_marks_and_joiners_belong_to_the_word_they_stand_in(text: str, words: list[str]) -> None:
    assert WORD.findall(text) == words


@given(st.text(st.sampled_from("aİıßΣ中é\u0301\ud800ǅﬁ") | st.characters(), max_size=60))
def test_lowering_and_folding_keep_every_offset(text: str) -> None:
    assert len(lower(text)) == len(text)
    assert len(fold(lower(text))) == len(text)


def test_a_long_text_is_lowered_piece_by_piece_to_the_same() -> None:
    text = "ÉcoleX " * (LOWERED_CHARS // 3)
    assert lower(text) == text.lower()
    assert lower("İ" * 3 + "É" * LOWERED_CHARS) == "i" * 3 + "é" * LOWERED_CHARS


@pytest.mark.parametrize(
    ("letters", "base"),
    [
        ("éèêë", "eeee"),
        ("ñçåø", "ncao"),
        ("ł", "l"),
        ("ώ", "ω"),
        ("ς", "σ"),
        ("ё", "е"),
        ("ệ", "e"),
        ("أإآ", "ااا"),
        ("１ａ", "1a"),
    ],
)
def test_a_letter_is_folded_to_its_base(letters: str, base: str) -> None:
    assert fold(letters) == base
    assert fold_word(letters) == base


def test_a_letter_of_its_own_is_kept() -> None:
    assert fold("чайник и") == "чайник и"
    assert fold_word("чайник") == "чайник"


def test_composed_and_combining_accents_are_the_same_word() -> None:
    assert fold_word("e\u0301cole") == fold_word("école") == "ecole"
    assert fold_word("\u0438\u0306") == fold_word("й") == "й"
