"""Links to a page's own origin are paths that give the same URL again, and are written out for readers without it."""

from __future__ import annotations

import time
from urllib.parse import urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyhole.text.links import expand_links, find_link_origin, shorten_link
from tests.support.machine import allowed

ORIGIN = "https://example.org"
ADDRESS = f"{ORIGIN}/docs/page.html?x=1"


@given(st.text(st.sampled_from("/.?#;:@%a=&[]é\\ "), max_size=12))
@example("//[")
def test_a_path_gives_the_same_url_on_its_page(end: str) -> None:
    url = f"https://example.org{end}"
    path = shorten_link(url, ADDRESS)
    assert path == url or (path[0] == "/" and path[:2] != "//" and urljoin(ADDRESS, path) == url)


@pytest.mark.parametrize("address", ["", "page.html", "file:///docs/page.html", "output:command/1"])
def test_without_an_origin_a_url_stays_and_a_path_is_not_written_out(address: str) -> None:
    assert shorten_link("https://example.org/a", address) == "https://example.org/a"
    assert expand_links("[a](/a)", find_link_origin(address, "text/html")) == "[a](/a)"


@pytest.mark.parametrize(
    ("stored", "written"),
    [
        ("See [a](/a) and [b](/b?q#r).", "See [a](https://example.org/a) and [b](https://example.org/b?q#r)."),
        ("[![x]()y](/) [a](</a> 'T')", "[![x]()y](https://example.org/) [a](<https://example.org/a> 'T')"),
        ("\\`[a](/a)\\`", "\\`[a](https://example.org/a)\\`"),
        ("[a](https://example.org/a) [b](//b.example/) [c](c)", None),
        ("`[a](/a)` a/b (/c) ](\n", None),
        ("```\n[a](/a)\n```\n", None),
    ],
)
def test_only_paths_of_links_outside_of_code_are_written_out(stored: str, written: str | None) -> None:
    assert expand_links(stored, ORIGIN) == (stored if written is None else written)


@pytest.mark.parametrize("media_type", ["text/plain", "application/json", "text/x-python", ""])
def test_a_text_as_received_has_no_paths_to_write_out(media_type: str) -> None:
    assert find_link_origin(ADDRESS, media_type) == ""
    assert find_link_origin(ADDRESS, "text/markdown") == ORIGIN


def test_an_older_text_with_full_urls_stays_as_it_is() -> None:
    text = "[a](https://example.org/a)\n"
    assert expand_links(text, ORIGIN) == text


@pytest.mark.parametrize("piece", ["](/", "`](/", "](</", "```\n](/a\n", "\\`"])
def test_no_text_is_slow_to_write_out(piece: str) -> None:
    begun = time.process_time()
    expand_links(piece * (1_000_000 // len(piece)), ORIGIN)
    assert time.process_time() - begun < allowed(15)
