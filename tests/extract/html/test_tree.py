"""Parsing of arbitrary and hostile pages."""

from __future__ import annotations

import copy
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from keyhole.errors import KeyholeError
from keyhole.extract.html.page import read_html
from keyhole.extract.html.tree import parse_html
from tests.support.machine import allowed


@pytest.mark.parametrize("tag", ["div", "b", "font", "span", "section", "table", "ul"])
@pytest.mark.parametrize("depth", [300, 3_000, 100_000])
def test_text_at_any_depth_is_kept(tag: str, depth: int) -> None:
    text = parse_html(f"<body>{f'<{tag}>' * depth}deep{f'</{tag}>' * depth}<p>after</p>").text_content()
    assert "deep" in text
    assert "after" in text


@pytest.mark.parametrize("attribute", ["a{n}=1 ", 'a{n}="1"', "a{n}/", "a{n} = '>' "])
def test_a_tag_with_a_hundred_thousand_attributes_is_read_in_time(attribute: str) -> None:
    crowd = "".join(attribute.format(n=n) for n in range(100_000))
    start = time.process_time()
    text = parse_html(f"<body><p>before<div id=kept {crowd}>inside</div><p>after").text_content()
    assert time.process_time() - start < allowed(2)
    assert all(word in text for word in ("before", "inside", "after"))


def test_a_tag_with_many_attributes_keeps_them_all() -> None:
    crowd = " ".join(f"data-a{n}='{n}'" for n in range(1_500))
    (tag,) = parse_html(f"<body><p {crowd} title=last>text</p>").iter("p")
    assert tag.get("title") == "last"


def test_a_hundred_thousand_unclosed_tags_are_parsed_in_time() -> None:
    start = time.process_time()
    parse_html("<div>" * 100_000 + "x")
    assert time.process_time() - start < allowed(2)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""), ("  ", ""), ("<!-- only a comment -->", ""), ("plain", "plain"), ("\x00<p>b", "\x7fb"),
        ("\ud800<p>a", "\ufffda"), ("&#55357;&#56832;", "😀"),
        ('<?xml version="1.0" encoding="latin1"?><html><p>é', "é"), ("<frameset>", ""), ("<!DOCTYPE html>", ""),
    ],
)  # fmt: skip
def test_any_text_is_parsed(html: str, text: str) -> None:
    assert parse_html(html).text_content() == text


# Characters and names that the tree does not accept again.

MARKUP = st.sampled_from(
    ["<script></script>", "<p>", "</p>", "<p title='", "'>", "<x:y>", '<a"b>', "<a{b}c>", "<p {u}x=1>", "<p {u=1>",
     "<p xmlns:a=b a:c=d>", "<title>", "</title>", "<!--", "-->", "<template>", "<svg>", "<select>", "<table>", "<?",
     "&#11;", "&#xB", "&#0;", "&#xFFFF;", "&#55357;", "\x0b", "\x00", "\x1b", "\ufffe", "\f", "words", " "]
)  # fmt: skip
"""Markup, characters and names that XML does not allow."""


def rewrite(element: etree._Element) -> None:
    """Write everything in a tree again, drop a copy of each part, and serialise the rest."""
    for node in list(element.iter()):
        node.text, node.tail = node.text, node.tail
    for node in list(copy.deepcopy(element).iter("*")):
        if node.getparent() is not None:
            node.drop_tree()
    etree.tostring(element)


@pytest.mark.parametrize("deep", ["", "<div>" * 3_000])
@given(pieces=st.lists(MARKUP, max_size=20))
@settings(deadline=None, max_examples=100)
def test_the_tree_of_any_page_can_be_changed(deep: str, pieces: list[str]) -> None:
    rewrite(parse_html(deep + "".join(pieces)))


@given(st.text() | st.lists(MARKUP | st.text(max_size=5), max_size=30).map("".join))
@settings(deadline=None)
def test_any_text_is_read_as_html_or_refused_with_an_error_code(text: str) -> None:
    with suppress(KeyholeError):
        read_html(text, "https://a.example/").text.encode("utf-8")


@pytest.mark.parametrize("sign", ["\x0b", "&#11;", "&#xB", "\x01", "&#0;", "\uffff", "&#xFFFE;"])
def test_a_script_before_an_invalid_character_is_dropped(sign: str) -> None:
    page = f"<p>The road<script>track()</script>{sign} follows the river.<p style='display:none'>never</p>"
    assert read_html(page, "https://a.example/").text == "The road follows the river.\n"


def test_an_invalid_character_forms_no_tag() -> None:
    text = read_html("<style>p {}</style\x0b><p>hidden</style\x00>hidden</style><p>shown<scr\x0bipt>shown", "").text
    assert text == "shownshown\n"


def test_odd_names_in_a_deep_page_lose_no_text() -> None:
    deep = "<div>" * 3_000
    for odd in (
        "<p {u=1>",
        "<x:y {u}v=2>",
        "<a{b>",
        "<a}>",
        "<p }=3>",
        '<c"d>',
        "<c'd>",
        "<a<b>",
        "<a&b>",
        "<p '\"=1>",
        "<a\x0b>",
    ):
        assert parse_html(f"{odd}before{deep}inside{odd}after").text_content() == "beforeinsideafter"
