"""Gzip files are read as their content, within size limits."""

from __future__ import annotations

import gzip

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.extract.extraction import MAX_GZIP_BYTES


@pytest.mark.parametrize(
    ("content", "url", "text"),
    [
        (b"line 0\nline 1\n", "https://a.example/build.log.gz", "line 0\nline 1\n"),
        (b"<urlset><url/></urlset>", "https://a.example/sitemap.xml.gz?page=1", "<urlset><url/></urlset>"),
        (b"a,b\n1,2\n", "https://a.example/rows.csv.gz", "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
        ("größe 7\n".encode("utf-16-le"), "https://a.example/notes.txt.gz", "größe 7\n"),
        (b"<!doctype html><p>words", "https://a.example/", "words\n"),
    ],
)
@pytest.mark.parametrize("declared", ["application/gzip", "application/x-gzip", "application/octet-stream", ""])
def test_a_gzip_file_is_read_as_its_content(content: bytes, url: str, text: str, declared: str) -> None:
    document = extract(gzip.compress(content), url=url, content_type=declared)
    assert document.text == text
    assert not document.cut


def test_a_gzip_file_of_several_members_is_read_to_the_end() -> None:
    packed = gzip.compress(b"line 0\n") + gzip.compress(b"line 1\n") + b"padding"
    assert extract(packed, url="", content_type="").text == "line 0\nline 1\n"


def test_a_gzip_file_that_is_cut_or_too_long_gives_its_beginning() -> None:
    lines = b"".join(b"line %d\n" % number for number in range(2_000))
    for packed in (gzip.compress(lines)[:-100], gzip.compress(lines) + gzip.compress(lines)[:20]):
        document = extract(packed, url="", content_type="")
        assert document.cut
        assert lines.decode().startswith(document.text[:1_000])
    document = extract(gzip.compress(b"word\n" * (MAX_GZIP_BYTES // 5 + 1)), url="", content_type="")
    assert document.cut
    assert len(document.text) == MAX_GZIP_BYTES


@pytest.mark.parametrize(
    "packed",
    [b"\x1f\x8b\x08\0", gzip.compress(gzip.compress(b"words", mtime=0), mtime=0), gzip.compress(b"")],
    ids=["cut", "twice", "empty"],
)
def test_a_gzip_file_without_readable_content_is_damaged(packed: bytes) -> None:
    with pytest.raises(KeyholeError, match="gzip archive is damaged") as caught:
        extract(packed, url="", content_type="application/gzip")
    assert caught.value.code is Code.EXTRACTION_FAILED
