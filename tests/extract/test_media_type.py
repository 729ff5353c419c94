"""Detection of the media type by first bytes, header and URL suffix."""

from __future__ import annotations

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract, sniff

RSS = b'<?xml version="1.0"?>\n<!-- made by a program -->\n<rss><channel><title>News</title></channel></rss>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title></feed>'
RDF = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"/>'
XHTML = b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD" "x"><html xmlns="x"><p>w</p></html>'
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.mark.parametrize("body", [RSS, ATOM, RDF])
@pytest.mark.parametrize("declared", ["text/xml", "application/xml", "text/plain", "", "application/octet-stream"])
def test_a_feed_is_recognised_under_any_xml_type(body: bytes, declared: str) -> None:
    assert sniff(body, declared) == "application/feed+xml"


def test_a_feed_is_recognised_under_the_html_type() -> None:
    assert sniff(RSS, "text/html; charset=utf-8") == "application/feed+xml"
    assert sniff(ATOM, "application/atom+xml") == "application/atom+xml"


@pytest.mark.parametrize("declared", ["text/xml", "application/xml", "application/xhtml+xml"])
def test_xml_with_an_html_root_is_xhtml(declared: str) -> None:
    assert sniff(XHTML, declared) == "application/xhtml+xml"
    assert extract(XHTML, url="", content_type=declared).text == "w\n"


@pytest.mark.parametrize("declared", ["text/xml", "image/svg+xml", "", "text/plain"])
def test_svg_is_recognised_under_any_xml_type(declared: str) -> None:
    assert sniff(SVG, declared) == "image/svg+xml"


def test_other_xml_and_html_with_an_xml_declaration_keep_their_type() -> None:
    assert sniff(b"<?xml version='1.0'?><urlset/>", "application/xml") == "application/xml"
    assert sniff(b"<?xml version='1.0'?><urlset/>", "") == "application/xml"
    assert sniff(b"<?xml version='1.0'?><html><p>w", "text/html") == "text/html"
    assert sniff(b"<feed>no namespace</feed>", "text/html") == "text/html"


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"%PDF-1.7\n", "application/pdf"),
        (b"\n%PDF-1.7\n", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x20ftypavif", "image/avif"),
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (b"RIFF\0\0\0\0WAVE", "audio/wav"),
        (b"BM\x36\0\0\0\0\0\0\0", "image/bmp"),
        (b"\0\0\1\0\1\0", "image/x-icon"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"ID3\x04", "audio/mpeg"),
        (b"MZ\x90\0\x03", "application/vnd.microsoft.portable-executable"),
        (bytes(257) + b"ustar\0", "application/x-tar"),
        (b"PK\x05\x06" + bytes(18), "application/zip"),
    ],
)
@pytest.mark.parametrize(
    "declared", ["", "text/html", "text/plain; charset=utf-8", "image/png", "application/octet-stream"]
)
def test_a_binary_signature_takes_precedence_over_the_header(body: bytes, media_type: str, declared: str) -> None:
    assert sniff(body, declared) == media_type


@pytest.mark.parametrize("text", ["BMW builds cars", "ID3 tags are", "MZ is the mark of", "GIF is said", "BZ"])
def test_text_that_starts_like_a_signature_is_text(text: str) -> None:
    assert sniff(text.encode(), "text/plain") == "text/plain"


@pytest.mark.parametrize(
    ("url", "media_type"),
    [
        ("https://example.org/a.json?x=1.csv", "application/json"),
        ("https://example.org/A.CSV", "text/csv"),
        ("https://example.org/data.geojson", "application/geo+json"),
        ("https://example.org/json", "text/plain"),
        ("https://example.org/a.py", "text/plain"),
        ("http://[", "text/plain"),
    ],
)
def test_the_url_suffix_decides_only_for_a_generic_type_and_plain_text(url: str, media_type: str) -> None:
    for declared in ("", "text/plain", "application/octet-stream"):
        assert sniff(b"1,2", declared, url) == media_type
    assert sniff(b"1,2", "text/markdown", url) == "text/markdown"
    assert sniff(b"<!doctype html>", "text/plain", url) == "text/html"


