"""A URL in a line of text: no Markdown, no HTML, no invisible character, and still the same page."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from keyhole.fetch.urls import parse_target
from keyhole.text.escape_url import escape_url, shorten_url
from keyhole.text.measure import serialized_size

PARSER = MarkdownIt("commonmark", {"html": True})
PATHS = st.text(st.characters(exclude_characters="\\#?\x00\r\n\t", exclude_categories=["Cs"]), max_size=60)


@pytest.mark.parametrize(
    ("url", "escaped"),
    [
        ("https://a.example/x?y=1&z=(2)#top", "https://a.example/x?y=1&z=(2)#top"),
        ("https://a.example/![x](http://b.example/)", "https://a.example/!%5Bx%5D(http://b.example/)"),
        ("https://a.example/<img/src=x>`y`", "https://a.example/%3Cimg/src=x%3E%60y%60"),
        ("https://a.example/\"'|\\^{}", "https://a.example/%22%27%7C%5C%5E%7B%7D"),
        ("http://[::1]:8080/a[0]", "http://[::1]:8080/a%5B0%5D"),
        ("https://ru.example/%D0%9D%D0%B0%D1%81", "https://ru.example/Нас"),
        ("https://ru.example/%d0%9d%20%E2%80%AE%FF", "https://ru.example/%d0%9d%20%E2%80%AE%FF"),
        ("https://пример.example/наc\u202eос\u3164", "https://пример.example/наc%E2%80%AEос%E3%85%A4"),
        ("https://a.example/100%&%zz", "https://a.example/100%&%zz"),
        ("https://a.example/%65%CC%81", "https://a.example/%65%CC%81"),
    ],
)
def test_only_what_may_do_harm_is_encoded(url: str, escaped: str) -> None:
    assert escape_url(url) == escaped
    assert escape_url(escaped) == escaped


@given(PATHS)
def test_an_escaped_url_leads_to_the_same_page(path: str) -> None:
    url = f"https://a.example/{path}."
    assert unquote(parse_target(escape_url(url)).url) == unquote(parse_target(url).url)


@given(st.text(max_size=60))
def test_an_escaped_url_is_one_word_without_markdown(text: str) -> None:
    escaped = escape_url(text)
    assert not escaped or (escaped.isprintable() and len(escaped.split()) == 1)
    tokens = PARSER.parse(f"See {escaped} here")
    kinds = {part.type for token in tokens for part in token.children or []}
    assert kinds.isdisjoint({"link_open", "image", "html_inline", "code_inline"}), escaped


@given(st.text(max_size=900), st.integers(40, 300))
def test_a_long_url_is_shortened_with_its_length(text: str, limit: int) -> None:
    shown = shorten_url(text, limit)
    assert serialized_size(shown) <= limit
    if shown != escape_url(text):
        assert shown.endswith(f"…({len(escape_url(text)):,} characters)")
        assert escape_url(text).startswith(shown.partition("…(")[0])
