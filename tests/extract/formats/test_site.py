"""Bodies that a site reader composed, and those that a web server sends under the same content type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extract import extract
from keyhole.sites.document import CONTENT_TYPE, Part, SiteDocument, decode_site_document

URL = "https://a.example/page"
DOCUMENT = SiteDocument(
    "A *title*", (Part("# One\n\n[next](b)", "markdown", 1), Part("1 < 2", "plain")), "Ann", cut=True
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_a_document_survives_its_form_as_a_body() -> None:
    assert decode_site_document(DOCUMENT.encode()) == DOCUMENT


def test_each_part_is_converted_from_its_form() -> None:
    document = extract(
        SiteDocument("T", (*DOCUMENT.parts, Part("<p>a <b>b</b><p hidden>secret", "html"))).encode(),
        url=URL,
        content_type=CONTENT_TYPE,
    )
    assert document.text == "# T\n\n## One\n\n[next](/b)\n\n1 < 2\n\na **b**\n"


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("a\n\n<!-- hidden -->\n\nb", "a\n\nb"),
        ("a <!-- hidden --> b", "a  b"),
        ("a\n\n<!-- hidden\n\nb", "a"),
        ("a\n\n```\n<!-- shown -->\n```\n", "a\n\n```\n<!-- shown -->\n```"),
    ],
)
def test_comments_of_markdown_are_hidden_as_where_it_is_rendered(markdown: str, shown: str) -> None:
    text = extract(SiteDocument("T", (Part(markdown),)).encode(), url=URL, content_type=CONTENT_TYPE).text
    assert text == f"# T\n\n{shown}\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": [{"text": "x", "form": "markdown", "levels": 10**9, "language": ""}]},
        {"title": ["a"], "author": None, "cut": "no"},
    ],
)
def test_values_of_other_types_are_read_as_text_and_bounded(changes: dict[str, Any]) -> None:
    body = json.dumps({**json.loads(DOCUMENT.encode()), **changes}).encode()
    assert extract(body, url=URL, content_type=CONTENT_TYPE).text


@given(JSON)
def test_any_other_body_is_a_clear_error(value: Any) -> None:
    with pytest.raises(KeyholeError) as caught:
        extract(json.dumps(value).encode(), url=URL, content_type=CONTENT_TYPE)
    assert caught.value.code in {Code.EXTRACTION_FAILED, Code.EMPTY_DOCUMENT}
