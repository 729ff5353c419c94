"""Content codings undone within a bound, in whatever pieces the bytes arrive."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.decoding import ACCEPT_ENCODING, Decoder

TEXT = b"The quick brown fox jumps over the lazy dog. " * 40
LIMIT = 100_000


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def raw_deflated(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzipped,
    "deflate": zlib.compress,
    "raw deflate": raw_deflated,
    "identity": bytes,
}
CODINGS = pytest.mark.parametrize("name", list(ENCODERS))


def header(name: str) -> str:
    """The Content-Encoding under which an encoder's output is sent."""
    return name.removeprefix("raw ")


def decode(coding: str, *pieces: bytes, limit: int = LIMIT) -> tuple[bytes, bool]:
    """What comes out of all pieces, and whether the end was seen."""
    decoder = Decoder(coding, limit)
    return b"".join(decoder.feed(piece) for piece in pieces), decoder.finished


def failure(coding: str, *pieces: bytes, limit: int = LIMIT) -> Code:
    with pytest.raises(KeyholeError) as caught:
        decode(coding, *pieces, limit=limit)
    return caught.value.code


@CODINGS
@pytest.mark.parametrize("text", [b"", b"x", TEXT], ids=["empty", "one byte", "text"])
def test_what_was_encoded_comes_out_again(name: str, text: bytes) -> None:
    assert decode(header(name), ENCODERS[name](text)) == (text, True)


@pytest.mark.parametrize("label", ["gzip", "GZIP", " gzip ", "x-gzip", "X-GZip"])
def test_a_codings_name_is_read_leniently(label: str) -> None:
    assert decode(label, gzipped(TEXT)) == (TEXT, True)


def test_every_coding_we_accept_is_understood() -> None:
    for label in ACCEPT_ENCODING.split(", "):
        assert decode(label, ENCODERS[label](TEXT)) == (TEXT, True)


@pytest.mark.parametrize("label", ["", "identity", " Identity "])
def test_no_coding_passes_bytes_through(label: str) -> None:
    assert decode(label, b"a", b"", b"b") == (b"ab", True)


@pytest.mark.parametrize("label", ["br", "zstd", "compress", "gzip, br", "gzip, gzip", "nonsense" * 1_000])
def test_an_unknown_coding_is_refused_by_name_and_briefly(label: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        Decoder(label, LIMIT)
    assert caught.value.code is Code.UNSUPPORTED_ENCODING
    assert label[:40] in caught.value.message
    assert len(caught.value.message) < 200


def test_gzip_of_several_members_is_read_to_the_last() -> None:
    assert decode("gzip", gzipped(b"one ") + gzipped(b"") + gzipped(b"two")) == (b"one two", True)


def test_what_follows_the_end_of_a_gzip_file_is_ignored() -> None:
    assert decode("gzip", gzipped(TEXT) + b"\0\0\0padding", b"more") == (TEXT, True)


def test_what_follows_the_end_of_a_deflate_stream_is_ignored() -> None:
    assert decode("deflate", zlib.compress(TEXT) + b"rest", b"more") == (TEXT, True)


@pytest.mark.parametrize("name", ["gzip", "deflate", "raw deflate"])
def test_a_truncated_body_gives_what_is_there_and_is_not_finished(name: str) -> None:
    whole = ENCODERS[name](TEXT)
    out, finished = decode(header(name), whole[: len(whole) // 2])
    assert TEXT.startswith(out)
    assert not finished


def test_a_second_member_that_is_truncated_is_not_finished() -> None:
    out, finished = decode("gzip", gzipped(b"one ") + gzipped(TEXT)[:-12])
    assert out.startswith(b"one The quick")
    assert not finished


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", b"<html>not gzip at all"),
        ("gzip", gzipped(TEXT)[:10] + b"\xff" * 30),
        ("gzip", gzipped(TEXT)[:-8] + b"\0" * 8),
        ("deflate", b"<html>not deflate at all"),
        ("deflate", zlib.compress(TEXT)[:-4] + b"\0\0\0\0"),
    ],
    ids=["no gzip", "gzip middle", "gzip checksum", "no deflate", "deflate checksum"],
)
def test_a_corrupt_body_is_a_protocol_error(coding: str, body: bytes) -> None:
    assert failure(coding, body) is Code.PROTOCOL_ERROR


@CODINGS
def test_exactly_the_limit_passes_and_one_byte_more_does_not(name: str) -> None:
    body = ENCODERS[name](bytes(10_000))
    assert decode(header(name), body, limit=10_000)[0] == bytes(10_000)
    with pytest.raises(KeyholeError):
        decode(header(name), body, limit=9_999)


@pytest.mark.parametrize("name", ["gzip", "deflate", "raw deflate"])
def test_a_bomb_is_named_before_it_has_filled_the_memory(name: str) -> None:
    bomb = ENCODERS[name](bytes(50_000_000))
    assert len(bomb) < 100_000
    started = time.process_time()
    assert failure(header(name), bomb) is Code.DECOMPRESSION_BOMB
    assert time.process_time() - started < 0.2


def test_a_bomb_of_many_small_members_is_named_too() -> None:
    assert failure("gzip", gzipped(bytes(1_000)) * 200) is Code.DECOMPRESSION_BOMB


def test_a_large_body_without_a_coding_is_large_and_not_a_bomb() -> None:
    assert failure("", bytes(LIMIT + 1)) is Code.TOO_LARGE


@given(st.data())
def test_the_pieces_in_which_a_body_arrives_do_not_matter(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(ENCODERS)))
    texts = data.draw(st.lists(st.binary(max_size=300), min_size=1, max_size=3 if name == "gzip" else 1))
    body = b"".join(ENCODERS[name](text) for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert decode(header(name), *pieces) == (b"".join(texts), True)


@pytest.mark.parametrize("name", list(ENCODERS))
def test_a_body_that_arrives_byte_by_byte_is_the_same(name: str) -> None:
    body = ENCODERS[name](b"hello world")
    assert decode(header(name), *(body[i : i + 1] for i in range(len(body)))) == (b"hello world", True)


@given(st.sampled_from(["gzip", "deflate", ""]), st.binary(max_size=200), st.integers(0, 50))
def test_any_bytes_give_bytes_within_the_limit_or_a_named_failure(coding: str, body: bytes, limit: int) -> None:
    try:
        out, _ = decode(coding, body, limit=limit)
    except KeyholeError as error:
        assert error.code in {Code.PROTOCOL_ERROR, Code.DECOMPRESSION_BOMB, Code.TOO_LARGE}
    else:
        assert len(out) <= limit
