"""The data of a call for the view: within the space, with the first passages where not all have space."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.look.mcp_app import SeenText, alternate, call_data, describe_text, to_json
from keyhole.extensions.look.text_view import Cell, Piece, Segment
from keyhole.store.calls.base import OK, CallRecord, CallSummary, ReadText

SUMMARY = CallSummary(
    id="call", session="s", client="tests 1", origin="tool", tool="search", query="fish", target="", started_at=1.0,
    seconds=0.25, outcome=OK, budget=9_000, result_bytes=700, tokens=12, read_chars=5_000, shown_chars=143,
)  # fmt: skip
CALL = CallRecord(SUMMARY, "{}", "", engines=(("ddgs", ""), ("searxng", "timeout")))


def test_pieces_alternate_and_begin_with_text() -> None:
    fish, swim = Piece("fish", marked=True), Piece(" swim")
    assert alternate(Segment(0, 9, shown=True, pieces=(fish, swim))) == ["", "fish", " swim"]
    assert alternate(Segment(0, 9, shown=True, pieces=(swim, fish, fish, swim))) == [" swim", "fishfish", " swim"]
    assert alternate(Segment(0, 9, shown=True)) == []


def test_parts_without_heat_are_left_out() -> None:
    seen = SeenText(ReadText("", "https://example.org/"), (), ("whale",), (Cell(0, 5, 0), Cell(5, 9, 3)))
    described = describe_text(seen)
    assert (described["heat"], described["absent"]) == ([(5, 9, 3)], ("whale",))


pieces = st.lists(st.builds(Piece, st.text(max_size=80), st.booleans()), min_size=1, max_size=4).map(tuple)
segments = st.builds(Segment, st.integers(0, 99), st.integers(100, 999), st.just(True), st.booleans(), pieces)
texts_of_any_kind = st.lists(
    st.builds(
        SeenText,
        st.builds(ReadText, st.just("aaaaaaaaaaaaaaaa"), st.text(max_size=30), st.text(max_size=30)),
        st.lists(segments, max_size=4).map(tuple),
        st.lists(st.text(max_size=9), max_size=3).map(tuple),
        st.just((Cell(0, 5, 9),)),
    ),
    max_size=5,
)


@given(texts_of_any_kind, st.integers(0, 5_000))
def test_the_data_never_exceed_their_space_and_the_first_passages_have_their_words(
    texts: list[SeenText], more: int
) -> None:
    space = len(json.dumps(to_json(call_data(CALL, (), 0)))) + more
    data = call_data(CALL, texts, space)
    assert len(json.dumps(to_json(data), ensure_ascii=False).encode("utf-8", "surrogatepass")) <= space
    assert len(data["texts"]) + data["texts_left_out"] == len(texts)
    shown = [passage["pieces"] for text in data["texts"] for passage in text["passages"]]
    whole = [alternate(segment) for seen in texts[: len(shown) and len(data["texts"])] for segment in seen.passages]
    complete = next((n for n, words in enumerate(shown) if not words), len(shown))
    assert shown[:complete] == whole[:complete]
    assert not any(shown[complete:])
