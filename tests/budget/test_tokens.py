"""The estimate of tokens never falls when text is added, and is near the counts of tokenizers."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.budget.token_weights import WEIGHTS
from keyhole.budget.tokens import MAX_PART, PARTS, capacity, estimate, weigh
from tests.retrieval.test_properties import CHARACTERS

TEXTS = st.lists(
    st.text(CHARACTERS, max_size=8)
    | st.sampled_from(
        [" ", "  ", "\n", "\n\n", "\t", "the ", "notebook", "foo", "BAR", "A", "Zz", "12", "3,4", "--", "});\n", "数据"]
    )
    | st.sampled_from(["ΑΒ", "тест", "。", "internationalization" * 4])
).map("".join)


@given(TEXTS, TEXTS)
def test_the_weight_of_a_text_is_at_most_the_sum_of_its_parts(left: str, right: str) -> None:
    assert weigh(left + right) <= weigh(left) + weigh(right)
    assert estimate(left + right) <= estimate(left) + estimate(right)


@given(st.integers(0, 100_000))
def test_the_capacity_of_a_budget_fits_its_tokens(tokens: int) -> None:
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
def test_the_estimate_of_plain_texts_is_near_a_tokenizer_s_count(text: str, tokens: int) -> None:
    # A repeated sentence does not represent a language; benchmarks/budget/tokens.py measures estimates on real pages.
    assert 0.9 * tokens <= estimate(text) < 2 * tokens


@pytest.mark.parametrize("before", ["", " ", "1", "и", "数", "-"])
@pytest.mark.parametrize("after", ["", "a", "abcd", "ABC"])
def test_combining_marks_count_in_every_context(before: str, after: str) -> None:
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
def test_rare_scripts_are_not_underestimated(text: str, tokens: int) -> None:
    assert estimate(text * 20) >= tokens


def test_an_empty_text_has_no_tokens() -> None:
    assert estimate("") == 0


def test_a_part_cut_from_a_piece_weighs_no_less_than_inside_it() -> None:
    assert all(first >= more >= 0 for first, more in WEIGHTS.values())
    for low, high in zip(WEIGHTS["Latin"], WEIGHTS["capitals"], strict=True):
        assert low <= high
    assert WEIGHTS["signs at an end"][1] <= WEIGHTS["signs"][1]
    assert WEIGHTS["signs at an end"][0] <= WEIGHTS["signs"][0] + WEIGHTS["newlines"][0]


def test_parts_are_short_and_in_lower_case() -> None:
    assert len(PARTS) > 50_000
    assert all(part == part.lower() and len(part) <= MAX_PART for part in PARTS)


def random_text(letters: str, count: int, seed: int = 3) -> str:
    return "".join(Random(seed).choices(letters, k=count))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # the larger of what o200k_base and Llama 3's make of them
        (random_text("ACGT", 2_000), 1_034),
        (random_text("ACDEFGHIKLMNPQRSTVWY", 2_000), 1_113),
        ("\n".join(random_text("0123456789", 800)), 1_599),
        ("ΕΛΛΗΝΙΚΗ ΔΗΜΟΚΡΑΤΙΑ " * 20, 341),
        (r"\frac{\partial u}{\partial t} = \alpha \nabla^2 u + \int_0^1 f(x)\,dx " * 20, 641),
    ],
)
def test_texts_that_are_no_language_are_hardly_underestimated(text: str, tokens: int) -> None:
    assert estimate(text) >= 0.95 * tokens
