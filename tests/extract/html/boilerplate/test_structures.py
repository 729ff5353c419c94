"""Structures are recognised, and lists and tables that arrange a page are not."""

from __future__ import annotations

import pytest

from keyhole.extract.html.boilerplate.segments import is_structure, is_whole_list
from keyhole.extract.html.tree import parse_html

ROWS = "<tr><td>1<td>2<tr><td>3<td>4"


@pytest.mark.parametrize(
    "html",
    [
        "<pre>code</pre>",
        f"<table>{ROWS}</table>",
        f"<table>{ROWS}<tr><td><p>a</p><ul><li>b</ul><td>c</table>",
        "<table><thead><tr><th><div>a</div><th>b<tbody><tr><td><div>c</div><td>d</table>",
        f"<table><tr><td colspan=2><h2>Methods</h2>{ROWS}<tr><td colspan=2><h2>Fields</h2>{ROWS}</table>",
        "<table><tr><td colspan=2><h2>Types</h2><tr><td>typedef int<td>Index</table>",
        "<div class=fragment><div class=line>int a;</div><div class=ttc>Definition: a.h:1</div></div>",
        "<figure><img><figcaption>A caption</figcaption></figure>",
        "<figure><pre>code</pre><figcaption>A listing</figcaption></figure>",
    ],
)
def test_code_data_tables_and_figures_are_structures(html: str) -> None:
    assert is_structure(parse_html(f"<body>{html}</body>")[0][0])


@pytest.mark.parametrize(
    "html",
    [
        "<p>text</p>",
        "<table><tr><td>one<td>row</table>",
        f"<table role=presentation>{ROWS}</table>",
        f"<table>{ROWS}<tr><td><h2>A part of the page</h2></table>",
        f"<table><tr><td><h2>A card</h2><p>text</p><td>2{ROWS}</table>",
        f"<table><tr><td colspan=2><h2>A page</h2><tr><td>menu<td>{'content ' * 30}</table>",
        "<div class=fragment><div class=line>text</div><p>more text</p></div>",
        f"<table>{ROWS}<tr><td><table>{ROWS}</table></table>",
        "<table><tr><td><div>menu</div><td>content<tr><td>a<td>b</table>",
        f"<table>{ROWS}<tr><td>author<td><p>{'A long post. ' * 200}</p></table>",
        "<figure><h2>A card</h2></figure>",
    ],
)
def test_tables_that_arrange_a_page_are_not_structures(html: str) -> None:
    assert not is_structure(parse_html(f"<body>{html}</body>")[0][0])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<li><a href=/b>b</a><ul><li>c</ul></ul>", True),
        ("<ol><li><p>Run:</p><div class=highlight><pre>make</pre></div></ol>", True),
        ("<dl><dt>term<dd><p>meaning</p></dl>", True),
        ("<ul><li><h3>A card</h3><p>text</p></ul>", False),
        ("<ol><li><div class=comment>A comment</div></ol>", False),
        (f"<ul><li><table>{ROWS}</table></ul>", False),
        ("<ul><li><article>A post</article></ul>", False),
    ],
)
def test_a_list_is_whole_unless_it_arranges_parts_of_the_page(html: str, expected: bool) -> None:
    assert is_whole_list(parse_html(f"<body>{html}</body>")[0][0]) is expected
