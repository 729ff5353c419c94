"""Notes as pages write them: marks in brackets, notes in asides, notes in the margin."""

from __future__ import annotations

import pytest

from keyhole.extract.html.page import html_to_markdown

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return html_to_markdown(f"<body>{html}</body>", URL)


@pytest.mark.parametrize(
    "html",
    [
        '<p>It works<sup class="footnote">[<a class="footnote" href="#_def_1" id="_ref_1">1</a>]</sup>.</p>'
        '<div id="footnotes"><div class="footnote" id="_def_1"><a href="#_ref_1">1</a>. Mostly.</div></div>',
        '<p>It works<a href="#n1" role="doc-noteref">1</a>.</p><aside id="n1" role="doc-footnote">Mostly.</aside>',
        '<p>It works<label for="s" class="margin-toggle sidenote-number"></label><input type="checkbox" id="s">'
        '<span class="sidenote">Mostly.</span>.</p>',
    ],
    ids=["Asciidoctor", "an aside", "Tufte CSS"],
)
def test_a_note_is_a_footnote_after_its_paragraph(html: str) -> None:
    assert markdown(html) == "It works[^1].\n\n[^1]: Mostly.\n"


@pytest.mark.parametrize("name", ["marginnote", "side-note", "claimSide remark"])
def test_a_note_in_the_margin_does_not_interrupt_its_sentence(name: str) -> None:
    assert markdown(f'<p>It <span class="{name}">Mostly.</span> works.</p>') == "It works.\n\nMostly.\n"
