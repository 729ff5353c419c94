"""Content codings are decoded within a limit, independently of how the bytes are split.

The last part tests properties. For 10,000 examples of each:
`pytest tests/fetch/test_decoding.py --hypothesis-profile=thorough`.
"""

from __future__ import annotations

import gzip
import random
import time
import tracemalloc
import zlib
from collections.abc import Callable, Sequence

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.decoding import ACCEPT_ENCODING, ZSTD_WINDOW, Decoder
from keyhole.runtime.zstd import compression_options, zstd
from tests.support.machine import allowed

TEXT = b"The quick brown fox jumps over the lazy dog. " * 40
HTML = b"<!DOCTYPE html>\n<html><head><title>A page</title></head><body>" + TEXT
LIMIT = 100_000
SKIPPABLE = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def raw_deflated(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


def brotlied(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=5))


def zstded(data: bytes) -> bytes:
    return zstd.compress(data, options=compression_options(3))


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzipped,
    "deflate": zlib.compress,
    "raw deflate": raw_deflated,
    "br": brotlied,
    "zstd": zstded,
    "identity": bytes,
}
PACKED = [name for name in ENCODERS if name != "identity"]
MEMBERS = {"gzip", "zstd"}
"""Codings with several members or frames."""
CODINGS = pytest.mark.parametrize("name", list(ENCODERS))
COMPRESSED = pytest.mark.parametrize("name", PACKED)
CHECKED = pytest.mark.parametrize("name", ["gzip", "deflate", "zstd"])
"""Codings with a checksum. The others may decode damaged data to garbage."""
PAIRS = pytest.mark.parametrize("names", [(first, second) for first in PACKED for second in PACKED])


def header(*names: str) -> str:
    """Return the Content-Encoding header of these encoders."""
    return ", ".join(name.removeprefix("raw ") for name in names)


def encoded(names: Sequence[str], data: bytes) -> bytes:
    for name in names:
        data = ENCODERS[name](data)
    return data


def decode(coding: str, *pieces: bytes, limit: int = LIMIT) -> tuple[bytes, bool]:
    """Return the decoded pieces, and True if the decoder is finished."""
    decoder = Decoder(coding, limit)
    out = b"".join(decoder.feed(piece) for piece in pieces) + decoder.close()
    return out, decoder.is_finished


def failure(coding: str, *pieces: bytes, limit: int = LIMIT) -> Code:
    with pytest.raises(KeyholeError) as caught:
        decode(coding, *pieces, limit=limit)
    return caught.value.code


def outcome(coding: str, pieces: Sequence[bytes], limit: int = LIMIT) -> tuple[bytes, bool] | Code:
    """Return the decoded pieces and whether the decoder is finished, or the error code."""
    try:
        return decode(coding, *pieces, limit=limit)
    except KeyholeError as error:
        return error.code


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@CODINGS
@pytest.mark.parametrize("text", [b"", b"x", TEXT, noise(50_000)], ids=["empty", "one byte", "text", "noise"])
def test_an_encoded_text_is_decoded(name: str, text: bytes) -> None:
    assert decode(header(name), ENCODERS[name](text)) == (text, True)


@PAIRS
def test_two_codings_are_decoded_in_reverse_order(names: tuple[str, str]) -> None:
    assert decode(header(*names), encoded(names, TEXT)) == (TEXT, True)


@pytest.mark.parametrize(
    "label", ["gzip", "GZIP", " gzip ", "x-gzip", "X-GZip", "identity, gzip", ",gzip,,", "utf-8,gzip"]
)
def test_the_name_of_a_coding_is_parsed_leniently(label: str) -> None:
    assert decode(label, gzipped(TEXT)) == (TEXT, True)


def test_every_accepted_coding_is_supported() -> None:
    assert set(ACCEPT_ENCODING.split(", ")) == {header(name) for name in PACKED}
    for label in ACCEPT_ENCODING.split(", "):
        assert decode(label, ENCODERS[label](TEXT)) == (TEXT, True)


