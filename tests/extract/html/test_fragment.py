"""The part of a page that the fragment of the requested address names."""

from __future__ import annotations

import pytest

from keyhole.extract.html.page import read_html

URL = "https://a.example/page"


def section(body: str, fragment: str) -> str:
    return read_html(f"<main>{body}</main>", URL, f"{URL}#{fragment}").section


@pytest.mark.parametrize(
    "body",
    [
        "<p>One.</p><section id=b><h2>Two</h2><p>Three.</p></section>",
        "<p>One.</p><a name=b></a><h2>Two</h2><p>Three.</p>",
        "<p>One.</p><h2>Two<a id=b href=#b></a></h2><p>Three.</p>",
        "<p>One.</p><a id=b style='visibility:hidden'></a><h2>Two</h2><p>Three.</p>",
        "<p>One.</p><h2 id=user-content-b>Two</h2><p>Three.</p>",
        "<p>One.</p><h2 id=b>Two</h2><script>var x</script><p hidden>Not shown.</p><p>Three.</p>",
    ],
)
def test_the_words_before_and_after_the_beginning_of_the_part_are_noted(body: str) -> None:
    before, start = section(body, "b").split("\n")
    assert before == "One." and start.replace(" ", "") == "TwoThree."


def test_names_may_be_escaped() -> None:
    assert section("<h2 id='größe'>Two</h2>", "gr%C3%B6%C3%9Fe").endswith("Two")
    assert section("<h2 id='50%25'>Two</h2>", "50%25").endswith("Two")


@pytest.mark.parametrize("fragment", ["", "c", "%00", "x'y\"z", ":~:text=Two"])
def test_a_page_without_the_name_has_no_such_part(fragment: str) -> None:
    assert section("<h2 id=b>Two</h2>", fragment) == ""


def test_the_fragment_does_not_change_the_text() -> None:
    body = "<h1>A</h1><p>x <a id=b></a>y</p>"
    assert read_html(body, URL, f"{URL}#b").text == read_html(body, URL, URL).text
