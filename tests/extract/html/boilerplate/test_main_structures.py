"""Code and tables in the box that holds most of the main part belong to it."""

from __future__ import annotations

import pytest

from keyhole.extract.html.boilerplate.classify import include_structures
from keyhole.extract.html.boilerplate.segments import join_lists, segment
from keyhole.extract.html.tree import parse_html

PROSE = "<p>MAIN: a sentence of the manual that explains much.</p>" * 9
TABLE = "<table><tr><td>1<td>2<tr><td>3<td>4</table>"


def list_added(html: str) -> list[str]:
    """Return the texts that are added to the blocks with "MAIN" in their text."""
    blocks = join_lists(segment(parse_html(f"<body><div>Menu</div><div class=page>{html}</div>"))).blocks
    is_main = ["MAIN" in block.text for block in blocks]
    result = include_structures(blocks, is_main)
    return [block.text for block, old, new in zip(blocks, is_main, result, strict=True) if new and not old]


@pytest.mark.parametrize(
    ("html", "added"),
    [
        ("<pre>x = 1</pre>", "x = 1"),
        (TABLE, "1 2 3 4"),
        ("<ol><li>Run:<pre>make</pre></ol>", "Run: make"),
        ("<div class=fragment><div class=line>int a;</div></div>", "int a;"),
    ],
)
def test_code_and_tables_far_from_prose_of_the_main_part_are_main(html: str, added: str) -> None:
    assert list_added(f"{PROSE}<div class=notes><h2>MAIN</h2><p>A note.</p>{html}</div>") == [added]


def test_code_outside_of_the_box_of_the_main_part_is_not_added() -> None:
    assert list_added(f"<div>{PROSE}</div><div><p>A note.</p><pre>x = 1</pre></div>") == []


def test_a_table_of_links_is_not_added() -> None:
    links = "<table><tr><td><a href=/a>One</a><td><a href=/b>Two</a><tr><td><a href=/c>Three</a><td></table>"
    assert list_added(f"{PROSE}{links}") == []


def test_nothing_is_added_to_a_page_that_is_mostly_rest() -> None:
    teasers = "<div><p>A teaser of another page.</p></div>" * 30
    assert list_added(f"<div>{PROSE}</div>{teasers}<div><p>A teaser.</p><pre>x = 1</pre></div>") == []
    assert list_added("<p>A teaser.</p><pre>x = 1</pre>") == []
