"""The estimate of tokens never falls when text is added, and is near the counts of a tokenizer."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.render.token_weights import FOLDED_WEIGHTS
from keyhole.render.tokens import SAMPLED_CHARS, capacity, estimate, estimate_roughly, weigh
from tests.retrieval.test_properties import CHARACTERS

TEXTS = st.lists(
    st.text(CHARACTERS, max_size=8)
    | st.sampled_from(
        [" ", "  ", "\n", "\n\n", "\t", "the ", "notebook", "foo", "BAR", "A", "Zz", "12", "3,4", "--", "});\n", "数据"]
    )
    | st.sampled_from(["ΑΒ", "тест", "。", "internationalization" * 4, "Việt", "ኢትዮ", "    7", "E5F0" * 9, "────"])
).map("".join)


@given(TEXTS, TEXTS)
def test_the_weight_of_a_text_is_at_most_the_sum_of_its_parts(left: str, right: str) -> None:
    assert weigh(left + right) <= weigh(left) + weigh(right)
    assert estimate(left + right) <= estimate(left) + estimate(right)


@given(TEXTS, TEXTS)
def test_a_longer_text_weighs_no_less(left: str, right: str) -> None:
    assert weigh(left + right) >= weigh(left)


@given(st.integers(0, 100_000), TEXTS)
def test_a_text_within_the_capacity_of_a_budget_has_no_more_tokens(tokens: int, text: str) -> None:
    assert (weigh(text) <= capacity(tokens)) == (estimate(text) <= tokens)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # counted with o200k_base
        ("The quick brown fox jumps over the lazy dog. " * 20, 201),
        ("Der Vorstand beschloss, die Pumpe im Keller zu erneuern. " * 20, 281),
        ("def run(self, speed: int) -> None:\n    return self.pump.start(speed)\n" * 10, 190),
        ("| 12.5 | 17.25 | 9.75 |\n" * 20, 320),
        ("数据库水泵的速度是多少。" * 20, 160),
        ("│ │ │ └── signal-exit@4.1.0\n" * 20, 320),
    ],
)
def test_the_estimate_of_plain_texts_is_near_a_tokenizer_s_count(text: str, tokens: int) -> None:
    # A repeated sentence does not represent a language; benchmarks/budget/tokens.py measures estimates on real pages.
    assert 0.9 * tokens <= estimate(text) < 1.5 * tokens


@pytest.mark.parametrize("before", ["", " ", "1", "и", "数", "-"])
@pytest.mark.parametrize("after", ["", "a", "abcd", "ABC"])
def test_combining_marks_count_in_every_context(before: str, after: str) -> None:
    for count in (1, 2, 3, 30):
        assert estimate(before + "\u0301" * count + after) > count // 2


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # what o200k_base makes of twenty
        ("Հայաստանը պետություն է Հարավային Կովկասում. ", 263),
        ("ኢትዮጵያ በአፍሪካ ቀንድ የምትገኝ ሀገር ናት። ", 1080),
        ("ישראל היא מדינה במזרח התיכון. ", 181),
        ("تقع مصر في الركن الشمالي الشرقي من قارة أفريقيا. ", 282),
        ("ประเทศไทยตั้งอยู่ในเอเชียตะวันออกเฉียงใต้ ", 300),
        ("বাংলাদেশ দক্ষিণ এশিয়ার একটি দেশ। ", 182),
        ("e\u0301a\u0308o\u0302\u0323 ", 141),
    ],
)
def test_rare_scripts_are_not_underestimated(text: str, tokens: int) -> None:
    assert tokens <= estimate(text * 20) < 2 * tokens


def test_an_empty_text_has_no_tokens() -> None:
    assert estimate("") == 0


def test_no_sequence_has_a_negative_weight() -> None:
    assert all(weight > 0 for _, weight in FOLDED_WEIGHTS)


def random_text(letters: str, count: int, seed: int = 3) -> str:
    return "".join(Random(seed).choices(letters, k=count))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [  # counted with o200k_base
        (random_text("ACGT", 2_000), 1_032),
        (random_text("ACDEFGHIKLMNPQRSTVWY", 2_000), 1_103),
        ("\n".join(random_text("0123456789", 800)), 1_599),
    ],
)
def test_texts_that_are_no_language_are_hardly_underestimated(text: str, tokens: int) -> None:
    assert estimate(text) >= 0.95 * tokens


@pytest.mark.parametrize("unit", ["The pump runs at 40 rpm.\n", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6\n", "数据库"])
def test_the_rough_estimate_of_a_long_text_is_near_the_whole_one(unit: str) -> None:
    text = unit * (4 * SAMPLED_CHARS // len(unit))
    assert estimate_roughly(text) == pytest.approx(estimate(text), rel=0.1)
    assert estimate_roughly(text) == estimate_roughly(text)
