"""A page's Markdown is found in its head or Link header, on its own origin only."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from keyhole.fetch.alternate_link import find_markdown_url
from tests.support.fakes import page
from tests.support.machine import allowed

URL = "https://docs.example/guide/start"
FOUND = "https://docs.example/guide/start.md"
LINK = '<link rel="alternate" type="text/markdown" href="start.md">'


def find(head: str, *, link: str = "", content_type: str = "text/html") -> str:
    return find_markdown_url(replace(page(URL, head, content_type), link=link))


@pytest.mark.parametrize(
    "head",
    [
        LINK,
        "<!doctype html><head><meta charset=utf-8>" + LINK,
        "<LINK HREF=/guide/start.md TYPE='text/markdown; charset=utf-8' REL='nofollow alternate' />",
        '<link rel=alternate type="application/rss+xml" href=/feed>' + LINK.replace("/markdown", "/x-markdown"),
        '<link rel="alternate" type="text/markdown" href="https://docs.example:443/guide/start.md">',
        '<link rel="alternate" type="text/markdown" href="/llms.txt">' + LINK,
        '<link rel="alternate" type="text/markdown" href="https://other.example/x.md">' + LINK,
    ],
)
def test_a_link_in_the_head_is_found(head: str) -> None:
    assert find(head) == FOUND


@pytest.mark.parametrize(
    "head",
    [
        "",
        "<link rel=alternate type=text/html href=start.md>",
        "<link rel=stylesheet type=text/markdown href=start.md>",
        "<link rel=alternate type=text/markdown>",
        '<link rel=alternate type=text/markdown href="">',
        "<link rel=alternate type=text/markdown href=start>",
        "<link rel=alternate type=text/markdown hreflang=de href=start.de.md>",
        "<link rel=alternate type=text/markdown href=http://docs.example/guide/start.md>",
        "<link rel=alternate type=text/markdown href=https://docs.example:8443/guide/start.md>",
        "<link rel=alternate type=text/markdown href=https://docs.example@evil.example/x.md>",
        "<link rel=alternate type=text/markdown href=https://a.docs.example/x.md>",
        "<link rel=alternate type=text/markdown href=file:///etc/passwd>",
        "<link rel=alternate type=text/markdown href=/llms-full.txt>",
        f"<!-- {LINK} -->",
        f"<script>'{LINK}'</script>",
        f"<head></head><body>{LINK}",
        f"<base href=https://docs.example/other/>{LINK}",
    ],
)
def test_other_links_are_ignored(head: str) -> None:
    assert find(head) == ""


def test_the_link_header_takes_precedence() -> None:
    header = '</style.css>; rel=preload, </guide/start.md>; rel="alternate"; type="text/markdown", </b>; rel=next'
    assert find(LINK.replace("start.md", "other.md"), link=header) == FOUND
    assert find("", link='<https://evil.example/x.md>; rel="alternate"; type="text/markdown"') == ""


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "text/markdown", ""])
def test_only_html_has_an_alternate(content_type: str) -> None:
    assert find(LINK, content_type=content_type) == ""


@pytest.mark.parametrize(
    "piece", ["<link ", "<!--", "<link a=", '<link a="', "<script", "<style><", "<link a='\">", "<base "]
)
def test_a_hostile_head_is_searched_in_bounded_time(piece: str) -> None:
    begun = time.process_time()
    find(piece * 100_000, link=piece * 1_000)
    assert time.process_time() - begun < allowed(5)
