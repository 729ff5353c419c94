"""Tests of compressed chunks: texts are unpacked whole or in part, and damage is detected."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.runtime.zstd import zstd
from keyhole.store.chunks import CHUNK_CHARS, LEVEL, Chunk, TextFile, pack, unpack, unpack_range

TEXTS = st.text(st.sampled_from(list("aé中😀\x00\n\ud800\udfff")) | st.characters(), max_size=40)
LONG = "".join(f"{number} 中 😀 \ud800\x00 " for number in range(40_000))
CHUNK = 65_536
PACKED = pack(LONG, CHUNK)
CHUNKS = PACKED.chunks


@given(text=TEXTS, repeats=st.sampled_from([1, 1, 1, 5_000]))
def test_any_text_is_unpacked_unchanged(text: str, repeats: int) -> None:
    text *= repeats
    packed = pack(text, CHUNK)
    pieces = [chunk.data for chunk in packed.chunks]
    assert unpack(pieces, packed.digest, CHUNK) == text
    assert [chunk.first for chunk in packed.chunks] == list(range(0, len(text), CHUNK))
    assert (packed.chars, packed.size) == (len(text), len(text.encode("utf-8", "surrogatepass")))
    assert packed.stored_bytes == sum(map(len, pieces))


@given(start=st.integers(0, len(LONG)), length=st.integers(0, 2 * CHUNK))
def test_a_range_is_unpacked_from_its_chunks(start: int, length: int) -> None:
    end = min(len(LONG), start + length)
    needed = [c for c in CHUNKS if c.first < end and c.first + CHUNK > start]
    assert unpack_range(needed, start, end, CHUNK) == LONG[start:end]


@given(number=st.integers(0, len(CHUNKS) - 1), place=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_a_changed_byte_is_detected(number: int, place: int, flip: int) -> None:
    data = bytearray(CHUNKS[number].data)
    data[place % len(data)] ^= flip
    pieces = [chunk.data for chunk in CHUNKS]
    pieces[number] = bytes(data)
    found = unpack(pieces, PACKED.digest, CHUNK)
    # Some bits of a frame header are unused, so that changing them does not change the text.
    assert found is None or found == LONG
    first = CHUNKS[number].first
    part = unpack_range([Chunk(first, bytes(data))], first, first + 10, CHUNK)
    assert part is None or part == LONG[first : first + 10]


def test_missing_chunks_are_detected() -> None:
    assert unpack([chunk.data for chunk in CHUNKS[1:]], PACKED.digest, CHUNK) is None
    assert unpack([], PACKED.digest, CHUNK) is None
    assert unpack_range([], 0, 1, CHUNK) is None
    assert unpack_range([CHUNKS[1]], 0, CHUNK + 1, CHUNK) is None
    assert unpack_range([CHUNKS[0], CHUNKS[2]], 0, 3 * CHUNK, CHUNK) is None
    assert unpack_range([CHUNKS[0]], 0, CHUNK + 1, CHUNK) is None
    assert unpack_range([], 5, 5, CHUNK) == ""


def test_an_oversized_chunk_is_not_decompressed() -> None:
    assert unpack([CHUNKS[0].data], PACKED.digest, CHUNK // 8) is None
    assert unpack_range([CHUNKS[0]], 0, 1, CHUNK // 8) is None


def test_chunks_without_their_own_checksum_are_read() -> None:
    # Older files contain such chunks, which only the table's checksum protects.
    text = "中 pumps and valves " * 100
    packed = pack(text, 300)
    plain = [
        Chunk(first, zstd.compress(text[first : first + 300].encode(), LEVEL)) for first in range(0, len(text), 300)
    ]
    assert unpack([chunk.data for chunk in plain], packed.digest, 300) == text
    assert unpack_range(plain[1:3], 350, 700, 300) == text[350:700]


# Files

LONG_TEXT = "".join(f"{number} 中 😀 \ud800\x00\n" for number in range(20_000))
LARGE = TextFile(io.BytesIO(), [LONG_TEXT])


@given(st.lists(st.integers(0, 2 * CHUNK_CHARS), max_size=6))
def test_a_text_in_pieces_is_packed_as_a_whole_text(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(LONG_TEXT)]
    file = TextFile(io.BytesIO(), [LONG_TEXT[start:end] for start, end in pairwise(places)])
    packed, expected = file.packed(), pack(LONG_TEXT, CHUNK_CHARS)
    assert (packed.digest, packed.chars, packed.size) == (expected.digest, expected.chars, expected.size)
    assert tuple(packed.chunks) == expected.chunks
    assert packed.stored_bytes == expected.stored_bytes
    assert file.lines == LONG_TEXT.count("\n")


@given(st.integers(0, len(LONG_TEXT)), st.integers(0, 2 * CHUNK_CHARS))
def test_any_range_is_read(start: int, length: int) -> None:
    assert LARGE.read(start, start + length) == LONG_TEXT[start : start + length]


def test_the_pieces_and_the_chunks_are_the_text() -> None:
    assert "".join(LARGE.pieces()) == LONG_TEXT
    packed = LARGE.packed()
    assert unpack([chunk.data for chunk in packed.chunks], packed.digest, CHUNK_CHARS) == LONG_TEXT


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
