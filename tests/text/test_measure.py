"""The size of a text is the bytes of its JSON, and fitting finds the longest part within a limit."""

from __future__ import annotations

import json

import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.text.clean import clean
from keyhole.text.measure import Measure, clip, fit_forward, serialized_size

AWKWARD = st.sampled_from(list('aé中😀"\\/\n\t\b\x00\x1f\x7f\x80\u2028\u202e\ufeff\ud800\udfff'))
TEXTS = st.text(AWKWARD | st.characters(), max_size=60)
ENCODABLE = st.text(max_size=60)
MEASURES = st.sampled_from([serialized_size, len])


@given(ENCODABLE)
def test_the_size_equals_that_of_the_json_of_the_protocol_library(text: str) -> None:
    assert serialized_size(text) == len(pydantic_core.to_json(text)) - len('""')


@given(TEXTS)
def test_the_size_equals_that_of_pythons_json_in_utf_8_even_with_lone_surrogates(text: str) -> None:
    written = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert serialized_size(text) == len(written) - len('""')


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 0), ("a", 1), ("é", 2), ("中", 3), ("😀", 4), ('"', 2), ("\\", 2), ("\n", 2), ("\x00", 6), ("\x7f", 1)],
)
def test_the_size_of_some_characters(text: str, size: int) -> None:
    assert serialized_size(text) == size


@given(TEXTS, TEXTS)
def test_the_size_is_additive_and_never_below_the_number_of_characters(left: str, right: str) -> None:
    assert serialized_size(left + right) == serialized_size(left) + serialized_size(right)
    assert serialized_size(left) >= len(left)


@given(TEXTS, st.integers(0, 60), st.integers(-5, 400), MEASURES)
def test_fit_forward_returns_the_largest_end_that_fits(text: str, start: int, limit: int, measure: Measure) -> None:
    start = min(start, len(text))
    end = fit_forward(text, start, limit, measure)
    assert start <= end <= len(text)
    assert measure(text[start:end]) <= max(0, limit)
    assert end == len(text) or measure(text[start : end + 1]) > limit


@given(TEXTS, st.integers(0, 80))
def test_a_clipped_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert serialized_size(clipped) <= limit
    assert clipped == " ".join(clipped.split())
    clipped.encode("utf-8")


@given(TEXTS)
def test_a_text_within_the_limit_loses_only_its_spacing(text: str) -> None:
    whole = clip(text, 1_000)
    assert whole.split() == clean(" ".join(text.split())).encode("utf-8", "replace").decode("utf-8").split()
    assert "…" not in whole or "…" in text


def test_a_text_beyond_the_limit_ends_in_an_ellipsis() -> None:
    assert clip("the quick brown fox", 12) == "the quick…"
    assert clip("中文中文中文", 10) == "中文…"


@given(st.integers(1, 60), st.integers(0, 500))
def test_spaces_alone_do_not_make_a_text_too_long(words: int, spaces: int) -> None:
    text = (" " * spaces).join("x" for _ in range(words))
    if spaces:
        assert clip(text, 2 * words - 1) == " ".join("x" * words)


def test_clipping_a_megabyte_examines_only_its_beginning() -> None:
    assert clip("é" * 1_000_000, 9) == "ééé…"
