"""Words of any script are recognised, lower-cased and folded without moving offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.passages.words import WORD, fold, fold_word
from keyhole.text.letters import lower


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
        ("הAPI של وXML في2024 हिन्दीPDF", ["ה", "API", "של", "و", "XML", "في", "2024", "हिन्दी", "PDF"]),
        ("XMLデータとAPI仕様", ["XML", "データと", "API", "仕様"]),
        ("JSON은 IPадрес 5μm αβ-x H₂O", ["JSON", "은", "IP", "адрес", "5μm", "αβ", "x", "H₂O"]),
        ("สั่งcurlเพื่อ", ["สั่ง", "curl", "เพื่อ"]),
    ],
)
def test_marks_and_joiners_are_parts_of_words(text: str, words: list[str]) -> None:
    assert WORD.findall(text) == words


@given(st.text(st.sampled_from("aİıßΣ中é\u0301\ud800ǅﬁ") | st.characters(), max_size=60))
def test_fold_keeps_offsets(text: str) -> None:
    assert len(fold(lower(text))) == len(text)


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


def test_a_letter_that_is_not_a_variant_is_not_folded() -> None:
    assert fold("чайник и") == "чайник и"
    assert fold_word("чайник") == "чайник"


def test_precomposed_and_combining_accents_fold_alike() -> None:
    assert fold_word("e\u0301cole") == fold_word("école") == "ecole"
    assert fold_word("\u0438\u0306") == fold_word("й") == "й"
