"""Extraction from bytes to a document: choice of the reader, rejected bodies, and every recorded page."""

from __future__ import annotations

import contextlib
import gc
import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract, sniff
from keyhole.extract.formats.plain_text import clean_plain_text
from keyhole.records import Document
from keyhole.text.markdown import parse_blocks
from tests.support.machine import allowed

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
URL = "https://example.org/page"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/response.json"))


def read(body: str | bytes, content_type: str = "text/html; charset=utf-8") -> Document:
    return extract(body if isinstance(body, bytes) else body.encode(), url=URL, content_type=content_type)


def failure(body: bytes, content_type: str) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        read(body, content_type)
    return caught.value


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_page_gives_the_expected_document(name: str) -> None:
    response = json.loads((FIXTURES / name / "response.json").read_text("utf-8"))
    expected = json.loads((FIXTURES / name / "expected.json").read_text("utf-8"))
    body = (FIXTURES / name / "body").read_bytes()
    document = extract(body, url=response["url"], content_type=response["headers"]["content-type"])
    assert document.title == expected["title"]
    assert document.media_type == expected["media_type"]
    assert expected["contains"]
    for text in expected["contains"]:
        assert text in document.main
    for text in expected["absent"]:
        assert text not in document.main


def test_there_are_recorded_pages() -> None:
    assert len(NAMES) >= 5


def test_the_extract_package_is_callable_after_its_import() -> None:
    """Importing `keyhole.extract`, as this file does, rebinds the name of the function to the package."""
    document = keyhole.extract(b"<p>words", url=URL, content_type="text/html")
    assert document == read("<p>words", "text/html")


def test_a_document_has_its_blocks_language_and_removal_counts() -> None:
    document = read("<html lang=de><title>T</title><nav>x</nav><b hidden>y</b><h1>Kopf</h1><p>Text</p></html>")
    assert document.title == "T"
    assert document.language == "de"
    assert document.media_type == "text/html"
    assert document.main == "# Kopf\n\nText\n"
    assert document.text == "# Kopf\n\nText\n\n# [rest: navigation]\n\nx\n"
    assert [(block.kind, block.heading_path) for block in parse_blocks(document.text)] == [
        ("heading", ("Kopf",)),
        ("paragraph", ("Kopf",)),
        ("heading", ("[rest: navigation]",)),
        ("paragraph", ("[rest: navigation]",)),
    ]
    assert document.removed == (("hidden", 1),)


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "TEXT/X-PYTHON; charset=utf-8",
        "application/json",
        "application/ld+json",
        "application/vnd.api+json",
        "application/xml",
        "application/atom+xml",
        "image/svg+xml",
        "application/yaml",
    ],
)
def test_text_formats_are_unchanged(content_type: str) -> None:
    body = '{"a":   [1,\n\n\n2]}  <b>&amp;</b>'
    document = read(body, content_type)
    assert document.text == body
    assert document.media_type == content_type.partition(";")[0].lower()


@pytest.mark.parametrize(
    "content_type", ["", "application/octet-stream", "application/x-unknown", "*/*", "text", "html;x"]
)
def test_for_a_generic_type_the_body_determines_the_type(content_type: str) -> None:
    assert sniff(b"  \n<!DOCTYPE html><p>x", content_type) == "text/html"
    assert sniff(b"\xef\xbb\xbf<HTML>", content_type) == "text/html"
    assert sniff(b"# words", content_type) == "text/plain"
    assert sniff(bytes(100), content_type) == "application/octet-stream"


def test_html_sent_as_plain_text_is_read_as_html() -> None:
    assert read("<!doctype html><p>words", "text/plain").text == "words\n"
    assert read("words < more", "text/plain").text == "words < more"


def test_utf_16_without_a_byte_order_mark_is_text_if_the_header_declares_it() -> None:
    assert read("größere words".encode("utf-16-le"), "text/plain; charset=utf-16le").text == "größere words"


def test_a_specific_type_is_trusted() -> None:
    assert sniff(b"<!doctype html>", "application/json") == "application/json"
    assert read("<!doctype html><p>x", "text/markdown").text == "<!doctype html><p>x"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"OggS\0...", "application/ogg"),
        (b"wo\0\0s", "application/pdf"),
        (b"wo\0\0s", "image/png"),
        (b"wo\0\0s", "video/mp4"),
        (b"wo\0\0s", "application/zip"),
        (bytes(100), "text/html"),
        (bytes(100), ""),
    ],
)
def test_a_binary_body_is_rejected_with_its_type_and_size(body: bytes, content_type: str) -> None:
    error = failure(body, content_type)
    assert error.code is Code.UNSUPPORTED_MEDIA
    assert error.facts == {"bytes": len(body)}
    assert f"{len(body):,} bytes" in error.message
    assert (content_type or "octet-stream") in error.message


