"""The estimate of tokens: safe when a text is cut, alike in every process, cheap, and near what tokenizers make."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.budget.token_weights import WEIGHTS
from keyhole.budget.tokens import LONGEST, PARTS, capacity, estimate, weigh
from tests.retrieval.test_laws import CHARACTERS

TEXTS = st.lists(
    st.text(CHARACTERS, max_size=8)
    | st.sampled_from(
        [" ", "  ", "\n", "\n\n", "\t", "the ", "notebook", "foo", "BAR", "A", "Zz", "12", "3,4", "--", "});\n", "数据"]
    )
    | st.sampled_from(["ΑΒ", "тест", "。", "internationalization" * 4])
).map("".join)


@given(TEXTS, TEXTS)
def test_pieces_of_a_text_weigh_together_at_least_what_it_does(left: str, right: str) -> None:
    assert weigh(left + right) <= weigh(left) + weigh(right)
    assert estimate(left + right) <= estimate(left) + estimate(right)


@given(st.integers(0, 100_000))
def test_the_capacity_is_the_most_whose_estimate_fits(tokens: int) -> None:
    most = capacity(tokens)
    assert estimate("1" * (3 * (most // WEIGHTS["digits"][0]))) <= tokens
    assert capacity(tokens + 1) >= most


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # counted with o200k_base
        ("The quick brown fox jumps over the lazy dog. " * 20, 201),
        ("Der Vorstand beschloss, die Pumpe im Keller zu erneuern. " * 20, 281),
        ("def run(self, speed: int) -> None:\n    return self.pump.start(speed)\n" * 10, 190),
        ("| 12.5 | 17.25 | 9.75 |\n" * 20, 320),
        ("数据库水泵的速度是多少。" * 20, 160),
    ],
)
def test_the_estimate_of_plain_texts_is_near_what_a_tokenizer_makes(text: str, tokens: int) -> None:
    # One sentence repeated is no sample of a language: see benchmarks/budget/tokens.py for how often the estimate is safe.
    assert 0.9 * tokens <= estimate(text) < 2 * tokens


@pytest.mark.parametrize("before", ["", " ", "1", "и", "数", "-"])
@pytest.mark.parametrize("after", ["", "a", "abcd", "ABC"])
def test_combining_marks_weigh_wherever_they_stand(before: str, after: str) -> None:
    for count in (1, 2, 3, 30):
        assert estimate(before + "\u0301" * count + after) > count // 2


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # the larger of what o200k_base and Llama 3's make of twenty
        ("Հայաստանը պետություն է Հարավային Կովկասում. ", 1380),
        ("ኢትዮጵያ በአፍሪካ ቀንድ የምትገኝ ሀገር ናት። ", 1441),
        ("ﾊﾝｶｸｶﾀｶﾅ ﾃｽﾄ ﾃﾞｰﾀ ", 620),
        ("ישראל היא מדינה במזרח התיכון. ", 540),
        ("e\u0301a\u0308o\u0302\u0323 ", 141),
    ],
)
def test_scripts_that_vocabularies_hardly_hold_are_not_estimated_short(text: str, tokens: int) -> None:
    assert estimate(text * 20) >= tokens


def test_no_text_has_no_tokens() -> None:
    assert estimate("") == 0


def test_what_is_cut_out_of_a_piece_weighs_no_less_than_it_did_there() -> None:
    assert all(first >= more >= 0 for first, more in WEIGHTS.values())
    for low, high in zip(WEIGHTS["Latin"], WEIGHTS["capitals"], strict=True):
        assert low <= high
    assert WEIGHTS["signs at an end"][1] <= WEIGHTS["signs"][1]
    assert WEIGHTS["signs at an end"][0] <= WEIGHTS["signs"][0] + WEIGHTS["newlines"][0]


def test_parts_are_short_and_in_lower_case() -> None:
    assert len(PARTS) > 50_000
    assert all(part == part.lower() and len(part) <= LONGEST for part in PARTS)


def drawn(letters: str, count: int, seed: int = 3) -> str:
    return "".join(Random(seed).choices(letters, k=count))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # the larger of what o200k_base and Llama 3's make of them
        (drawn("ACGT", 2_000), 1_034),
        (drawn("ACDEFGHIKLMNPQRSTVWY", 2_000), 1_113),
        ("\n".join(drawn("0123456789", 800)), 1_599),
        ("ΕΛΛΗΝΙΚΗ ΔΗΜΟΚΡΑΤΙΑ " * 20, 341),
        (r"\frac{\partial u}{\partial t} = \alpha \nabla^2 u + \int_0^1 f(x)\,dx " * 20, 641),
    ],
)
def test_what_is_no_language_is_not_estimated_much_short(text: str, tokens: int) -> None:
    assert estimate(text) >= 0.95 * tokens
