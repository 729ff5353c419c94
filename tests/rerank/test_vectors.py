"""Vectors have length one, keys of their own, and cosines that say how near they are."""

from __future__ import annotations

import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import KeyholeError
from keyhole.rerank.vectors import MAX_DIMENSIONS, cosines, vector_key, vectors_of

NUMBERS = st.lists(st.floats(-1e6, 1e6).filter(lambda number: abs(number) > 1e-6), min_size=3, max_size=3)


def vector(numbers: list[float]) -> bytes:
    """One vector as it is kept."""
    return vectors_of({"data": [{"index": 0, "embedding": numbers}]}, 1)[0]


@given(NUMBERS, NUMBERS)
def test_a_cosine_is_what_it_is_in_the_books(one: list[float], other: list[float]) -> None:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    wanted = dot / math.sqrt(sum(a * a for a in one)) / math.sqrt(sum(b * b for b in other))
    (found,) = cosines(vector(one), [vector(other)])
    assert found == pytest.approx(wanted, abs=1e-5)


def test_a_vector_takes_four_bytes_a_number() -> None:
    assert list(array("f", vector([3, 4.0]))) == pytest.approx([0.6, 0.8])


def test_a_missing_vector_has_no_cosine() -> None:
    assert cosines(vector([1.0, 0.0]), [None, vector([1.0]), vector([1.0, 0.0])]) == (None, None, 1.0)


def test_the_key_keeps_model_and_text_apart() -> None:
    keys = {vector_key(*pair) for pair in [("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""), ("a", "\ud800")]}
    assert len(keys) == 5


@pytest.mark.parametrize(
    "embedding",
    [None, [], "AAAA", [0.0, 0.0], ["1"], [None], [[1.0]], [1e200], [10**400], [1.0] * (MAX_DIMENSIONS + 1)],
)
def test_what_is_no_vector_is_refused(embedding: object) -> None:
    with pytest.raises(KeyholeError):
        vectors_of({"data": [{"index": 0, "embedding": embedding}]}, 1)


def test_vectors_of_different_lengths_are_refused() -> None:
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 1.0]}]
    with pytest.raises(KeyholeError, match="differ in length"):
        vectors_of({"data": rows}, 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["data", "index", "embedding"]), inner),
)


@given(JSON)
def test_any_json_gives_vectors_or_a_named_failure(answer: object) -> None:
    try:
        assert len(vectors_of(answer, 1)) == 1
    except KeyholeError:
        return
