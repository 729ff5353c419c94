"""Tabs as generators of manuals write them."""

from __future__ import annotations

import pytest

from keyhole.extract.html.page import html_to_markdown

URL = "https://example.org/docs/page.html"
EXPECTED = "=== pip\n\nUse pip.\n\n=== uv\n\nUse uv.\n\n===\n\nThen start it.\n"


def markdown(html: str) -> str:
    return html_to_markdown(f"<body>{html}</body>", URL)


@pytest.mark.parametrize(
    "html",
    [
        '<div><ul role="tablist"><li role="tab">pip</li><li role="tab">uv</li></ul><div><div role="tabpanel">'
        "<p>Use pip."
        '</p></div><div role="tabpanel"><p>Use uv.</p></div></div></div>',
        '<div role="tablist"><button role="tab" aria-controls="b">pip</button><button role="tab" aria-controls="c">uv'
        '</button></div><div role="tabpanel" id="b"><p>Use pip.</p></div><div role="tabpanel" id="c"><p>Use uv.</p>'
        "</div>",
        '<div role="tablist"><button role="tab" id="b">pip</button><button role="tab" id="c">uv</button></div>'
        '<div role="tabpanel" aria-labelledby="b">Use pip.</div><div role="tabpanel" aria-labelledby="c">Use uv.</div>',
        '<ul class="nav nav-tabs"><li><a data-toggle="tab" href="#b">pip</a></li><li>'
        '<a data-toggle="tab" href="#c">uv</a>'
        '</li></ul><div class="tab-content"><div id="b"><p>Use pip.</p></div><div id="c"><p>Use uv.</p></div></div>',
        '<div class="tabbed-set"><input type="radio"><input type="radio"><div class="tabbed-labels"><label>pip</label>'
        '<label>uv</label></div><div class="tabbed-content"><div><p>Use pip.</p></div><div><p>Use uv.</p></div>'
        "</div></div>",
        '<div class="sd-tab-set"><input type="radio"><label>pip</label><div class="sd-tab-content"><p>Use pip.</p>'
        "</div>"
        '<input type="radio"><label>uv</label><div class="sd-tab-content"><p>Use uv.</p></div></div>',
        '<div class="vp-code-group"><div class="tabs"><input type="radio"><label>pip</label><input type="radio">'
        "<label>uv"
        '</label></div><div class="blocks"><div><p>Use pip.</p></div><div><p>Use uv.</p></div></div></div>',
    ],
    ids=["Docusaurus", "aria-controls", "aria-labelledby", "Bootstrap", "MkDocs", "sphinx-design", "VitePress"],
)
def test_each_panel_stands_below_the_label_of_its_tab(html: str) -> None:
    assert markdown(f"{html}<p>Then start it.</p>") == EXPECTED


@pytest.mark.parametrize(
    "html",
    [
        '<div><div role="tablist"><b role="tab">pip</b><b role="tab">uv</b></div><div role="tabpanel">Use pip.</div>'
        "</div>",
        '<div><div role="tablist"><b role="tab">pip</b></div><div role="tabpanel"></div></div>',
        '<div role="tablist"><b role="tab" aria-controls="a">pip</b><b role="tab" aria-controls="a">uv</b></div>'
        '<p id="a">Use pip.</p>',
    ],
    ids=["fewer panels than tabs", "an empty panel", "one panel for two tabs"],
)
def test_labels_stay_in_place_if_a_tab_has_no_panel_of_its_own(html: str) -> None:
    text = markdown(html)
    assert "pip" in text
    assert "===" not in text


def test_a_page_cannot_write_the_signs_of_tabs_as_text() -> None:
    assert markdown("<p>===</p>") == "\\===\n"
