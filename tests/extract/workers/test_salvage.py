"""The text of a page that no worker finished is salvaged in linear time."""

from __future__ import annotations

import time

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.salvage import MAX_TEXT, salvage
from keyhole.records import UNDIGESTED, Document, Page
from tests.extensions.documents.pdf.test_pdf_reader import make_pdf
from tests.support.fakes import page
from tests.support.machine import allowed

URL = "https://pages.example/a"


def salvage_page(page: Page) -> tuple[Document, str]:
    return salvage(page.body, page.url, page.content_type, "reading took more than 15 s")


def saved(body: str | bytes, content_type: str = "text/html") -> str:
    return salvage_page(page(URL, body, content_type))[0].text


def test_the_text_of_html_is_saved_without_tags_scripts_and_comments() -> None:
    html = """<!doctype html><html><head><title>A &amp; B</title><script>var x = "</p>";</script>
        <style>p { color: red }</style></head><body><!-- <p>never</p> --><h1>Head</h1><p>One <b>bold</b>
        word &lt; two &eacute;.<p>Next<br>line<SCRIPT>more()</SCRIPT  >end 1 < 2"""
    document, words = salvage_page(page(URL, html))
    assert document.title == "A & B"
    assert document.text.strip() == "Head\n\nOne bold\nword < two é.\n\nNext\n\nline\n\nend 1 < 2"
    assert document.media_type == "text/html"
    assert document.notice == UNDIGESTED
    assert {"bold", "next"} <= set(words.split())


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "text/markdown", "text/csv"])
def test_plain_text_is_unchanged(content_type: str) -> None:
    assert saved('{"a": "<b>"}', content_type) == '{"a": "<b>"}'


def test_the_text_of_xml_is_saved() -> None:
    assert saved("<?xml version='1.0'?><a><b>one</b><c>two</c></a>", "application/xml").split() == ["one", "two"]


def test_hidden_text_is_not_shown() -> None:
    html = """<style>.note{display:none}</style><p>Shown<p hidden>never</p><div style="display:none"><p>never</p></div>
        <p class="note">never</p><dialog>never</dialog><template>never</template><p>too"""
    assert saved(html).split() == ["Shown", "too"]


def test_the_titles_and_the_visible_html_of_a_feed_are_saved() -> None:
    feed = """<rss><channel><title>News</title><item><title>One</title>
        <description>&lt;p&gt;Two &amp;amp; three&lt;/p&gt;
        &lt;p style="display:none"&gt;never&lt;/p&gt;</description></item><item><title>Four</title><description>
        <![CDATA[<p hidden>never</p>five]]></description></item></channel></rss>"""
    assert saved(feed, "application/rss+xml").split() == ["News", "One", "Two", "&", "three", "Four", "five"]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%PDF-1.7\n1 0 obj", "application/pdf"),
        (b"PK\x03\x04" + bytes(100), "application/zip"),
        (bytes(1_000), ""),
        (b"", "text/html"),
        (b"<script>all()</script>", "text/html"),
    ],
)
def test_a_body_without_text_gives_an_error_code(body: bytes, content_type: str) -> None:
    with pytest.raises(KeyholeError) as caught:
        saved(body, content_type)
    assert caught.value.code is Code.EXTRACTION_FAILED
    assert caught.value.message == "reading took more than 15 s"


@pytest.mark.parametrize(
    "piece",
    ["<", "<a", "<!--", "<script>", "<script", "</", "&", "&#", "&#9", "&#x1", "9", " ", "\n", "\u2003", "\u0301",
     "é" * 9, "<![CDATA[", "<title>", "![", "![](data:", "# ", "<?", "\ud800"],
)  # fmt: skip
def test_hostile_bodies_take_linear_time(piece: str) -> None:
    for prefix in ("<p>", "&#", "<title"):
        start = time.process_time()
        try:
            text = saved(prefix + piece * (3_000_000 // len(piece)))
        except KeyholeError:
            text = ""
        assert len(text) <= MAX_TEXT
        assert time.process_time() - start < allowed(5)


def test_the_first_pages_of_a_pdf_file_are_read_and_it_says_how_many_are_not() -> None:
    lines = b"".join(
        b"0 -12 Td(The harbour keeps a list of all boats by quay, with seats and fees)Tj " for _ in range(60)
    )
    pdf = make_pdf(b"BT/F 9 Tf 40 780 Td " + lines + b"ET", pages=200)
    document, words = salvage_page(page(URL, pdf, "application/pdf"))
    assert document.cut
    assert document.media_type == "application/pdf"
    assert "harbour" in words
    assert "more pages are not read.)" in document.text
    assert 10 < len(document.pages) < 100
