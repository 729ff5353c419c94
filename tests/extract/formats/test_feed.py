"""Feeds: facts of the entries, content as Markdown, and broken feeds."""

from __future__ import annotations

import json
import time

import pytest

from keyhole.extract import extract
from keyhole.extract.formats.feed import MAX_ENTRIES
from keyhole.records import Document
from tests.support.machine import allowed

URL = "https://example.org/feed"


def read(body: str, content_type: str = "application/rss+xml") -> Document:
    return extract(body.encode(), url=URL, content_type=content_type)


def rss(items: str, head: str = "<title>News</title>") -> Document:
    return read(f'<rss version="2.0"><channel>{head}{items}</channel></rss>')


def test_an_entry_has_its_facts_above_its_content() -> None:
    document = rss(
        "<item><title>A &lt;b&gt;bold&lt;/b&gt; title</title><link>/one</link>"
        "<dc:creator xmlns:dc='http://purl.org/dc/elements/1.1/'>A. Writer</dc:creator>"
        "<pubDate>Sun, 01 Feb 2026 09:30:00 GMT</pubDate>"
        "<description>&lt;h1&gt;Head&lt;/h1&gt;&lt;p&gt;See "
        "&lt;a href='/x'&gt;this&lt;/a&gt;.&lt;/p&gt;</description></item>",
        "<title>News</title><link>https://example.org/</link><language>de</language><description>About</description>",
    )
    assert document.text == (
        "# News\n\n<https://example.org/>\n\nAbout\n\n1 entry\n\n## A bold title\n\n<https://example.org/one>\n\n"
        "2026-02-01T09:30:00+00:00 · A. Writer\n\n### Head\n\nSee [this](/x).\n"
    )
    assert (document.title, document.language) == ("News", "de")
    assert (document.metadata.site, document.metadata.description) == ("News", "About")


def test_the_full_content_is_preferred_to_the_summary() -> None:
    text = rss(
        "<item><description>short</description>"
        "<content:encoded xmlns:content='http://purl.org/rss/1.0/modules/content/'>"
        "<![CDATA[<p>full</p>]]></content:encoded></item>"
    ).text
    assert "full" in text
    assert "short" not in text


def test_media_elements_do_not_replace_elements_of_the_entry() -> None:
    text = rss(
        "<item xmlns:media='http://search.yahoo.com/mrss/'><media:title>clip</media:title><media:content url='x'/>"
        "<title>The title</title><description>words</description></item>"
    ).text
    assert "## The title\n\nwords\n" in text


def test_an_atom_entry_may_hold_xhtml_and_text() -> None:
    text = read(
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>News</title>'
        '<entry><title type="html">x &amp;lt; y</title><link rel="self" href="/self"/><link href="/a"/>'
        '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One <em>two</em></p></div>'
        "</content></entry>"
        '<entry><title>B</title><content type="text">a &lt;b&gt; stays</content></entry></feed>',
        "text/xml",
    ).text
    assert "## x < y\n\n<https://example.org/a>\n\nOne *two*\n" in text
    assert "## B\n\na &lt;b> stays\n" in text


def test_a_json_feed_is_a_feed_under_any_json_type() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1",
        "title": "N",
        "items": [{"id": "1", "content_html": "<p>w <b>x"}],
    }
    for content_type in ("application/json", "application/feed+json"):
        assert read(json.dumps(feed), content_type).text == "# N\n\n1 entry\n\n## Entry 1\n\nw **x**\n"
    odd = {"version": "https://jsonfeed.org/version/1", "items": [1, {"title": 5, "authors": 7, "attachments": [1]}]}
    assert "## Entry 1" in read(json.dumps(odd), "application/json").text
    assert read('{"version": "https://jsonfeed.org/version/1"}', "application/json").text.startswith("JSON: object")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "<rss><channel><title>T</title><item><title>One</title><description>cut in the mi",
            "## One\n\ncut in the mi\n",
        ),
        ("<rss><channel><title>A &nbsp;&mdash; B & C</title><item/></channel></rss>", "— B"),
        ("<rss><channel><item><dc:title>no namespace</dc:title></item></channel></rss>", "## no namespace\n"),
        ("<rss><channel><item><ti:>x</ti:><title>One</title></item></channel></rss>", "1 entry"),
        ("<rss/>", "<rss/>"),
        ("<rss", "<rss"),
    ],
)
def test_a_broken_feed_is_read_as_far_as_possible(body: str, words: str) -> None:
    assert words in read(body).text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("&#55357;&#56832;", "😀"), ("&#xD83D;&#xDE00;", "😀"), ("&#xd83d;&#56832;", "😀"), ("&#55357;", "�"),
        ("&#56832;&#55357;", "��"), ("&#x110000;", "�"), ("&#11;", ""), ("&#x0;", ""), ("&#xFFFF;", ""), ("\x0b", ""),
        ("\ufffe", ""), ("\x0c", ""), ("&nbsp;", " "), ("&hellip;", "…"), ("&#55357;&#56832;&#11;", "😀"),
    ],
)  # fmt: skip
def test_no_character_or_reference_costs_a_feed_its_entries(written: str, shown: str) -> None:
    one = f"<item><title>One {written}title</title><description>About {written}it</description></item>"
    document = rss(one + "<item><title>Next</title></item>", f"<title>News {written}today</title>")
    assert document.title == f"News {shown}today".replace("  ", " ")
    assert "2 entries\n" in document.text
    assert f"## One {shown}title\n".replace("  ", " ") in document.text
    assert "About " in document.text and "## Next\n" in document.text


def test_a_feed_in_utf_16_keeps_an_emoji_written_as_surrogates() -> None:
    body = '<?xml version="1.0" encoding="utf-16"?><rss><channel><title>A &#55357;&#56832; é</title></channel></rss>'
    document = extract(body.encode("utf-16"), url="https://a.example/", content_type="application/rss+xml")
    assert document.title == "A 😀 é"


def test_entities_are_neither_expanded_nor_fetched() -> None:
    laughs = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 100}">' for n in range(8))
    for declared in (f'<!ENTITY a "ha">{laughs}', '<!ENTITY i SYSTEM "file:///etc/passwd">'):
        body = (
            f"<!DOCTYPE rss [{declared}]><rss><channel><title>T</title><item><title>&i;</title></item></channel></rss>"
        )
        text = read(body).text
        assert len(text) < 2 * len(body) + 100
        assert "root:" not in text


def test_only_the_first_entries_of_a_long_feed_are_converted() -> None:
    started = time.process_time()
    text = rss("<item><title>t</title><description>&lt;b&gt;x</description></item>" * 20_000).text
    assert text.count("**x**") == MAX_ENTRIES
    assert text.count("## t\n") == 20_000
    assert time.process_time() - started < allowed(8)


@pytest.mark.parametrize(
    "words", ["![a](https://a.example/?q=)", "[r]: https://a.example", "&amp;lt;img src=x&amp;gt;"]
)
def test_markdown_in_plain_text_is_escaped(words: str) -> None:
    text = rss(
        f"<item><title>{words}</title><description>{words}</description></item>", f"<description>{words}</description>"
    ).text
    assert not any(live in text for live in ("![a](", "[r]: ", "<img"))
