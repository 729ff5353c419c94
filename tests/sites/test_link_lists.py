"""The lists that sites have of their pages, as they are on the web."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.sites.link_lists import (
    MAX_URL_CHARS,
    Link,
    read_html_links,
    read_inventory_links,
    read_markdown_links,
    read_sitemap,
)

PAGE = "https://docs.example/en/1.0/guide/"


def inventory(*lines: str) -> bytes:
    head = b"# Sphinx inventory version 2\n# Project: Works\n# Version: 1.0\n# The rest is compressed using zlib.\n"
    return head + zlib.compress("".join(f"{line}\n" for line in lines).encode())


def test_the_links_of_a_page_are_absolute_and_have_their_text() -> None:
    body = b"""<a href="valves.html#open">The <b>valves</b></a> <a href=/pumps>Pumps</a><a name=x>no link</a>
    <a href="https://other.example/a?b=1&amp;c=2">Other</a><a href="mailto:a@example.org">mail</a>"""
    assert read_html_links(body, PAGE) == (
        Link(f"{PAGE}valves.html", "The valves"),
        Link("https://docs.example/pumps", "Pumps"),
        Link("https://other.example/a?b=1&c=2", "Other"),
    )


def test_the_base_of_a_page_holds_for_its_relative_links() -> None:
    assert read_html_links(b'<base href="/v2/"><a href="a">A</a>', PAGE) == (Link("https://docs.example/v2/a", "A"),)


def test_links_that_follow_each_other_without_an_end_are_all_read() -> None:
    assert [link.title for link in read_html_links(b"<a href=a>One<a href=b>Two</a>", PAGE)] == ["One", "Two"]


def test_an_address_that_is_too_long_to_name_is_left_out() -> None:
    assert read_html_links(f'<a href="/{"x" * MAX_URL_CHARS}">long</a>'.encode(), PAGE) == ()


def test_a_sitemap_names_its_pages() -> None:
    body = b"<urlset><url><loc> https://docs.example/a?x=1&amp;y=2 </loc></url><url><loc>/b</loc></url></urlset>"
    assert [link.url for link in read_sitemap(body, PAGE)] == [
        "https://docs.example/a?x=1&y=2", "https://docs.example/b",
    ]  # fmt: skip


def test_the_sections_of_an_llms_txt_name_pages() -> None:
    body = b"# Works\n\n## Docs\n\n- [Valves](/valves.md): how they open\n- [Wiki](https://a.example/b_(c)): more\n"
    assert read_markdown_links(body, "https://docs.example/llms.txt") == (
        Link("https://docs.example/valves.md", "Valves"),
        Link("https://a.example/b_(c)", "Wiki"),
    )


def test_an_inventory_names_each_page_with_what_it_documents() -> None:
    body = inventory(
        "works.open py:function 1 api/valves.html#$ -",
        "works.close py:function 1 api/valves.html#$ -",
        "api/valves std:doc -1 api/valves.html All valves",
    )
    assert read_inventory_links(body, "https://docs.example/en/1.0/objects.inv") == (
        Link("https://docs.example/en/1.0/api/valves.html", "All valves works.open works.close"),
    )


def test_a_damaged_inventory_names_what_comes_before_the_damage() -> None:
    assert read_inventory_links(b"# Sphinx inventory version 2\n#\n#\n#\nnot zlib", PAGE) == ()
    assert read_inventory_links(b"<html>", PAGE) == ()


@pytest.mark.parametrize("read", [read_html_links, read_sitemap, read_markdown_links, read_inventory_links])
@given(body=st.binary(max_size=400))
def test_any_bytes_are_read_without_an_error(read: object, body: bytes) -> None:
    assert callable(read)
    assert isinstance(read(body, PAGE), tuple)
