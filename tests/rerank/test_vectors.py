"""Vectors are parsed to length 1, have distinct keys and are compared by cosine."""

from __future__ import annotations

import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import KeyholeError
from keyhole.rerank.vectors import MAX_DIMENSIONS, cosine_similarities, parse_vectors, vector_key

NUMBERS = st.lists(st.floats(-1e6, 1e6).filter(lambda number: abs(number) > 1e-6), min_size=3, max_size=3)


def vector(numbers: list[float]) -> bytes:
    """Return a vector in its stored form."""
    return parse_vectors({"data": [{"index": 0, "embedding": numbers}]}, 1)[0]


@given(NUMBERS, NUMBERS)
def test_the_cosine_agrees_with_its_definition(one: list[float], other: list[float]) -> None:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    expected = dot / math.sqrt(sum(a * a for a in one)) / math.sqrt(sum(b * b for b in other))
    (cosine,) = cosine_similarities(vector(one), [vector(other)])
    assert cosine == pytest.approx(expected, abs=1e-5)


def test_a_vector_has_32_bit_floats_and_length_1() -> None:
    assert list(array("f", vector([3, 4.0]))) == pytest.approx([0.6, 0.8])


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"longer|shorter"):
        cosine_similarities(vector([1.0, 0.0]), [vector([1.0])])


def test_the_key_distinguishes_model_and_text() -> None:
    keys = {vector_key(*pair) for pair in [("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""), ("a", "\ud800")]}
    assert len(keys) == 5


@pytest.mark.parametrize(
    "embedding",
    [None, [], "AAAA", [0.0, 0.0], ["1"], [None], [[1.0]], [1e200], [10**400], [1.0] * (MAX_DIMENSIONS + 1)],
)
def test_a_malformed_vector_is_rejected(embedding: object) -> None:
    with pytest.raises(KeyholeError):
        parse_vectors({"data": [{"index": 0, "embedding": embedding}]}, 1)


def test_vectors_of_different_lengths_are_rejected() -> None:
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 1.0]}]
    with pytest.raises(KeyholeError, match="differ in length"):
        parse_vectors({"data": rows}, 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["data", "index", "embedding"]), inner),
)


@given(JSON)
def test_any_json_gives_vectors_or_a_fault(answer: object) -> None:
    try:
        assert len(parse_vectors(answer, 1)) == 1
    except KeyholeError:
        return
