"""XML as text: charsets, root elements, and indentation that keeps significant white space."""

from __future__ import annotations

import time

import pytest
from lxml import etree

from keyhole.extract import extract
from keyhole.extract.formats.xml import indent_xml, parse_xml, sniff_root
from tests.support.machine import allowed


def read(body: bytes) -> str:
    return extract(body, url="", content_type="application/xml").text


LONG = "<item><name>a</name><n>1</n></item>" * 100


def test_xml_with_line_breaks_is_unchanged() -> None:
    body = b'<?xml version="1.0"?>\n<a>\n     <b/>\n</a>'
    assert read(body) == body.decode()


def test_one_long_line_is_indented() -> None:
    text = read(f"<?xml version='1.0'?><list>{LONG}<empty></empty></list>".encode())
    assert text.startswith(
        "<?xml version='1.0'?>\n<list>\n  <item>\n    <name>a</name>\n    <n>1</n>\n  </item>\n  <item>"
    )
    assert text.endswith("  </item>\n  <empty></empty>\n</list>\n")


@pytest.mark.parametrize(
    "inner",
    [
        "<p>one <b>two</b> <i>three</i></p>",
        "<p><b>one</b><i>two</i>three</p>",
        "<p><![CDATA[ <b> ]]><i>x</i></p>",
        "<!-- <a><b> --><c><d/></c>",
        '<a b="x>y"><c/></a>',
    ],
)
def test_text_keeps_its_white_space(inner: str) -> None:
    before = f"<list>{LONG}{inner}</list>"
    after = indent_xml(before)
    assert "\n" in after

    def texts(markup: str) -> list[str]:
        return [text for text in etree.fromstring(markup).itertext() if text.strip()]

    assert texts(after) == texts(before)
    if inner.startswith("<p>"):
        assert inner in after


def test_declared_white_space_is_kept() -> None:
    text = f'<list xml:space="preserve">{LONG}</list>'
    assert indent_xml(text) == text


def test_the_declared_charset_is_used_if_the_header_has_none() -> None:
    body = '<?xml version="1.0" encoding="iso-8859-2"?><a>łódź</a>'.encode("iso-8859-2")
    assert "łódź" in read(body)


def test_entities_are_shown_and_never_expanded() -> None:
    body = b'<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<a>&x;</a>'
    assert "<a>&x;</a>" in read(body)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_invalid_characters_and_references_lose_no_element(encoding: str) -> None:
    inner = "<b>\x0bone &#55357;&#56832;</b><c d='&#11;&#xDE00;\x1f'>\x00two&#11;</c><e>&#x110000;é</e>"
    source = f'<?xml version="1.0" encoding="{encoding}"?><a>{inner}</a>'
    for root in (parse_xml(source.encode(encoding)), parse_xml(source)):
        assert [(child.tag, child.text) for child in root] == [("b", "one 😀"), ("c", "two\x7f"), ("e", "�é")]
        assert root.find("c").get("d") == "\x7f�"


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", ""), ("words", ""), ("<!-- <rss> --><a/>", "xml"), ("<a:feed xmlns:a='http://www.w3.org/2005/Atom'>", "feed"),
     ("\ufeff<rss>", "feed"), ("<HTML>", "html"), ("<svg:svg>", "svg"), ("<!DOCTYPE rss [ <!-- ", "")],
)  # fmt: skip
def test_the_kind_of_xml_is_found_by_its_root(text: str, kind: str) -> None:
    assert sniff_root(text) == kind


SLOW = {
    "open comments": "<a>" + "<!--" * 300_000,
    "open sections": "<a>" + "<![CDATA[" * 300_000,
    "open instructions": "<a>" + "<?" * 300_000,
    "angles": "<a>" + "<" * 500_000,
    "deep": "<a>" * 200_000,
    "declarations": "<!DOCTYPE a [" + "<!ENTITY a 'b'>" * 100_000,
    "comments before the root": "<!---->" * 200_000,
}


@pytest.mark.parametrize("name", list(SLOW))
def test_no_xml_is_slow_to_read_or_grows_without_bound(name: str) -> None:
    started = time.process_time()
    assert len(read(SLOW[name].encode())) < 30 * len(SLOW[name])
    assert time.process_time() - started < allowed(4)
