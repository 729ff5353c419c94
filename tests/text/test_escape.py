"""Escaped text of a page forms no link, image, code or HTML, and reads unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from keyhole.errors import Code, KeyholeError
from keyhole.extract.html.page import html_to_markdown
from keyhole.records import EngineReport
from keyhole.render.answer import error_answer
from keyhole.render.header import quote_title
from keyhole.render.sources import search_status
from keyhole.text.clean import clean
from keyhole.text.escape import escape_markdown, plain_line, quote_line
from keyhole.text.measure import serialized_size

PARSER = MarkdownIt("commonmark").enable("table")
PIECES = (
    *("[", "]", "(", ")", "!", "<", ">", "\\", "`", "``", "&", ":", "&lt;", "&#40;", '"', "|", "#", "\u200b", "\u202e"),
    *("https://evil.example", "javascript:x", "img src=x", "/script", "!--", "[a]: /x", "a", " ", "![x](y)", "<b>"),
)
WORDS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
MARKS = str.maketrans("", "", "\\*_~")


def rendered(markdown: str) -> tuple[set[str], str]:
    kinds: set[str] = set()
    words = ""
    for token in PARSER.parse(markdown):
        for part in [token, *(token.children or [])]:
            kinds.add(part.type)
            words += part.content if part.type in {"text", "text_special", "code_inline"} else ""
    return kinds, words


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("[click](https://evil.example)", "[click]&#40;https://evil.example)"),
        ("![x](https://evil.example/?q=)", "!&#91;x]&#40;https://evil.example/?q=)"),
        ("[r]: https://evil.example", "[r]\\: https://evil.example"),
        (
            "<img src=x> </p> <!-- c --> <https://evil.example>",
            "&lt;img src=x> &lt;/p> &lt;!-- c --> &lt;https://evil.example>",
        ),
        ("a < b && c > d, arr[i] (x), a lone [ and ]", "a < b && c > d, arr[i] (x), a lone [ and ]"),
        ("&lt; \\` end\\", "\\&lt; \\\\\\` end\\\\"),
    ],
)
def test_only_active_markup_is_escaped(text: str, markdown: str) -> None:
    assert escape_markdown(text) == markdown


@given(st.lists(WORDS, min_size=1, max_size=3), st.sampled_from(["span", "b", "li", "td", "h2", "code"]))
def test_text_of_a_page_forms_no_markup(parts: list[str], tag: str) -> None:
    root = lxml_html.Element("p" if tag in {"span", "b", "code"} else "div")
    for part in parts:
        inner = lxml_html.Element(tag)
        inner.text = part
        root.append(inner)
    markup = lxml_html.tostring(root, encoding="unicode")
    kinds, _ = rendered(html_to_markdown(markup, "https://example.org/"))
    assert not kinds & {"link_open", "image", "html_inline", "html_block", "definition"}, kinds


@given(WORDS)
def test_a_paragraph_reads_unchanged(text: str) -> None:
    root = lxml_html.Element("p")
    root.text = f"So {text} it is"
    markdown = html_to_markdown(lxml_html.tostring(root, encoding="unicode"), "https://example.org/")
    _, words = rendered(markdown)
    wanted = " ".join(clean(root.text).split())
    assert words.translate(MARKS).split() == wanted.translate(MARKS).split()


def test_a_link_after_an_exclamation_mark_stays_a_link() -> None:
    assert html_to_markdown('<p>Look!<a href="/x">here</a>', "https://example.org/") == (
        "Look&#33;[here](https://example.org/x)\n"
    )


def test_the_text_of_a_link_does_not_end_the_link() -> None:
    markup = '<p><a href="/x">a](https://evil.example/)[b\\</a>(https://evil.example)'
    tokens = [
        part
        for token in PARSER.parse(html_to_markdown(markup, "https://example.org/"))
        for part in token.children or []
    ]
    assert [token.attrGet("href") for token in tokens if token.type == "link_open"] == ["https://example.org/x"]


@given(WORDS, st.integers(0, 80))
def test_untrusted_text_on_a_line_is_plain_text_within_its_limit(text: str, limit: int) -> None:
    line = plain_line(text, limit)
    assert serialized_size(line) <= limit
    assert "\n" not in line
    kinds, _ = rendered(f"We said: {line}.")
    assert kinds.isdisjoint({"link_open", "image", "html_inline", "code_inline"}), line


@given(WORDS, st.integers(1, 80))
def test_nothing_in_a_quotation_ends_it(text: str, limit: int) -> None:
    line = quote_line(text + "”", limit)
    assert line == "" or (line[0], line[-1]) == ("“", "”")
    assert not set(line[1:-1]) & set("“”„")


@pytest.mark.parametrize(
    "text", ["see [docs]\u200b(https://evil.example)", "!\u2060[x](https://evil.example)", "<\u200bb>x"]
)
def test_an_invisible_character_does_not_prevent_escaping(text: str) -> None:
    for answer in (
        error_answer(KeyholeError(Code.ENGINE_UNAVAILABLE, text)).text,
        search_status(1, 1, [EngineReport("x", fault=text, note=text)], 0, "web"),
        quote_title(text),
    ):
        kinds, _ = rendered(answer)
        assert kinds.isdisjoint({"link_open", "image", "html_inline"}), answer