@pytest.mark.parametrize(
    "label", ["", "identity", " Identity ", "identity,identity,identity", "UTF-8", "none", "binary"]
)
def test_a_body_without_a_coding_is_unchanged(label: str) -> None:
    assert decode(label, b"a", b"", b"b") == (b"ab", True)


@pytest.mark.parametrize("label", ["compress", "gzip, dcb", "exi", "nonsense" * 1_000])
def test_an_unknown_coding_is_refused_without_its_name(label: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        Decoder(label, LIMIT)
    assert caught.value.code is Code.UNSUPPORTED_ENCODING
    assert caught.value.message == "the content coding is none of br, deflate, gzip, zstd"


@pytest.mark.parametrize("count", [3, 40, 5_000])
def test_more_than_two_codings_are_refused(count: int) -> None:
    with pytest.raises(KeyholeError) as caught:
        Decoder(", ".join(["gzip"] * count), LIMIT)
    assert caught.value.code is Code.UNSUPPORTED_ENCODING


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_all_members_or_frames_are_decoded(name: str) -> None:
    encode = ENCODERS[name]
    assert decode(name, encode(b"one ") + encode(b"") + encode(b"two")) == (b"one two", True)


def test_skippable_zstd_frames_are_skipped() -> None:
    assert decode("zstd", SKIPPABLE + zstded(b"one ") + SKIPPABLE + zstded(b"two") + SKIPPABLE) == (b"one two", True)


@COMPRESSED
@pytest.mark.parametrize("rest", [b"\0", b"\0\0\0padding", TEXT])
@pytest.mark.parametrize("text", [b"few", TEXT, noise(5_000)])
def test_data_after_the_end_is_ignored(name: str, rest: bytes, text: bytes) -> None:
    assert decode(header(name), ENCODERS[name](text) + rest, b"more") == (text, True)


@COMPRESSED
def test_a_truncated_body_is_decoded_to_its_end_and_not_finished(name: str) -> None:
    text = b" ".join(b"%d words" % number for number in range(50_000))
    whole = ENCODERS[name](text)
    out, finished = decode(header(name), whole[: len(whole) * 9 // 10], limit=10**6)
    assert text.startswith(out)
    assert len(out) > len(text) / 3
    assert not finished


@COMPRESSED
def test_a_body_without_its_last_byte_is_not_finished(name: str) -> None:
    whole = ENCODERS[name](noise(5_000))
    out, finished = decode(header(name), whole[:-1])
    assert noise(5_000).startswith(out)
    assert not finished


@PAIRS
def test_a_truncated_chain_is_not_finished(names: tuple[str, str]) -> None:
    text = noise(90_000)
    whole = encoded(names, text)
    out, finished = decode(header(*names), whole[: len(whole) - 20])
    assert text.startswith(out)
    assert not finished


@COMPRESSED
def test_a_body_that_breaks_off_before_any_content_is_a_protocol_error(name: str) -> None:
    assert failure(header(name), ENCODERS[name](TEXT)[:1]) is Code.PROTOCOL_ERROR


@COMPRESSED
def test_no_bytes_at_all_are_an_empty_body(name: str) -> None:
    assert decode(header(name))[0] == b""


def test_a_second_member_that_is_truncated_is_not_finished() -> None:
    out, finished = decode("gzip", gzipped(b"one ") + gzipped(TEXT)[:-12])
    assert out.startswith(b"one The quick")
    assert not finished


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", b"this is not gzip at all " * 100),
        ("gzip", gzipped(TEXT)[:10] + b"\xff" * 30),
        ("deflate", b"this is not deflate at all " * 100),
        ("br", b"this is not brotli at all " * 100),
        ("zstd", b"this is not zstd at all " * 100),
        ("zstd", zstded(TEXT)[:6] + b"\xff" * 30),
        ("gzip, br", brotlied(b"this is not gzip at all " * 100)),
        ("gzip", b"\0" * 5_000),
        ("br", b"\xff" * 5_000),
    ],
)
def test_a_body_that_cannot_be_decoded_is_a_protocol_error(coding: str, body: bytes) -> None:
    assert failure(coding, body) is Code.PROTOCOL_ERROR


@CHECKED
def test_a_body_damaged_in_the_middle_is_decoded_to_the_damage_and_not_finished(name: str) -> None:
    text = noise(100_000)
    whole = bytearray(ENCODERS[name](text))
    middle = len(whole) // 2
    whole[middle : middle + 2_000] = b"\xff" * 2_000
    out, finished = decode(header(name), bytes(whole), TEXT, limit=10**6)
    assert finished is False
    assert out[: middle // 2] == text[: middle // 2]


@CHECKED
def test_a_body_with_a_wrong_checksum_is_decoded_but_not_finished(name: str) -> None:
    text = noise(5_000)
    body = ENCODERS[name](text)
    out, finished = decode(name, body[:-4] + bytes(byte ^ 0xFF for byte in body[-4:]))
    assert text.startswith(out)
    assert len(out) > len(text) * 0.9
    assert not finished


def test_a_damaged_second_member_leaves_the_first() -> None:
    assert decode("gzip", gzipped(b"one ") + gzipped(TEXT)[:10] + b"\xff" * 30) == (b"one ", False)


@COMPRESSED
@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"\xef\xbb\xbf\n " + HTML,
        b"<p>short</p>",
        b"<?xml version='1.0'?><rss>" + TEXT,
        b"<!-- a page --> <html>" + TEXT,
        b'{"name": "value", "list": [1, 2, 3]}',
        b'[{"id": 17}, {"id": 18}, {"id": 19}]',
    ],
)
def test_markup_with_a_coding_that_was_never_applied_is_unchanged(name: str, body: bytes) -> None:
    assert decode(header(name), body) == (body, True)


