"""Admonitions as generators of manuals write them."""

from __future__ import annotations

import pytest

from keyhole.extract.html.page import html_to_markdown

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return html_to_markdown(f"<body>{html}</body>", URL)


@pytest.mark.parametrize(
    "html",
    [
        '<div class="admonition note"><p class="admonition-title">Note</p><p>Save first.</p></div>',
        '<aside class="admonition note"><p class="admonition-title">Note</p><p>Save first.</p></aside>',
        '<div class="admonitionblock note"><table><tr><td class="icon"><div class="title">Note</div></td>'
        '<td class="content"><div class="paragraph"><p>Save first.</p></div></td></tr></table></div>',
        '<div class="admonitionblock note"><table><tr><td class="icon"><i class="fa icon-note" title="Note"></i></td>'
        '<td class="content">Save first.</td></tr></table></div>',
        '<div class="theme-admonition theme-admonition-note"><div class="admonitionHeading_X"><span><svg></svg>'
        '</span>Note'
        '</div><div class="admonitionContent_Y"><p>Save first.</p></div></div>',
        '<div class="markdown-alert markdown-alert-note"><p class="markdown-alert-title"><svg></svg>Note</p>'
        "<p>Save first.</p></div>",
        '<div class="note"><h3 class="title">Note</h3><p>Save first.</p></div>',
        '<div class="note"><table summary="Note"><tr><td rowspan="2"><img alt="[Note]" src="note.png"></td><th>Note'
        '</th>'
        "</tr><tr><td><p>Save first.</p></td></tr></table></div>",
        '<div class="custom-block note"><p class="custom-block-title">Note</p><p>Save first.</p></div>',
    ],
    ids=["Sphinx", "docutils", "Asciidoctor", "Asciidoctor icons", "Docusaurus", "GitHub", "DocBook", "DocBook icons",
         "VitePress"],
)  # fmt: skip
def test_an_admonition_is_a_quote_that_begins_with_its_title(html: str) -> None:
    assert markdown(html) == "> **Note**\n> Save first.\n"


def test_an_admonition_without_a_title_is_a_quote() -> None:
    assert markdown('<div class="admonition"><p>Save first.</p></div>') == "> Save first.\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<pre>a\nb</pre>", "> **Note**\n>\n> ```\n> a\n> b\n> ```\n"),
        ("<ul><li>a</li></ul>", "> **Note**\n> - a\n"),
        ("<p><code>a</code> is b.</p><p>c</p>", "> **Note**\n> `a` is b.\n>\n> c\n"),
        ("Bare text.", "> **Note**\n>\n> Bare text.\n"),
    ],
)
def test_the_title_has_its_own_paragraph_before_a_structure(content: str, expected: str) -> None:
    html = f'<div class="admonition note"><p class="admonition-title">Note</p>{content}</div>'
    assert markdown(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        '<div class="note">A class that other pages use too.</div>',
        '<div class="callout"><h2>Plans</h2><p>Text.</p><h2>Prices</h2><p>Text.</p></div>',
    ],
)
def test_other_parts_of_a_page_are_not_quoted(html: str) -> None:
    assert ">" not in markdown(html)


def test_a_picture_at_the_beginning_of_a_callout_is_not_its_title() -> None:
    html = '<div class="callout"><img alt="The three layers" src="layers.png" width="600"><p>Text.</p></div>'
    assert markdown(html) == "> [Image: The three layers]\n>\n> Text.\n"