@pytest.mark.parametrize("content_type", ["application/pdf", "text/html", "text/plain", "image/png", ""])
@pytest.mark.parametrize("body", [b"%PDF-1.7 ...", b"\x89PNG\r\n\x1a\n"])
def test_a_damaged_file_fails_as_its_format_under_any_header(body: bytes, content_type: str) -> None:
    error = failure(body, content_type)
    assert error.code is Code.EXTRACTION_FAILED
    assert error.facts == {"bytes": len(body)}
    assert f"{len(body):,} bytes" in error.message


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "text/html"),
        (b"", ""),
        (b" \n\t\r\n", "text/plain"),
        (b"\x01\x02\x03", "text/plain"),
        (b"<html><body></body></html>", "text/html"),
        (b"<html><body><script>app()</script><div id=root></div></body></html>", "text/html"),
        (b"<p hidden>words</p>", "text/html"),
    ],
)
def test_a_page_without_text_is_an_empty_document(body: bytes, content_type: str) -> None:
    error = failure(body, content_type)
    assert error.code is Code.EMPTY_DOCUMENT
    assert ("perhaps only pictures" in error.message) == bool(body.strip())


def test_an_inlined_image_in_markdown_becomes_its_description() -> None:
    text = "![a dot](data:image/png;base64,AAAA=) and ![chart](https://example.org/c.png) and ![b]( <data:x> 'title')"
    assert read(text, "text/markdown").text == "[IMAGE: a dot] and ![chart](https://example.org/c.png) and [IMAGE: b]"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n# The title #\n\ntext", "The title"),
        ("## Second level\n# First", "Second level"),
        ("#no title\n\n### nor this", ""),
        ("x" * 3_000 + "\n# Too late", ""),
        ("#   ", ""),
    ],
)
def test_the_title_of_plain_text_is_its_first_heading_near_the_top(text: str, title: str) -> None:
    assert clean_plain_text(text)[0] == title


SLOW = {
    "spaced heading": "# a" + " " * 1_500 + "b\n",
    "image cut in the middle": "words ![a](data:image/png;base64," + "A" * 100_000,
    "many images cut in the middle": "words " + "![a](data:" * 300,
    "many brackets": "words " + "![" * 100_000,
    "many fences": "words\n" + "```a\n" * 50_000,
}


@pytest.mark.parametrize("name", list(SLOW))
def test_no_plain_text_is_slow_to_read(name: str) -> None:
    started = time.process_time()
    read(SLOW[name], "text/markdown")
    assert time.process_time() - started < allowed(2)


TAGS = st.sampled_from(
    ["<p>", "</p>", "<div>", "<div hidden>", "<table>", "<tr>", "<td colspan=2>", "<td colspan='²'>", "<ol start=3>",
     "<ol start='½'>", "<ul>", "<li>", "<pre>", "<code class=language-x>", "</pre>", "<a href='http://['>", "</a>",
     "<a href=x>", "<img src=data:x alt=y>", "<img src=/x>", "<base href='//['>", "<base href=/b>", "<h1>", "<h2>",
     "<h7>", "<main>", "<article>", "<nav>", "<form>", "<br>", "<hr>", "<!-- c -->", "<![CDATA[x]]>", "<?xml x?>",
     "<title>", "</title>", "<script>", "</script>", "<svg>", "<math>", "<template>", "<blockquote>", "<dl><dt>",
     "<dd>", "<soup>", "<html lang=x>", "<body style='display:none'>", "&#xD800;", "&#0;", "&nbsp;", "&", "<", "words",
     "```", "\n", "# "]
)  # fmt: skip
HTML = st.lists(TAGS | st.text(max_size=4), max_size=25).map(lambda parts: "".join(parts).encode("utf-8", "replace"))
TYPES = st.sampled_from(
    ["text/html", "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=idna", "", "text/plain",
     "text/markdown", "application/json", "application/pdf", "application/octet-stream", "image/svg+xml", "nonsense"]
)  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HTML | st.binary(max_size=300), TYPES | st.text(max_size=20))
def test_any_body_gives_a_document_or_an_error_code_deterministically(body: bytes, content_type: str) -> None:
    outcomes: list[object] = []
    for _ in range(2):
        try:
            outcomes.append(extract(body, url=URL, content_type=content_type))
        except KeyholeError as error:
            outcomes.append((error.code, error.message))
    first, second = outcomes
    assert first == second
    if isinstance(first, Document):
        assert first.text.strip()
        first.text.encode("utf-8")
        first.title.encode("utf-8")
        assert all(0 <= block.start < block.end <= len(first.text) for block in parse_blocks(first.text))
    else:
        assert isinstance(first, tuple)
        assert first[0] in {Code.UNSUPPORTED_MEDIA, Code.EMPTY_DOCUMENT, Code.EXTRACTION_FAILED}


@pytest.mark.parametrize("html", ["<p>A paragraph of text.", "<p hidden>hidden"])
def test_garbage_collection_goes_on_after_a_page_is_read_or_refused(html: str) -> None:
    with contextlib.suppress(KeyholeError):
        extract(html.encode(), url="https://example.org/", content_type="text/html")
    assert gc.isenabled()
