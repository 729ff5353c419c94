"""Parsing: whatever the page, its text is there."""

from __future__ import annotations

import time

import pytest

from keyhole.extract.tree import parse


@pytest.mark.parametrize("tag", ["div", "b", "font", "span", "section", "table", "ul"])
@pytest.mark.parametrize("depth", [300, 3_000, 100_000])
def test_text_below_any_nesting_is_kept(tag: str, depth: int) -> None:
    text = parse(f"<body>{f'<{tag}>' * depth}deep{f'</{tag}>' * depth}<p>after</p>").text_content()
    assert "deep" in text
    assert "after" in text


def test_a_hundred_thousand_open_tags_take_no_longer_than_as_many_closed_ones() -> None:
    start = time.process_time()
    parse("<div>" * 100_000 + "x")
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""), ("  ", ""), ("<!-- only a comment -->", ""), ("plain", "plain"), ("\x00<p>b", "b"),
        ("\ud800<p>a", "?a"),
        ('<?xml version="1.0" encoding="latin1"?><html><p>é', "é"), ("<frameset>", ""), ("<!DOCTYPE html>", ""),
    ],
)  # fmt: skip
def test_any_text_parses(html: str, text: str) -> None:
    assert parse(html).text_content() == text
