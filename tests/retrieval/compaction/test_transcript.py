"""Items that are written as a text are read back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.retrieval.compaction.transcript import read_transcript, write_transcript

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
