"""Conversion from HTML to Markdown: each element, arbitrary trees, and hostile trees."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import HtmlElement

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.tree import parse_html
from tests.support.machine import allowed

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    root = parse_html(html)
    body = root.find("body")
    return to_markdown(root if body is None else body, LinkResolver(URL))


# Code.


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<div class="highlight-python3 notranslate"><div class="highlight"><pre>x</pre></div></div>', "python3"),
        ('<div class="highlight highlight-source-rust"><pre>x</pre></div>', "rust"),
        ('<div class="highlight highlight-text-html-basic"><pre>x</pre></div>', "html-basic"),
        ('<pre class="brush: js; toolbar: false">x</pre>', "js"),
        ('<pre class="line-numbers language-css"><code>x</code></pre>', "css"),
        ('<pre class="rust rust-example-rendered"><code>x</code></pre>', "rust"),
        ('<div class="mw-highlight mw-highlight-lang-cpp mw-content-ltr"><pre>x</pre></div>', "cpp"),
        ('<pre><code data-lang="go">x</code></pre>', "go"),
        ('<pre class="sourceCode haskell"><code class="sourceCode haskell">x</code></pre>', "haskell"),
        ('<div class="language-ruby highlighter-rouge"><div class="highlight"><pre>x</pre></div></div>', "ruby"),
        ('<div class="c source-c"><pre class="de1">x</pre></div>', "c"),
        ('<pre class="prettyprint lang-sql">x</pre>', "sql"),
        ('<div class="highlight-default notranslate"><pre>x</pre></div>', ""),
        ('<pre class="programlisting">x</pre>', ""),
        ('<body class="language-en"><pre>x</pre></body>', ""),
    ],
)
def test_the_language_is_read_from_the_marks_of_highlighters(html: str, language: str) -> None:
    assert markdown(html) == f"```{language}\nx\n```\n"


@pytest.mark.parametrize(
    "html",
    [
        '<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td>'
        '<td class="code"><div><pre>a\n b\n</pre></div></td></tr></table>',
        '<table class="rouge-table"><tr><td class="gutter gl"><pre class="lineno">1\n2\n</pre></td>'
        '<td class="code"><pre>a\n b\n</pre></td></tr></table>',
        '<pre><span class="linenos">1</span>a\n<span class="linenos">2</span> b</pre>',
        '<pre><code><span class="ln">1</span>a\n<span class="ln">2</span> b</code></pre>',
        '<table><tr><td class="blob-num" data-line-number="1"></td><td class="blob-code">a</td></tr>'
        '<tr><td class="blob-num"></td><td class="blob-code"> b</td></tr></table>',
        '<table class="hljs-ln"><tr><td class="hljs-ln-numbers">1</td><td class="hljs-ln-code">a</td></tr>'
        '<tr><td class="hljs-ln-numbers">2</td><td class="hljs-ln-code"> b</td></tr></table>',
        '<div class="fragment"><div class="line"><span class="lineno">1</span>a</div><div class="line"> b</div></div>',
        "<pre><div>a</div><div> b</div></pre>",
        '<pre class="line-numbers">a\n b<span class="line-numbers-rows"><span></span><span></span></span></pre>',
        "<code><pre>a\n b</pre></code>",
    ],
)
def test_line_numbers_and_wrappers_are_removed_from_code(html: str) -> None:
    assert markdown(html) == "```\na\n b\n```\n"


def test_code_that_contains_only_numbers_is_kept() -> None:
    assert markdown('<pre class="line-numbers">1\n2</pre>') == "```\n1\n2\n```\n"


def test_an_empty_line_element_in_code_stays() -> None:
    assert markdown("<pre><div>a</div><div></div><div>b</div></pre>") == "```\na\n\nb\n```\n"


def test_the_line_breaks_around_elements_in_code_stay() -> None:
    assert markdown("<pre>a\n\n<div>b\n</div>\n<div>c</div>\nd</pre>") == "```\na\n\nb\n\nc\nd\n```\n"
    assert markdown("<pre>a\n<div><div>b</div></div>\n</pre>") == "```\na\nb\n```\n"


def test_a_link_around_all_inline_code_is_kept() -> None:
    assert markdown('<p><code><a href="/v">Vec</a></code> and <a href="/s"><code>str</code></a>') == (
        "[`Vec`](https://example.org/v) and [`str`](https://example.org/s)\n"
    )


# Tables.


def test_a_table_without_a_header_gets_an_empty_header() -> None:
    assert markdown("<table><tr><td>a<td>b<tr><td>c<td>d</table>") == ("| | |\n| --- | --- |\n| a | b |\n| c | d |\n")


def test_pipes_and_line_breaks_stay_in_their_cell() -> None:
    html = "<table><tr><th>a|b<th>c</tr><tr><td><code>x|y</code><td>one<br>two<p>three</table>"
    assert markdown(html).splitlines()[2] == r"| `x\|y` | one<br>two<br>three |"


def test_spanning_cells_leave_other_cells_in_their_columns() -> None:
    html = (
        "<table><tr><th>A<th>B<th>C<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5<tr><td colspan=2>6<td>7"
        "<tr><td colspan=99>8</table>"
    )
    assert markdown(html).splitlines()[2:] == ["| 1 | 2 | 3 |", "| 1 | 4 | 5 |", "| 6 | | 7 |", "| 8 |"]


def test_a_caption_is_written_before_its_table() -> None:
    assert markdown("<table><caption>Table <b>1</b></caption><tr><th>a</table>") == ("Table **1**\n\n| a |\n| --- |\n")


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><h2>Part</h2><p>text</td></tr></table>",
        "<table role=presentation><tr><td><h2>Part</h2><td>text</tr></table>",
        "<table><tr><td><table><tr><td><h2>Part</h2></table><td>text</tr></table>",
    ],
)
def test_a_layout_table_is_converted_to_its_blocks(html: str) -> None:
    assert markdown(html) == "## Part\n\ntext\n"


def test_a_list_in_a_cell_is_readable() -> None:
    html = "<table><tr><th>a<th>b<tr><td>x<td><ul><li>one<li>two</ul></table>"
    assert markdown(html).splitlines()[2] == "| x | - one<br>- two |"


# Lists.


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ol start=5><li>a<li>b</ol>", "5. a\n6. b\n"),
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b\n"),
        ("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c\n"),
        ("<ul><li>a<ol><li>b</ol><li>c</ul>", "- a\n  1. b\n- c\n"),
        ("<ul><li><p>a<p>b<li>c</ul>", "- a\n\n  b\n- c\n"),
        ("<ul><li>a<ul><li>b<ul><li>c</ul></ul></ul>", "- a\n  - b\n    - c\n"),
        ("<ul><li></li><li>a</ul>", "- a\n"),
        ("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b\n"),
        ("<ul><li><h3>a</h3><p>b</ul>", "### a\n\nb\n"),
        ("<dl><dt>a<dt>b<dd>c<p>d<dt>e<dd>f</dl>", "a\nb\n: c\n\n  d\n\ne\n: f\n"),
        ("<dl><dt><b>n</b><span class=classifier>int</span><dd>x</dl>", "**n** : int\n: x\n"),
        (
            "<dl><dt>n <span class=classifier-delimiter>:</span> <span class=classifier>int</span><dd>x</dl>",
            "n : int\n: x\n",
        ),
        ("<dl><dt><b>n</b> : <span class=classifier>int</span><dd>x</dl>", "**n** : int\n: x\n"),
        ("<dl><dt>•<dd>a<dt>•<dd>b<p>c</dl>", "- a\n- b\n\n  c\n"),
        ("<dl><dt>-</dt><dd>a</dd><dt>-</dt><dd>b</dd></dl>", "- a\n- b\n"),
        ("<dl><dt>1.<dd>a<dt>2.<dd>b</dl>", "1. a\n2. b\n"),
        ("<dl><dt>+<dd>plus<dt>-<dd>minus</dl>", "+\n: plus\n\n-\n: minus\n"),
        ("<dl><dt>1.<dt>a<dd>b</dl>", "1.\na\n: b\n"),
        ("<dl><dt>a<dd><pre>x\n\ny</pre></dl>", "a\n: ```\n  x\n\n  y\n  ```\n"),
        ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", "a\n: b\n\n: c\n\nd\n: e\n"),
        ("<dl><dd>a</dl>", "a\n"),
        ("<blockquote><p>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b\n"),
    ],
)
def test_lists_keep_numbers_nesting_and_terms(html: str, text: str) -> None:
    assert markdown(html) == text


# Inline elements.


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("10<sup>6</sup>", "10^6"),
        ("x<sup>n + 1</sup>", "x^(n + 1)"),
        ("1<sup>st</sup> of May", "1st of May"),
        ("H<sub>2</sub>O", "H2O"),
        ("a<sub>i</sub>", "a_i"),
        ("log<sub>10</sub> x", "log_10 x"),
        ("ACME<sup>™</sup>", "ACME™"),
        ("so it says<sup>[1]</sup>", "so it says[1]"),
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字(かんじ)"),
        ("press <kbd>Ctrl</kbd>", "press `Ctrl`"),
        ("<code>a</code><code>b</code> <code>c</code>", "`ab` `c`"),
        ("<q>yes</q>", "“yes”"),
        ("日本語の\n文章 と\n漢字", "日本語の文章 と漢字"),
        ("한국어\n문장 and\nwords", "한국어 문장 and words"),
        ('<abbr title="World Wide Web">WWW</abbr>', "WWW"),
        ("<b> bold </b>and<i>\nit</i>", "**bold** and *it*"),
        ("<b></b><i> </i>x", "x"),
        ("<b>a<b>b</b></b>", "**ab**"),
        ("<del>old</del>", "~~old~~"),
        ("snake_case *and* __init__", "snake_case *and* __init__"),
        ("soft\xadhyphen zero\u200bwidth hard\xa0space", "softhyphen zerowidth hard space"),
        ("con<wbr>stant", "constant"),
        ('<a href="/x">a [b] c</a>', "[a [b] c](https://example.org/x)"),
        ('<a href="/x">a ] c</a>', r"[a \] c](https://example.org/x)"),
        (
            "<figure><img src='/a.png' alt='b'><figcaption>c</figcaption></figure>",
            "[Image: b](https://example.org/a.png)\n\nc",
        ),
        ("<details><summary>More</summary><p>text</details>", "**More**\n\ntext"),
        ('<h2>Part<a class="headerlink" href="#part">¶</a></h2>', "## Part"),
        ('<h2><a href="#part">#</a> Part</h2>', "## Part"),
        ('<h2><a href="#toc">1 Part</a></h2>', "## 1 Part"),
        ("<h2><div>Part</div><div>two</div></h2>", "## Part two"),
        ('<a href="/x"><h3>Title</h3><p>text</p></a>', "### [Title](https://example.org/x)\n\ntext"),
        ("a<br>b<br><br><br>c", "a\nb\n\nc"),
        ("# no heading", r"\# no heading"),
        ("a<br>---", "a\n\\---"),
    ],
)
def test_inline_elements_become_markdown(html: str, text: str) -> None:
    assert markdown(html) == f"{text}\n"


# Arbitrary and hostile trees.

WORD = st.integers(min_value=0, max_value=999_999).map(lambda number: f"w{number}w")
CODE = st.text(alphabet="ab \n\t`#-|*<&", max_size=30).filter(lambda text: text.strip() and text == text.strip("\n"))
TAGS = [
    "p", "td", "th", "li", "blockquote", "div", "span", "b", "code", "h2", "details", "summary", "ul", "ol", "a", "sup",
    "tr", "dd", "label", "button", "ruby", "figure", "figcaption", "legend", "bdi", "time", "mark", "option", "aside",
]  # fmt: skip


@st.composite
def trees(draw: st.DrawFn) -> HtmlElement:
    """Draw a tree with nesting that no parser produces."""
    from lxml.html import Element

    root = current = Element("body")
    for _ in range(draw(st.integers(1, 25))):
        tag = draw(st.sampled_from([*TAGS, "pre", "table", "dl", "dt", "br"]))
        child = Element(tag)
        if tag == "pre":
            child.text = draw(CODE)
        elif tag != "br":
            child.text = draw(WORD)
            if tag == "a":
                child.set("href", draw(st.sampled_from(["/x", "#y", "javascript:z", ""])))
            if tag in {"td", "th"}:
                child.set("rowspan", draw(st.sampled_from(["1", "2", "0", "x"])))
        child.tail = draw(st.none() | WORD)
        current.append(child)
        if tag not in {"pre", "br"} and draw(st.booleans()):
            current = child
        elif current.getparent() is not None and draw(st.booleans()):
            current = current.getparent()
    return root


@given(trees())
@settings(max_examples=120, deadline=None)
def test_each_word_is_written_once_and_in_order(root: HtmlElement) -> None:
    words = re.findall(r"w\d+w", " ".join(root.itertext()))
    assert re.findall(r"w\d+w", to_markdown(root, LinkResolver(URL))) == words


@given(st.lists(CODE, min_size=1, max_size=4), st.sampled_from(["div", "section", "p", "article", "td"]))
@settings(max_examples=100, deadline=None)
def test_any_code_is_kept_exactly(codes: list[str], around: str) -> None:
    from lxml.html import Element

    root = Element("body")
    for code in codes:
        holder = Element(around)
        pre = Element("pre")
        pre.text = code
        holder.append(pre)
        root.append(holder)
    text = to_markdown(root, LinkResolver(URL))
    for code in codes:
        assert re.search(rf"(?m)^(`{{3,}})\n{re.escape(code)}\n\1$", text)


MANY = 40_000
HOSTILE = {
    "siblings": "<p>deep words" * MANY,
    "nested": "<div>" * MANY + "deep words",
    "nested lists": "<ul><li>" * 20_000 + "deep words",
    "nested quotes": "<blockquote>" * MANY + "deep words",
    "nested tables": "<table><tr><td>" * 12_000 + "deep words",
    "rows": "<table><tr><th>a" + "<tr><td>deep words<td>b" * 12_000 + "</table>",
    "spans": "<table><tr>" + "<td rowspan=1000 colspan=50>deep words" * 2_000 + "<tr><td>a" * 2_000 + "</table>",
    "unclosed": "<b><i><a href=x>deep words" * 8_000,
    "attribute": f'<p class="{"a " * 500_000}" title="{"b" * 1_000_000}">deep words',
    "one line": "<p>" + "deep words and " * 280_000,
    "one line of code": "<pre>" + "deep words`` " * 280_000,
    "code in code": "<code>" * MANY + "<p>deep words",
    "line breaks": "<p>deep words" + "<br>" * MANY,
    "notes": "<sup><a href=#a id=b>1</a></sup><sup><a href=#b id=a>deep words</a></sup>" * 8_000,
    "raised": "deep words<sup>x</sup><sub>y</sub>" * 12_000,
    "links": "<a href=/a/b/c>deep words</a>" * 20_000,
    "brackets": "<a href=/x>" + "[" * 500_000 + "deep words</a>",
    "gutters": "<pre>" + "<span class=ln>1" * 2_000 + "deep words" * 20_000,
    "formulas": "<div class=math>$" * 2_000 + "deep words" * 20_000,
    "cells in nested tables": "<table><tr><td>" * 600 + "<td>deep words" * 20_000,
    "summaries": "<details><summary>" * 900 + "<p>deep words" * 20_000,
    "buttons": "<button> " * 2_000 + "deep words" * 1_000,
    "formula": "<math>" + "<mrow><mi>x</mi>" * 12_000 + "</math>deep words",
    "terms": "<dl>" + "<dt>a<dd>deep words" * 16_000,
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_hostile_trees_keep_their_words_in_bounded_time(name: str) -> None:
    root = parse_html(HOSTILE[name])
    started = time.process_time()
    text = to_markdown(root, LinkResolver(URL))
    assert time.process_time() - started < allowed(1.6)
    assert "deep words" in text
    assert len(text) < 20_000_000


# The floor.


class FailingLinks(LinkResolver):
    """A resolver that fails on every link, as a fault of a rule would."""

    def resolve(self, reference: str) -> str:
        raise LookupError(reference)


@pytest.mark.parametrize("depth", [1, 1_500], ids=["shallow", "deeper than Python calls"])
def test_a_page_on_which_a_rule_fails_keeps_its_words(depth: int) -> None:
    inside = (
        "<h2>Valves</h2><p>See <a href=/oil>the oil</a>.</p><table><tr><th>bar</th></tr><tr><td>4</td></tr></table>"
    )
    body = parse_html(f"<body>{'<div>' * depth}{inside}{'</div>' * depth}").find("body")
    assert body is not None
    text = to_markdown(body, FailingLinks(URL))
    assert re.findall(r"[\w]+", text) == ["Valves", "See", "the", "oil", "bar", "4"]
    assert depth > 1 or text.startswith("## Valves\n\nSee the oil.\n\n| bar |\n")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("2<sup>n−1</sup>", "2^(n−1)"),
        ("x<sub>n+1</sub>", "x_(n+1)"),
        ("2<sup>2n</sup>", "2^(2n)"),
        ("2<sup><i>n</i>−1</sup>", "2^(*n*−1)"),
        ("10<sup>-9</sup>", "10^-9"),
        ("Ca<sup>2+</sup>", "Ca^2+"),
        ("x<sub>max</sub>", "x_max"),
        ("e<sup>x<sup>2</sup></sup>", "e^(x^2)"),
        ("2<sup>2<sup>n+1</sup></sup>", "2^(2^(n+1))"),
    ],
)
def test_a_power_or_index_of_several_signs_has_brackets(html: str, text: str) -> None:
    assert markdown(f"<p>{html}</p>") == f"{text}\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ol type=a><li>x<li>y</ol>", "- a. x\n- b. y\n"),
        ("<ol type=A start=26><li>x<li>y</ol>", "- Z. x\n- AA. y\n"),
        ("<ol type=i><li>x<li value=9>y</ol>", "- i. x\n- ix. y\n"),
        ("<ol type=I start=4000><li>x</ol>", "4000. x\n"),
        ('<ol class="loweralpha simple"><li>x</ol>', "- a. x\n"),
        ("<ol class=upper-roman><li>x</ol>", "- I. x\n"),
        ("<ol><li type=a>x</ol>", "- a. x\n"),
        ("<ol type=1><li>x</ol>", "1. x\n"),
        ("<ol type=a start=0><li>x</ol>", "0. x\n"),
        ("<ol type=a><li><p>x<p>y</ol>", "- a. x\n\n  y\n"),
        ("<ol type=a><li><pre>x</pre></ol>", "- a.\n\n  ```\n  x\n  ```\n"),
        ("<ol type=a><li><ol type=i><li>x</ol></ol>", "- a.\n\n  - i. x\n"),
    ],
)
def test_an_item_keeps_its_letter_or_roman_number(html: str, text: str) -> None:
    assert markdown(html) == text


@pytest.mark.parametrize(
    ("lang", "name"), [("go", "go"), ("C++", "c++"), ("terraform", "terraform"), ("en", ""), ("pt-BR", "")]
)
def test_the_language_of_code_may_be_its_lang_but_not_a_natural_language(lang: str, name: str) -> None:
    assert markdown(f'<pre lang="{lang}">x</pre>').startswith(f"```{name}\n")


@pytest.mark.parametrize(
    "html",
    [
        "<pre><span class=line>a</span><span class=line>  <b>b</b></span></pre>",
        "<pre><code class='token-line x'>a</code><code class=token-line>  b</code></pre>",
        "<div class=CodeMirror-code><div><pre>a</pre></div><div><pre>  b</pre></div></div>",
        "<div class=cm-content><div class=cm-line>a</div><div class=cm-line>  b</div></div>",
    ],
)
def test_lines_of_code_that_are_blocks_stay_lines_of_one_block(html: str) -> None:
    assert markdown(html) == "```\na\n  b\n```\n"