def test_a_coding_named_twice_and_applied_once_is_decoded_once() -> None:
    assert decode("gzip, gzip", gzipped(HTML)) == (HTML, True)


@CODINGS
def test_exactly_the_limit_is_accepted_and_one_byte_more_is_not(name: str) -> None:
    body = ENCODERS[name](bytes(10_000))
    assert decode(header(name), body, limit=10_000)[0] == bytes(10_000)
    with pytest.raises(KeyholeError):
        decode(header(name), body, limit=9_999)


@COMPRESSED
def test_a_bomb_is_reported_within_bounded_memory(name: str) -> None:
    bomb = ENCODERS[name](bytes(100_000_000))
    assert len(bomb) < 100_000
    started = time.process_time()
    assert failure(header(name), bomb) is Code.DECOMPRESSION_BOMB
    assert time.process_time() - started < allowed(0.2)


@PAIRS
def test_a_nested_bomb_is_reported_within_bounded_memory(names: tuple[str, str]) -> None:
    bomb = encoded(names, bytes(30_000_000))
    tracemalloc.start()
    try:
        assert failure(header(*names), bomb, limit=1_000_000) is Code.DECOMPRESSION_BOMB
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_a_bomb_of_many_small_members_is_reported(name: str) -> None:
    assert failure(name, ENCODERS[name](bytes(1_000)) * 200) is Code.DECOMPRESSION_BOMB


@pytest.mark.parametrize("body", [gzipped(b"") * 50_000, gzipped(b"x") + b"\0" * 1_000_000])
def test_many_empty_members_take_linear_time(body: bytes) -> None:
    started = time.process_time()
    assert decode("gzip", body)[1]
    assert time.process_time() - started < allowed(1.0)


