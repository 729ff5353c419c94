"""The scores of the extraction benchmark: words of Markdown, agreement of words, and generated pages."""

from __future__ import annotations

import time

import pytest

from benchmarks.extraction.peers.growth import HOSTILE, grow
from benchmarks.extraction.peers.scores import compare_words, extract_visible_text, score
from tests.support.machine import allowed


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("# A *very* __plain__ ~~old~~ title", "A very plain old title"),
        ("see [the label](https://example.com/a_(b)?q=1 'A title') here", "see the label here"),
        ('[label](\nhttps://example.com/x\n "two\nlines")', "label"),
        ("[an [inner] label](/x) and [no link] (aside)", "an [inner] label and [no link] (aside)"),
        ("[words](that are not an address)", "[words](that are not an address)"),
        ("![an image](/i.png) [![linked](/i.png)](/to) end", "end"),
        ("![inlined](data:image/png;base64,iVBORw0KGgo=) end", "end"),
        ("[1]: https://example.com/definition\ntext", "text"),
        ("noted[^1]\n\n[^1]: The *text* of the note.", "noted[^1] [^1]: The text of the note."),
        ("<https://example.com/> and <span class='x'>tagged</span>", "https://example.com/ and tagged"),
        (r"snake\_case \*starred\* 1\. _leaning_ in_the_middle", "snake_case *starred* 1. leaning in_the_middle"),
        ("`a_*b*_[c](d)` and ``two ` ticks``", "a_*b*_[c](d) and two ` ticks"),
        ("[`code` in a label](/x)", "code in a label"),
        ("not closed ` here\nand ` there", "not closed ` here and ` there"),
    ],
)
def test_markdown_is_reduced_to_its_visible_words(markdown: str, shown: str) -> None:
    assert extract_visible_text(markdown).replace("#", "").split() == shown.split()


def test_fenced_code_is_unchanged_and_its_language_is_removed() -> None:
    reduced = extract_visible_text("before\n```python\nx = a[0](**k) # *not* emphasis\n```\n*after*\n")
    assert reduced == "before\nx = a[0](**k) # *not* emphasis\nafter\n"


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    assert extract_visible_text("~~~\n*a*\n```\n*b*") == "*a*\n```\n*b*"


def test_agreement_counts_repeated_words_and_ignores_order_and_case() -> None:
    f1, recall, precision = compare_words("The road the RIVER", "the river the mail")
    assert (f1, recall, precision) == (0.75, 0.75, 0.75)
    assert compare_words("road road", "road") == pytest.approx((2 / 3, 1.0, 0.5))


def test_an_empty_text_agrees_only_with_an_empty_text() -> None:
    assert compare_words("", " ") == (1.0, 1.0, 1.0)
    assert compare_words("", "words") == compare_words("words", "") == (0.0, 0.0, 0.0)


def test_snippets_are_found_in_the_visible_text_regardless_of_spaces_and_case() -> None:
    scored = score("Read **the\nfirst** [chapter](/menu)", "Read the first chapter", ["The first  chapter"], ["menu"])
    assert (scored.f1, scored.must, scored.clean) == (1.0, (True,), (True,))
    assert score("menu", "text", ["text"], ["Menu"]).clean == (False,)


@pytest.mark.parametrize("hostile", ["[", "](", "[a](", "`", "_", "<a ", "\\", "```\n", '[a]("', "![", "*_`["])
def test_hostile_text_is_reduced_in_linear_time(hostile: str) -> None:
    start = time.process_time()
    extract_visible_text(hostile * (50_000 // len(hostile)))
    assert time.process_time() - start < allowed(5)


def test_a_page_grows_to_a_size_by_repeating_its_body() -> None:
    page = "<html><head><title>t</title></head><BODY class='a'><p>word</p></BODY></html>"
    grown = grow(page, 1_000)
    assert len(grown) == 1_000
    assert grown.startswith(page[: page.index("<p>")] + "<p>word</p><p>word</p>")
    assert grown.endswith("</BODY></html>")
    assert len(grow("no element at all", 500)) == 500


@pytest.mark.parametrize("name", [name for name in HOSTILE if "MB" not in name])
def test_hostile_pages_are_complete_and_have_many_elements(name: str) -> None:
    page = HOSTILE[name].html()
    assert page.startswith("<!doctype html>")
    assert page.endswith("</body></html>")
    assert page.count("<") > 10_000
    assert len(HOSTILE[name].html(4)) < len(page) / 3.5
