"""Large texts in a file: the same packed text as in memory, and any range of it."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.store.chunks import pack, unpack
from keyhole.store.text_file import CHUNK_CHARS, TextFile

LONG = "".join(f"{number} 中 😀 \ud800\x00\n" for number in range(20_000))
LARGE = TextFile(io.BytesIO(), [LONG])


@given(st.lists(st.integers(0, 2 * CHUNK_CHARS), max_size=6))
def test_a_text_in_pieces_is_packed_as_a_whole_text(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(LONG)]
    file = TextFile(io.BytesIO(), [LONG[start:end] for start, end in pairwise(places)])
    packed, expected = file.packed(), pack(LONG, CHUNK_CHARS)
    assert (packed.digest, packed.chars, packed.size) == (expected.digest, expected.chars, expected.size)
    assert tuple(packed.chunks) == expected.chunks
    assert packed.stored_bytes == expected.stored_bytes
    assert file.lines == LONG.count("\n")


@given(st.integers(0, len(LONG)), st.integers(0, 2 * CHUNK_CHARS))
def test_any_range_is_read(start: int, length: int) -> None:
    assert LARGE.read(start, start + length) == LONG[start : start + length]


def test_the_pieces_and_the_chunks_are_the_text() -> None:
    assert "".join(LARGE.pieces()) == LONG
    packed = LARGE.packed()
    assert unpack([chunk.data for chunk in packed.chunks], packed.digest, CHUNK_CHARS) == LONG


def test_an_empty_text_has_no_chunks() -> None:
    empty = TextFile(io.BytesIO(), ["", ""])
    assert (empty.chars, list(empty.pieces()), empty.read(0, 10)) == (0, [], "")


def test_a_file_that_was_changed_is_an_error() -> None:
    file = io.BytesIO()
    text = TextFile(file, ["text " * 1_000])
    file.seek(10)
    file.write(b"changed")
    with pytest.raises(OSError, match="changed"):
        text.read(0, 10)
