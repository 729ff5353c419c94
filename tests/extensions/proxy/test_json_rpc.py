"""Lines of bytes become messages that keep their bytes, and of a message that cannot be read its id is found."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.json_rpc import (
    MAX_OUTLINE,
    LineSplitter,
    MessageLine,
    Outline,
    build,
    encode,
    error_response,
    find_id,
    invalid_line,
    key_of,
    outline_of,
    parse,
    read_lines,
)


def test_a_message_keeps_its_bytes() -> None:
    line = b'{ "id": 1,"jsonrpc":"2.0", "method" : "x", "unknown": [1.50] }'
    (message,) = parse(line)
    assert message.raw == line
    assert message.kind == "request"
    assert message.method == "x"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"id":"a","method":"x"}', "request"),
        (b'{"method":"x"}', "notification"),
        (b'{"id":null,"method":"x"}', "notification"),
        (b'{"id":1,"result":{}}', "response"),
        (b'{"id":1,"error":{}}', "response"),
        (b'{"id":1}', "other"),
        (b'{"id":true,"result":{}}', "other"),
        (b"{}", "other"),
    ],
)
def test_the_kind_of_a_message_is_told_from_its_fields(line: bytes, kind: str) -> None:
    assert parse(line)[0].kind == kind


def test_a_batch_becomes_its_messages() -> None:
    assert [each.method for each in parse(b'[{"method":"a"},{"method":"b"}]')] == ["a", "b"]


@pytest.mark.parametrize("line", [b"", b"Server started", b"[]", b"[1]", b"3", b'{"id":1', b"\xff\xfe"])
def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        parse(line)


def test_an_escaped_lone_surrogate_is_accepted_and_written_again() -> None:
    (message,) = parse(b'{"method":"\\ud800"}')
    assert json.loads(encode(message.data)) == {"method": "\ud800"}


def test_ids_of_different_types_are_different() -> None:
    assert len({key_of(1), key_of("1"), key_of(1.5), key_of(1)}) == 3
    assert key_of(True) is None
    assert key_of(None) is None


def test_changing_a_field_keeps_the_unknown_ones_and_their_order() -> None:
    message = build({"unknown": 1, "id": 2, "result": {}}).with_data(id=3)
    assert message.raw == b'{"unknown":1,"id":3,"result":{}}'


def test_an_error_names_its_code_the_cause_and_the_next_step() -> None:
    data = error_response(7, KeyholeError(Code.SERVER_UNAVAILABLE, "the server fs has ended", server="fs")).data
    assert data["id"] == 7
    assert data["error"]["message"].startswith("server_unavailable: the server fs has ended. ")
    assert data["error"]["data"] == {"code": "server_unavailable", "retry": True, "server": "fs"}


def test_an_invalid_line_is_answered_without_an_id() -> None:
    assert invalid_line().data["id"] is None


# Outlines.

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


# Lines of any length in bounded memory.


def split(data: bytes, size: int, most: int = 100) -> list[MessageLine]:
    splitter = LineSplitter(most)
    lines = [line for start in range(0, len(data), size) for line in splitter.feed(data[start : start + size])]
    return [*lines, splitter.take()]


@given(st.lists(st.binary(max_size=30).filter(lambda line: not set(line) & set(b"\r\n"))), st.integers(1, 50))
def test_lines_do_not_depend_on_how_they_are_cut_into_chunks(lines: list[bytes], size: int) -> None:
    assert [line.raw for line in split(b"".join(line + b"\n" for line in lines), size)] == [*lines, b""]


def test_a_carriage_return_before_the_line_break_is_left_out() -> None:
    assert split(b"a\r\nb", 2) == [MessageLine(b"a"), MessageLine(b"b")]


@pytest.mark.parametrize("size", [100, 7_000, 100_000])
def test_only_the_outline_of_a_line_that_is_too_long_is_kept(size: int) -> None:
    long = b'{"result":{"n":[' + b",".join(b"%06d" % number for number in range(5_000)) + b']},"id":7}'
    assert split(long + b"\nok\n", size, most=9_000) == [
        MessageLine(b"", b'{"result":,"id":7}', len(long)),
        MessageLine(b"ok"),
        MessageLine(b""),
    ]


def test_the_last_line_of_a_stream_needs_no_line_break() -> None:
    chunks = [b"a\nb", b"c", b""]

    async def read(_count: int) -> bytes:
        return chunks.pop(0)

    async def collect() -> list[MessageLine]:
        return [line async for line in read_lines(read)]

    assert asyncio.run(collect()) == [MessageLine(b"a"), MessageLine(b"bc")]
