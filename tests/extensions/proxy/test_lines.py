"""Lines of any length in bounded memory."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.proxy.lines import Line, LineSplitter, read_lines


def split(data: bytes, size: int, most: int = 100) -> list[Line]:
    splitter = LineSplitter(most)
    lines = [line for start in range(0, len(data), size) for line in splitter.feed(data[start : start + size])]
    return [*lines, splitter.take()]


@given(st.lists(st.binary(max_size=30).filter(lambda line: not set(line) & set(b"\r\n"))), st.integers(1, 50))
def test_lines_do_not_depend_on_how_they_are_cut_into_chunks(lines: list[bytes], size: int) -> None:
    assert [line.raw for line in split(b"".join(line + b"\n" for line in lines), size)] == [*lines, b""]


def test_a_carriage_return_before_the_line_break_is_left_out() -> None:
    assert split(b"a\r\nb", 2) == [Line(b"a"), Line(b"b")]


@pytest.mark.parametrize("size", [100, 7_000, 100_000])
def test_only_the_outline_of_a_line_that_is_too_long_is_kept(size: int) -> None:
    long = b'{"result":{"n":[' + b",".join(b"%06d" % number for number in range(5_000)) + b']},"id":7}'
    assert split(long + b"\nok\n", size, most=9_000) == [
        Line(b"", b'{"result":,"id":7}', len(long)),
        Line(b"ok"),
        Line(b""),
    ]


def test_the_last_line_of_a_stream_needs_no_line_break() -> None:
    chunks = [b"a\nb", b"c", b""]

    async def read(_count: int) -> bytes:
        return chunks.pop(0)

    async def collect() -> list[Line]:
        return [line async for line in read_lines(read)]

    assert asyncio.run(collect()) == [Line(b"a"), Line(b"bc")]
