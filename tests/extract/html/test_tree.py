"""Parsing of arbitrary and hostile pages."""

from __future__ import annotations

import time

import pytest

from keyhole.extract.html.tree import parse_html


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
    assert time.process_time() - start < 2
    assert all(word in text for word in ("before", "inside", "after"))


def test_a_tag_with_many_attributes_keeps_them_all() -> None:
    crowd = " ".join(f"data-a{n}='{n}'" for n in range(1_500))
    (tag,) = parse_html(f"<body><p {crowd} title=last>text</p>").iter("p")
    assert tag.get("title") == "last"


def test_a_hundred_thousand_unclosed_tags_are_parsed_in_time() -> None:
    start = time.process_time()
    parse_html("<div>" * 100_000 + "x")
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""), ("  ", ""), ("<!-- only a comment -->", ""), ("plain", "plain"), ("\x00<p>b", "b"),
        ("\ud800<p>a", "?a"),
        ('<?xml version="1.0" encoding="latin1"?><html><p>é', "é"), ("<frameset>", ""), ("<!DOCTYPE html>", ""),
    ],
)  # fmt: skip
def test_any_text_is_parsed(html: str, text: str) -> None:
    assert parse_html(html).text_content() == text
