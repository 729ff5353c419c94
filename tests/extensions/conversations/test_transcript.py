"""Items that are written as a text are read back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.conversations.transcript import (
    LINES,
    PLACES,
    Places,
    read_left_out,
    read_transcript,
    write_left_out,
    write_transcript,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.text("ab\n\r\u2028"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=4))
def test_items_are_read_back_as_they_were(items: list[object]) -> None:
    assert read_transcript(write_transcript(items)) == items


def test_control_characters_are_escaped() -> None:
    item = {"content": "one\n\x1b[31mtwo\x9b"}
    text = write_transcript([item])
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert read_transcript(text) == [item]


def test_the_lines_of_a_text_are_lines_of_the_transcript() -> None:
    item = {"role": "tool", "content": "one\ntwo"}
    assert write_transcript([item]) == '{"role": "tool", "content": {"keyhole:lines": 2}}\none\ntwo'


@given(st.lists(VALUES, max_size=3))
def test_values_that_look_like_those_of_the_transcript_are_read_back(values: list[object]) -> None:
    items: list[object] = [*({LINES: value} for value in values), {LINES: 3, "a": "one\ntwo", "b": {LINES: values}}]
    assert read_transcript(write_transcript(items)) == items


def test_a_value_need_not_be_an_object() -> None:
    for value in ("one\ntwo", "one\n\x00", ["one\ntwo", "a"], None, "", 3):
        assert read_transcript(write_transcript([value])) == [value]


PLACE = st.integers(0, 99)
MADE_PLACES = st.builds(
    Places, st.lists(PLACE).map(tuple), st.lists(PLACE).map(tuple), st.booleans(), st.text(), st.none() | st.text("a\n")
)


@given(st.lists(VALUES, max_size=3), MADE_PLACES)
def test_items_that_were_left_out_are_read_back_with_their_places(items: list[object], places: Places) -> None:
    assert read_left_out(write_left_out(items, places)) == (items, places)


def test_a_transcript_without_places_is_not_one_of_left_out_items() -> None:
    for text in ("", "done", write_transcript([{"a": 1}]), write_transcript([{"a": {PLACES: {}}}])):
        assert read_left_out(text) is None
