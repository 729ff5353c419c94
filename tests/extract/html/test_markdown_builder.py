"""The Markdown of a page is regular, has a bounded depth, and is built in linear time."""

from __future__ import annotations

import re
import time

import pytest

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.markdown_builder import MAX_CONTAINERS
from keyhole.extract.html.tree import parse_html
from tests.support.machine import allowed

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return to_markdown(parse_html(html), LinkResolver(URL))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<div><section><div>a\n b</div></section></div>", "a b\n"),
        ("a<div>b</div> <span>c</span>", "a\n\nb\n\nc\n"),
        ("<p>a <b> b</b><i> </i>", "a **b**\n"),
        ("<b>a<p>b</p></b>c", "**a**\n\nb\n\nc\n"),
        ('<a href="/x"><h2>a</h2>b</a>', "## [a](https://example.org/x)\n\nb\n"),
        ("<ul><li>a<li></ul>", "- a\n"),
        ("<ol start=4><li><p>a</ol>", "4. a\n"),
        ("x<sup>2</sup>", "x^2\n"),
        ("<pre class=lang-go>a\n</pre>", "```go\na\n```\n"),
        (
            "<table><tr><th>a<th>b<tr><td rowspan=2>c<td>d<tr><td>e</table>",
            "| a | b |\n| --- | --- |\n| c | d |\n| c | e |\n",
        ),
        ("<table><tr><th>a<tr><td>b<td>c</table>", "| a | |\n| --- | --- |\n| b | c |\n"),
        ("<p>Look!<a href=/x>b</a>", "Look&#33;[b](https://example.org/x)\n"),
    ],
)
def test_each_text_is_in_one_line_with_collapsed_white_space(html: str, text: str) -> None:
    assert markdown(html) == text


@pytest.mark.parametrize("tag", ["ul><li", "blockquote", "dl><dt>a<dd"])
def test_the_indent_of_a_line_is_bounded(tag: str) -> None:
    (line,) = (line for line in markdown(f"<{tag}>" * 300 + "words").splitlines() if "words" in line)
    assert len(line) < 2 * MAX_CONTAINERS + 10


@pytest.mark.parametrize("tag", ["div", "b><p", "span", "section><table><tr><td"])
def test_other_elements_do_not_indent(tag: str) -> None:
    assert markdown(f"<{tag}>" * 300 + "words").strip("*\n") == "words"


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


def test_conversion_does_not_change_the_page() -> None:
    root = parse_html('<ol><li value=3>a<a href="x">b</a><pre><br></pre></ol><div><table><tr><td>c<td>d</table></div>')
    before = [(element.tag, dict(element.attrib), element.text, element.tail) for element in root.iter()]
    assert to_markdown(root, LinkResolver(URL)).startswith("3. a")
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
