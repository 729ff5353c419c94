"""Authored Markdown is unchanged except for its relative links."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract import extract
from keyhole.extract.formats.plain_text import resolve_links
from keyhole.records import Document
from tests.support.machine import allowed

URL = "https://docs.example/guide/start.md"


def read(text: str) -> Document:
    return extract(text.encode(), url=URL, content_type="text/markdown; charset=utf-8")


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("[a](next.md)", "[a](/guide/next.md)"),
        ("[a](/x?y=1#z 'T')", None),
        ("![a](../i.png)", "![a](/i.png)"),
        ("[a](<next.md>)", "[a](</guide/next.md>)"),
        ("[a](//cdn.example/x)", "[a](https://cdn.example/x)"),
        ("[a]: next.md 'T'\n", "[a]: https://docs.example/guide/next.md 'T'\n"),
        ("[a](https://b.example/x)", None),
        ("[a](https://docs.example/x)", None),
        ("[a](#part)", None),
        ("[a](mailto:x@y.example)", None),
        ("[a](javascript:alert)", None),
        ("[a](two words)", None),
        ("`[a](next.md)`", None),
        ("```\n[a](next.md)\n```\n", None),
        ("f(x)[0](y", None),
        ("Text: a [word] and ]( nothing", None),
    ],
)
def test_only_relative_links_change(written: str, stored: str | None) -> None:
    assert read(written).text == (written if stored is None else stored)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: The start\nlayout: x\n---\n\n# Other\n", "The start"),
        ("---\nlayout: x\ntitle: 'A \"b\"'\n---\n# Other\n", 'A "b"'),
        ("# Heading #\n\ntitle: no\n", "Heading"),
        ("no title\n", ""),
    ],
)
def test_the_title_comes_from_the_front_matter_else_from_the_first_heading(text: str, title: str) -> None:
    assert read(text).title == title
    assert read(text).text == text


@given(st.text(st.sampled_from("[]()`#:/ax\n -<>") | st.characters(exclude_categories=["Cs"]), max_size=80))
def test_resolving_links_is_idempotent(text: str) -> None:
    once = resolve_links(text, URL)
    assert resolve_links(once, URL) == once


@pytest.mark.parametrize("piece", ["](", "[", "`", "[a]:", "](a", "---\n", "[a](b) ", "``a", "](<"])
def test_no_markdown_is_slow_to_read(piece: str) -> None:
    begun = time.process_time()
    resolve_links(piece * (300_000 // len(piece)), URL)
    assert time.process_time() - begun < allowed(4.5)
