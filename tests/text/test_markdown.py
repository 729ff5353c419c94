"""Markdown is parsed into ordered blocks with exact offsets and the headings above them."""

from __future__ import annotations

import time
from urllib.parse import urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyhole.text.markdown import Block, expand_links, find_link_origin, line_ranges, parse_blocks, shorten_link
from tests.support.machine import allowed

PIECES = st.sampled_from(
    [
        "# ", "## ", "###### ", "####### ", "```", "```python", "~~~", "~~~~", "    ", " ", "\t", "\n", "\n\n", "- ",
        "* ", "12. ", "| a | b |", "|---|", "> ", "word", "word word", "#", "`code`", "\r", "\x0b", "\u2028", "é", "中",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)


def kinds_and_texts(text: str) -> list[tuple[str, str]]:
    """Return the kind and the exact text of each block."""
    return [(block.kind, text[block.start : block.end]) for block in parse_blocks(text)]


def paths(text: str) -> list[tuple[str, ...]]:
    return [block.heading_path for block in parse_blocks(text)]


@given(TEXTS)
def test_the_lines_joined_equal_the_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in line_ranges(text)) == text


@given(TEXTS)
def test_blocks_are_ordered_do_not_overlap_and_lie_inside_the_text(text: str) -> None:
    position = 0
    for block in parse_blocks(text):
        assert position <= block.start < block.end <= len(text)
        position = block.end


@given(TEXTS)
def test_only_blank_lines_lie_between_blocks(text: str) -> None:
    position = 0
    for block in (*parse_blocks(text), Block("paragraph", (), len(text), len(text))):
        assert not text[position : block.start].strip()
        position = block.end


@given(TEXTS)
def test_a_block_begins_and_ends_at_a_line_break(text: str) -> None:
    for block in parse_blocks(text):
        assert block.start == 0 or text[block.start - 1] == "\n"
        assert block.end == len(text) or text[block.end - 1] == "\n"


@given(TEXTS)
def test_the_same_text_gives_the_same_blocks(text: str) -> None:
    assert parse_blocks(text) == parse_blocks(text)


def test_the_first_line_decides_the_kind_of_a_block() -> None:
    text = (
        "# Title\n\nA paragraph\nof two lines.\n\n- one\n- two\n\n1. first\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "> said\n> so\n\n```python\nx = 1\n\n# no heading\n```\nlast"
    )
    assert kinds_and_texts(text) == [
        ("heading", "# Title\n"),
        ("paragraph", "A paragraph\nof two lines.\n"),
        ("list", "- one\n- two\n"),
        ("list", "1. first\n"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("quote", "> said\n> so\n"),
        ("code", "```python\nx = 1\n\n# no heading\n```\n"),
        ("paragraph", "last"),
    ]


def test_an_empty_or_blank_text_has_no_blocks() -> None:
    assert parse_blocks("") == ()
    assert parse_blocks("\n  \n\t\n") == ()


def test_a_block_has_the_path_of_the_headings_above_it() -> None:
    text = "intro\n\n# A\n\ntext\n\n## B\n\ntext\n\n### C ###\n\ntext\n\n## D\n\ntext\n\n# E\n\ntext\n"
    assert paths(text) == [
        (),
        ("A",),
        ("A",),
        ("A", "B"),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "B", "C"),
        ("A", "D"),
        ("A", "D"),
        ("E",),
        ("E",),
    ]


def test_a_heading_needs_a_space_and_at_most_six_hashes() -> None:
    assert kinds_and_texts("#no\n\n####### seven\n\n###### six\n") == [
        ("paragraph", "#no\n"),
        ("paragraph", "####### seven\n"),
        ("heading", "###### six\n"),
    ]


def test_a_heading_ends_the_paragraph_above_it_without_a_blank_line() -> None:
    assert kinds_and_texts("text\n# Title\nmore\n") == [
        ("paragraph", "text\n"),
        ("heading", "# Title\n"),
        ("paragraph", "more\n"),
    ]


def test_a_fence_is_closed_only_by_one_as_long_of_the_same_character() -> None:
    text = "````\n```\n~~~~\n````\nafter\n"
    assert kinds_and_texts(text) == [("code", "````\n```\n~~~~\n````\n"), ("paragraph", "after\n")]


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert kinds_and_texts("a\n\n```\ncode\n\n# code") == [("paragraph", "a\n"), ("code", "```\ncode\n\n# code")]


@pytest.mark.parametrize("marker", ["- ", "1. ", "* - ", "    ", "      "])
def test_a_fence_may_begin_a_list_item_or_be_inside_one(marker: str) -> None:
    inside = " " * len(marker)
    text = f"{marker}```sh\n{inside}# make\n\n{inside}make\n{inside}```\n\n# Next\n"
    assert [kind for kind, _ in kinds_and_texts(text)] == ["code", "heading"]
    assert paths(text) == [(), ("Next",)]


@pytest.mark.parametrize("end", ["> ```\n", ""], ids=["closed", "ended by the quote"])
def test_a_fence_may_stand_in_a_quote(end: str) -> None:
    text = f"> **Note**\n>\n> ```\n> # code\n>\n> code\n{end}\n# Next\n"
    assert [kind for kind, _ in kinds_and_texts(text)] == ["quote", "code", "heading"]
    assert paths(text)[-1] == ("Next",)


def test_inline_code_in_three_backticks_does_not_open_a_fence() -> None:
    """CommonMark, section 4.5: the info string of a backtick fence has no backticks."""
    text = "```make``` builds it.\n\n# Next\n\ntext\n"
    assert [kind for kind, _ in kinds_and_texts(text)] == ["paragraph", "heading", "paragraph"]
    assert paths(text) == [(), ("Next",), ("Next",)]


def test_other_unicode_line_separators_do_not_end_a_line() -> None:
    assert kinds_and_texts("a\u2028# b\x0b# c\r# d\n") == [("paragraph", "a\u2028# b\x0b# c\r# d\n")]


def test_a_long_heading_is_shortened_in_the_path_and_not_in_the_text() -> None:
    text = "# " + "long " * 1_000 + "\n\ntext\n"
    heading, below = parse_blocks(text)
    assert heading.end == text.index("\n") + 1
    assert len(below.heading_path[0]) <= 120


@pytest.mark.parametrize(
    "line",
    ["# a" + " " * 1_500 + "b", "# a" + " #" * 750 + "b", "# a" + "#" * 1_500 + "b", " " * 1_500 + "x", "`" * 1_500],
    ids=["spaces", "spaced hashes", "hashes", "indent", "backticks"],
)
def test_no_line_is_slow_to_parse(line: str) -> None:
    started = time.process_time()
    parse_blocks((line + "\n") * 3)
    assert time.process_time() - started < allowed(0.5)


# Links

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