@pytest.mark.parametrize("declared", ["application/pdf", "image/png", "application/vnd.ms-excel"])
def test_html_sent_in_place_of_a_file_is_html(declared: str) -> None:
    assert sniff(b"<!DOCTYPE html><p>Log in", declared) == "text/html"


@pytest.mark.parametrize(
    ("body", "declared", "words"),
    [
        (b"\0\0\0\x20ftypisom", "video/mp4", "an MP4 video (video/mp4), 12 bytes"),
        (b"OggS\0" + bytes(5), "audio/ogg", "an Ogg recording (application/ogg), 10 bytes"),
        (b"wo\0\0s", "font/ttf", "a font (font/ttf), 5 bytes"),
        (b"wo\0\0s", "video/mp4", "a video (video/mp4), 5 bytes"),
        (b"wo\0\0s", "application/x-made-up", "of an unknown type, 5 bytes"),
    ],
)
def test_an_unsupported_format_is_described_in_the_error(body: bytes, declared: str, words: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        extract(body, url="", content_type=declared)
    assert caught.value.code is Code.UNSUPPORTED_MEDIA
    assert caught.value.message == f"the content is {words}"


@pytest.mark.parametrize(
    "declared", ["text/vtt", "text/calendar", "message/rfc822", "application/x-subrip", "text/x-python"]
)
def test_other_text_formats_are_unchanged(declared: str) -> None:
    assert extract(b"one: 1\n\n  two\n", url="", content_type=declared).text == "one: 1\n\n  two\n"


@pytest.mark.parametrize(
    "declared",
    ["video/mp2t", "application/msword", "application/vnd.lotus-organizer", "application/x-made-up", "application/pdf",
     "image/png", "application/zip", "application/gzip"],
)  # fmt: skip
def test_text_under_a_type_that_has_no_reader_of_text_is_read_as_text(declared: str) -> None:
    document = extract(b"interface Berth<T> {\n  id: T\n}\n", url="https://a.example/berth.ts", content_type=declared)
    assert (document.text, document.media_type) == ("interface Berth<T> {\n  id: T\n}\n", "text/plain")


def test_text_under_a_binary_type_is_read_by_the_suffix_of_its_address() -> None:
    table = extract(b"a,b\n1,2\n", url="https://a.example/rows.csv", content_type="application/vnd.made-up")
    assert table.text == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    page = extract(b"<!doctype html><p>words", url="", content_type="video/mp4; charset=utf-8")
    assert (page.text, page.media_type) == ("words\n", "text/html")


@pytest.mark.parametrize("declared", ["text/html", "text/html; charset=utf-8", "text/plain", "", "video/mp2t"])
def test_json_under_another_type_keeps_its_tags_and_signs(declared: str) -> None:
    document = extract(b'{"log": "<b>0</b> &amp; more"}', url="https://a.example/", content_type=declared)
    assert document.media_type == "application/json"
    assert '"log": "<b>0</b> &amp; more"' in document.text
    lines = extract(b'{"log": "<b>0</b>"}\n{"log": "<i>1</i>"}\n', url="", content_type=declared)
    assert lines.media_type == "application/jsonl"
    assert '{"log": "<b>0</b>"}\n{"log": "<i>1</i>"}\n' in lines.text


def test_a_page_or_log_that_begins_like_json_is_none() -> None:
    assert sniff(b"{% if x %}<p>words", "text/html") == "text/html"
    assert sniff(b"[2026-01-01] started\n[2026-01-02] stopped\n", "text/plain") == "text/plain"
    assert sniff(b"[" * 100_000, "text/plain") == "text/plain"


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declared", ["", "text/plain", "application/octet-stream", "application/vnd.lotus-organizer"])
@pytest.mark.parametrize(
    "text",
    ["Berth 7 is open.\nIt closes at 18:00.\n", "Größe 7\n", "Причал 7 открыт.\n", "七号泊位开放。\n它关闭。\n",
     "バースは開いています。\n", "fine 😀\n", "open"],
)  # fmt: skip
def test_utf_16_without_a_mark_is_text(charset: str, declared: str, text: str) -> None:
    for repeated in (text, text * 3_000):
        assert extract(repeated.encode(charset), url="", content_type=declared).text == repeated
