"""Footnotes keep their words, and lose only labels and return links."""

from __future__ import annotations

import pytest

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return to_markdown(parse_html(html), LinkResolver(URL))


FOOTNOTES = [
    '<p>Text<sup><a href="#fn1" id="r1">1</a></sup>.<ol><li id="fn1"><p>The note. <a href="#r1">↩</a></li></ol>',
    '<p>Text<a class="footnote-reference" href="#n" id="r">[1]</a>.</p>'
    '<aside class="footnote" id="n"><span class="label">[<a href="#r">1</a>]</span><p>The note.</p></aside>',
    '<p>Text<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup>.</p><ol><li id="cite_note-1">'
    '<span class="mw-cite-backlink"><a href="#cite_ref-1">^</a></span> <span>The note.</span></li></ol>',
    '<p>Text<a href="#ftn.1" class="footnote"><sup id="1">[1]</sup></a>.</p>'
    '<div id="ftn.1"><p><a href="#1"><sup>[1] </sup></a> The note.</p></div>',
    '<p>Text<a class="footnote-reference" href="#n" id="r">[1]</a>.</p><table class="footnote" id="n"><tr>'
    '<td class="label"><a href="#r">[1]</a></td><td>The note.</td></tr></table>',
]


@pytest.mark.parametrize("html", FOOTNOTES)
def test_a_footnote_and_its_reference_get_the_same_label(html: str) -> None:
    assert markdown(html) == "Text[^1].\n\n[^1]: The note.\n"


def test_a_reference_without_a_footnote_stays_in_brackets() -> None:
    assert markdown('<p>Text<sup><a href="#fn1">1</a></sup>') == "Text[1]\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<div id="n"><span class="label">Important words</span> Note.</div>', "[^1]: Important words Note."),
        ('<dl><dt id="n">Term <a href="#r">1</a></dt><dd>Note.</dd></dl>', "Term 1\n\n[^1]: Note."),
        ('<ol><li id="n">Note. <a href="#r">the text</a></li></ol>', "[^1]: Note. the text"),
        ('<ol><li id="n">^ <a href="#r">a</a> Note.</li></ol>', "[^1]: ^ Note."),
        ('<ol><li id="n">x<sup>1</sup> is x.</li></ol>', "[^1]: x^1 is x."),
        (
            '<table id="n" class="footnote"><tr><td class="label">1<td>Note.<tr><td>More</table>',
            "[^1]: Note.\n\n    More",
        ),
    ],
)
def test_only_labels_and_return_links_of_a_note_are_left_out(html: str, text: str) -> None:
    assert markdown(f'<p>Text<sup id="r"><a href="#n">1</a></sup></p>{html}') == f"Text[^1]\n\n{text}\n"


def test_a_list_of_references_keeps_its_texts_and_numbers() -> None:
    html = (
        '<p>A<sup id="r1"><a href="#n1">[1]</a></sup></p><ol class="references">'
        '<li id="n1"><span class="mw-cite-backlink">^ <a href="#r1">a</a> <a href="#r2">b</a></span> Smith, 2001.</li>'
        '<li id="n2"><span class="mw-cite-backlink"><a href="#r9">^</a></span> Jones.</li></ol>'
    )
    assert markdown(html) == "A[^1]\n\n[^1]: Smith, 2001.\n\n2. Jones.\n"


def test_a_paragraph_with_its_own_reference_is_no_note() -> None:
    html = '<p>Text<sup><a href="#n">1</a></sup> and <span id="n">the note.</span></p>'
    assert markdown(html) == "Text[1] and the note.\n"


def test_the_address_of_the_page_before_a_fragment_changes_nothing() -> None:
    html = f'<p>Text<sup id="r"><a href="{URL}#n">1</a></sup></p><p id="n"><a href="page.html#r">↩</a> Note.</p>'
    assert markdown(html) == "Text[^1]\n\n[^1]: Note.\n"
