"""The tree for markdownify is regular, has a bounded depth, and is built in linear time."""

from __future__ import annotations

import inspect
import re
import sys
import time

import pytest
from bs4 import Tag
from bs4.element import NavigableString

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.soup import MAX_CONTAINERS
from keyhole.extract.html.tree import parse_html
from keyhole.extract.html.walk import build_soup
from tests.support.machine import allowed

URL = "https://example.org/docs/page.html"


def soup(html: str) -> Tag:
    return build_soup(parse_html(html), LinkResolver(URL))


def markdown(html: str) -> str:
    return to_markdown(parse_html(html), LinkResolver(URL))


@pytest.mark.parametrize(
    ("html", "tree"),
    [
        ("<div><section><div>a\n b</div></section></div>", "<p>a b</p>"),
        ("a<div>b</div> <span>c</span>", "<p>a</p><p>b</p><p>c</p>"),
        ("<p>a <b> b</b><i> </i>", "<p>a <strong>b</strong> </p>"),
        ("<b>a<p>b</p></b>c", "<p><strong>a</strong></p><p>b</p><p>c</p>"),
        ('<a href="/x"><h2>a</h2>b</a>', '<h2><a href="https://example.org/x">a</a></h2><p>b</p>'),
        ("<ul><li>a<li></ul>", '<ul><li><p>a</p></li><li tight=""></li></ul>'),
        ("<ol start=4><li><p>a</ol>", '<ol><li number="4"><p>a</p></li></ol>'),
        ("x<sup>2</sup>", '<p>x<sup before="x">2</sup></p>'),
        ("<pre class=lang-go>a\n</pre>", '<pre language="go">a</pre>'),
        (
            "<table><tr><th>a<th>b<tr><td rowspan=2>c<td>d<tr><td>e</table>",
            '<table><tr columns="2"><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr>'
            '<tr><td skipped="1">e</td></tr></table>',
        ),
    ],
)
def test_each_text_is_in_one_line_with_collapsed_white_space(html: str, tree: str) -> None:
    assert str(soup(html)) == tree


@pytest.mark.parametrize(
    "tag", ["div", "ul><li", "blockquote", "dl><dt>a<dd", "b><p", "span", "section><table><tr><td"]
)
def test_the_depth_of_the_tree_is_bounded(tag: str) -> None:
    tree = soup(f"<{tag}>" * 300 + "words")
    (text,) = (node for node in tree.descendants if isinstance(node, NavigableString) and "words" in node)
    assert len(list(text.parents)) < MAX_CONTAINERS + 10


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<dl><dt>a<dd></dl><p>b", "a\n\nb\n"),
        ("<ul><li>a<blockquote><ul><li>b</ul></blockquote></ul>", "- a\n\n  > - b\n"),
        ("<b>H</b><sub>2</sub>O", "**H**2O\n"),
        ("<ul><li>a<pre>b\n\n\n c</pre><li>d</ul>", "- a\n\n  ```\n  b\n\n\n   c\n  ```\n- d\n"),
        ("<ol><li>a<ol start=3><li>b</ol></ol>", "1. a\n\n   3. b\n"),
    ],
)
def test_only_tight_blocks_follow_without_a_blank_line(html: str, text: str) -> None:
    assert markdown(html) == text


def test_lists_nested_300_deep_keep_their_words_in_order() -> None:
    text = markdown("".join(f"<ul><li>w{level}" for level in range(300)))
    assert re.findall(r"w\d+", text) == [f"w{level}" for level in range(300)]
    assert text.startswith("- w0\n  - w1\n    - w2\n")


def test_conversion_deep_in_the_stack_returns_plain_text() -> None:
    limit = sys.getrecursionlimit()
    root = parse_html("<ul><li>" * 20 + "deep words")
    sys.setrecursionlimit(len(inspect.stack(0)) + 60)
    try:
        assert to_markdown(root, LinkResolver(URL)) == "deep words\n"
    finally:
        sys.setrecursionlimit(limit)


def test_building_the_soup_does_not_change_the_page() -> None:
    root = parse_html('<ol><li value=3>a<a href="x">b</a><pre><br></pre></ol><div><table><tr><td>c<td>d</table></div>')
    before = [(element.tag, dict(element.attrib), element.text, element.tail) for element in root.iter()]
    assert isinstance(build_soup(root, LinkResolver(URL)), Tag)
    assert [(element.tag, dict(element.attrib), element.text, element.tail) for element in root.iter()] == before


MANY = {
    "items": ("<ol>", "<li>words"),
    "code blocks": ("<p>", "<pre class=gutter>words\nb</pre>"),
    "pictures of formulas": ("<p>", '<img class="tex" alt="words">'),
    "emphasis": ("<p>", "<b>words</b> "),
    "lines in nested lists": ("<ul><li>" * 200, "<p>words"),
    "rows": ("<table>", "<tr><td>words<td>b"),
    "powers": ("<p>", "words<sup>2</sup>"),
}


@pytest.mark.parametrize("name", list(MANY))
def test_many_siblings_take_linear_time(name: str) -> None:
    around, one = MANY[name]
    root = parse_html(around + one * 20_000)
    started = time.process_time()
    text = to_markdown(root, LinkResolver(URL))
    assert time.process_time() - started < allowed(3)
    assert text.count("words") == 20_000
