"""Texts in chunks come back whole and in part, and never as anything but what was kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keyhole.store.chunks import CHUNK_CHARS, Chunk, cut, digest_of, stretch, whole

TEXTS = st.text(st.sampled_from(list("aé中😀\x00\n\ud800\udfff")) | st.characters(), max_size=40)
LONG = "".join(f"{number} 中 😀 \ud800\x00 " for number in range(40_000))
CHUNKS = cut(LONG)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@given(text=TEXTS, repeats=st.sampled_from([1, 1, 1, 5_000]))
def test_any_text_comes_back(text: str, repeats: int) -> None:
    text *= repeats
    chunks = cut(text)
    assert whole([chunk.data for chunk in chunks], digest_of(encoded(text))) == text
    assert [chunk.first for chunk in chunks] == list(range(0, len(text), CHUNK_CHARS))


@given(start=st.integers(0, len(LONG)), length=st.integers(0, 2 * CHUNK_CHARS))
def test_a_stretch_comes_of_the_chunks_that_hold_it(start: int, length: int) -> None:
    end = min(len(LONG), start + length)
    needed = [c for c in CHUNKS if c.first < end and c.first + CHUNK_CHARS > start]
    assert stretch(needed, start, end) == LONG[start:end]


@given(number=st.integers(0, len(CHUNKS) - 1), place=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_a_byte_that_changed_is_found(number: int, place: int, flip: int) -> None:
    data = bytearray(CHUNKS[number].data)
    data[place % len(data)] ^= flip
    pieces = [chunk.data for chunk in CHUNKS]
    pieces[number] = bytes(data)
    found = whole(pieces, digest_of(encoded(LONG)))
    # A few bits of a frame's head mean nothing: with them the text is still itself.
    assert found is None or found == LONG
    first = CHUNKS[number].first
    part = stretch([Chunk(first, bytes(data))], first, first + 10)
    assert part is None or part == LONG[first : first + 10]


def test_chunks_that_are_missing_are_found() -> None:
    digest = digest_of(encoded(LONG))
    assert whole([chunk.data for chunk in CHUNKS[1:]], digest) is None
    assert whole([], digest) is None
    assert stretch([], 0, 1) is None
    assert stretch([CHUNKS[1]], 0, CHUNK_CHARS + 1) is None
    assert stretch([CHUNKS[0], CHUNKS[2]], 0, 3 * CHUNK_CHARS) is None
    assert stretch([CHUNKS[0]], 0, CHUNK_CHARS + 1) is None
    assert stretch([], 5, 5) == ""
