"""The outline of a message names its id, wherever that stands and however the message is cut into chunks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.proxy.outline import MAX_OUTLINE, Outline, find_id, outline_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)
FIELDS = st.dictionaries(st.text(max_size=8).filter(lambda name: name not in ("id", "method")), JSON, max_size=5)


def outline(data: bytes, size: int) -> bytes:
    found = Outline()
    for start in range(0, len(data), size):
        found.feed(data[start : start + size])
    return found.text


@given(FIELDS, FIELDS, st.integers(-(10**17), 10**17) | st.text(max_size=20), st.integers(1, 60), st.booleans())
def test_the_id_is_found_in_every_place(
    before: dict[str, Any], after: dict[str, Any], id: object, size: int, is_ascii: bool
) -> None:
    line = json.dumps({**before, "id": id, **{name: value for name, value in after.items() if name not in before}},
                      ensure_ascii=is_ascii).encode()  # fmt: skip
    assert find_id(outline(line, size), of_request=False) == id
    assert find_id(outline(line, size), of_request=True) is None


@given(st.integers(1, 400), st.integers(0, 3))
def test_long_strings_are_skipped_with_their_quotes_and_backslashes(size: int, backslashes: int) -> None:
    text = ('"}],{"id":5,' + "\\" * backslashes) * 60
    line = json.dumps({"a": text, "result": [text, {"id": 6}], "id": 7, "b": text}).encode()
    found = outline(line, size)
    assert find_id(found, of_request=False) == 7
    assert len(found) < 600


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":5,"result":{"content":[', 5),
        (b'{"id": "a-1", "jsonrpc": "2.0", "result": {"te', "a-1"),
        (b'{"result":{"content":[],"id":9}', None),
        (b'{"result":{"content":[{"a":1,"id":9}]},"jsonrpc":"2.0"}', None),
        (b'{"jsonrpc":"2.0","id":5,"method":"roots/list","params":{', None),
        (b'{"id":"\\x"}', None),
        (b'worker {"id":5} has started', None),
        (b"plain text", None),
    ],
)
def test_a_line_that_is_cut_off_or_is_no_response(line: bytes, id: object) -> None:
    assert find_id(outline_of(line), of_request=False) == id


def test_a_request_is_told_from_a_response() -> None:
    line = b'{"id":1,"params":{"result":1},"method":"tools/call"}'
    assert find_id(outline_of(line), of_request=True) == 1
    assert find_id(outline_of(line), of_request=False) is None


def test_an_outline_is_bounded() -> None:
    assert len(outline_of(json.dumps({str(number): number for number in range(10_000)}).encode())) <= MAX_OUTLINE