def test_a_zstd_window_over_what_http_allows_is_refused() -> None:
    def with_window(log: int) -> bytes:
        options: dict[int, int] = {
            zstd.CompressionParameter.window_log: log,
            zstd.CompressionParameter.compression_level: 1,
        }
        encoder = zstd.ZstdCompressor(options=options)
        return encoder.compress(TEXT) + encoder.flush()

    assert decode("zstd", with_window(ZSTD_WINDOW.bit_length() - 1)) == (TEXT, True)
    assert failure("zstd", with_window(ZSTD_WINDOW.bit_length())) is Code.PROTOCOL_ERROR


def test_a_large_body_without_a_coding_is_too_large_and_not_a_bomb() -> None:
    assert failure("", bytes(LIMIT + 1)) is Code.TOO_LARGE


@CODINGS
def test_a_body_that_arrives_byte_by_byte_is_the_same(name: str) -> None:
    body = ENCODERS[name](TEXT)
    assert decode(header(name), *(body[i : i + 1] for i in range(len(body)))) == (TEXT, True)


# Properties.

CHAINS = st.lists(st.sampled_from(list(ENCODERS)), max_size=2)
TEXTS = st.binary(max_size=300) | st.binary(max_size=40).map(lambda few: few * 50)


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, bytes]:
    """Draw a Content-Encoding and a body: encoded, or then truncated, damaged or continued, or arbitrary."""
    names = draw(CHAINS)
    if draw(st.booleans()):
        body = encoded(names, draw(TEXTS))
        at, length = draw(st.integers(0, len(body))), draw(st.sampled_from([0, 0, 1, 5, 10**6]))
        body = body[:at] + draw(st.binary(max_size=8)) + body[at + length :] + draw(st.binary(max_size=80))
    else:
        body = draw(st.sampled_from([b"", HTML[:30], gzipped(b"")[:10], b"\x28\xb5\x2f\xfd", b"\x78\x9c"])) + draw(
            TEXTS
        )
    return header(*names), body


def split(body: bytes, cuts: list[int]) -> list[bytes]:
    """Split the body into pieces, some of them empty."""
    places = sorted(cut % (len(body) + 1) for cut in cuts)
    return [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]


CUTS = st.lists(st.integers(0, 10_000), max_size=8)


@given(CHAINS, TEXTS, CUTS)
def test_an_encoded_text_is_decoded_however_it_is_split(names: list[str], text: bytes, cuts: list[int]) -> None:
    assert decode(header(*names), *split(encoded(names, text), cuts)) == (text, True)


@given(st.sampled_from(sorted(MEMBERS)), st.lists(TEXTS, min_size=1, max_size=4), CUTS)
def test_members_are_decoded_however_they_are_split(name: str, texts: list[bytes], cuts: list[int]) -> None:
    body = b"".join(ENCODERS[name](text) for text in texts)
    assert decode(name, *split(body, cuts)) == (b"".join(texts), True)


@given(bodies(), CUTS, st.integers(0, 2_000) | st.just(LIMIT))
def test_any_bytes_give_the_same_result_however_they_are_split_within_the_limit(
    sent: tuple[str, bytes], cuts: list[int], limit: int
) -> None:
    coding, body = sent
    at_once = outcome(coding, [body], limit)
    assert outcome(coding, split(body, cuts), limit) == at_once
    if isinstance(at_once, Code):
        assert at_once in {Code.PROTOCOL_ERROR, Code.DECOMPRESSION_BOMB, Code.TOO_LARGE}
    else:
        assert len(at_once[0]) <= limit


@given(CHAINS, TEXTS, st.integers(0, 10_000))
def test_a_body_truncated_anywhere_gives_a_prefix_and_is_not_finished(names: list[str], text: bytes, cut: int) -> None:
    body = encoded(names, text)
    result = outcome(header(*names), [body[: cut % (len(body) + 1)]])
    if isinstance(result, Code):
        assert result is Code.PROTOCOL_ERROR
    else:
        assert text.startswith(result[0])
        assert not result[1] or result[0] == text or header(*names).replace("identity", "").strip(", ") == ""
