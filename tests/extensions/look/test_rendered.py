"""Rendered Markdown for a sandboxed frame has nothing that runs, loads or leads elsewhere."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extensions.look.text_pages import POLICY, STYLE, render_document
from tests.store.calls.samples import call, read_text
from tests.support.fakes import artifact
from tests.support.look import empty_look, page_client

TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li",
    "em", "strong", "s", "code", "pre", "blockquote", "hr", "br", "span", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


def tags_of(document: str) -> set[str]:
    return {name.lower() for name in re.findall(r"<\s*([a-zA-Z!?][\w-]*)", document.removeprefix("<!doctype html>"))}


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "![alt](https://evil.example/pixel.png)",
        "[link](javascript:alert(1)) and <https://evil.example/>",
        "text <img src=x onerror=alert(1)> <iframe src=//evil.example> <style>*{}</style>",
        "[a][b]\n\n[b]: data:text/html,<script>alert(1)</script>",
        '![x](y "onerror=alert(1)") [q](https://e.example/"onmouseover="alert(1))',
        "```<script>\nalert(1)\n```",
        "<form action=//evil.example><input></form><meta http-equiv=refresh content=0>",
    ],
)
def test_hostile_markdown_becomes_text(markdown: str) -> None:
    document = render_document(markdown, "<script>", 'en"><script>')
    assert tags_of(document) <= TAGS
    assert "<a" not in document and " src=" not in re.sub(r"&lt;.*?&gt;", "", document)
    assert not re.search(r"<[^>]*\son\w+\s*=", re.sub(r'"[^"]*"', '""', document))


@given(st.text("<>!&\"'`[]()*_~#|-\n\t ascriptjv:/=\\", max_size=80))
def test_no_text_makes_other_elements_than_those_of_markdown(markdown: str) -> None:
    assert tags_of(render_document(markdown, markdown)) <= TAGS


def test_an_image_is_its_alternative_text_and_a_link_its_text() -> None:
    document = render_document("![A cat](c.png) ![](d.png) [home](https://example.org/)", "T")
    assert '<span class="image">[image: A cat]</span>' in document
    assert '<span class="image">[image]</span>' in document
    assert '<span class="link" title="https://example.org/">home</span>' in document


def test_the_only_style_is_the_one_that_the_policy_names() -> None:
    document = render_document("text", "T")
    (style,) = re.findall("<style>(.*?)</style>", document)
    assert style == STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in POLICY
    assert "default-src 'none'" in POLICY and "; sandbox;" in POLICY


def test_the_frame_has_its_own_policy_and_shows_one_window() -> None:
    look = empty_look()
    look.store.put(artifact("a" * 16, "# One\n\n*two*\n", title="Title"), "")
    response = page_client(look).get(f"/texts/{'a' * 16}/rendered")
    assert response.headers["content-security-policy"] == POLICY
    assert "<h1>One</h1>\n<p><em>two</em></p>" in response.text
    assert "<h1>" not in page_client(look).get(f"/texts/{'a' * 16}/rendered?start=7").text


def test_deeply_nested_markdown_is_rendered() -> None:
    assert render_document(">" * 5_000 + "- " * 2_000 + "[" * 2_000, "T")


def test_a_document_names_the_language_of_its_text_even_if_it_is_unknown() -> None:
    assert '<html lang="de">' in render_document("Text", "Title", "de")
    assert '<html lang="und">' in render_document("Text", "Title")


def test_links_of_a_stored_text_lead_to_the_site_of_its_page() -> None:
    look = empty_look()
    look.store.put(artifact("a" * 16, "[one](/one) [two](https://two.example/)\n", url="https://site.example/x"), "")
    response = page_client(look).get(f"/texts/{'a' * 16}/rendered")
    assert 'title="https://site.example/one"' in response.text
    assert 'title="https://two.example/"' in response.text


def test_the_blocks_of_the_passages_that_a_call_showed_are_marked() -> None:
    text = "# One\n\nfirst\n\nsecond\nline\n\n- item\n- other\n\n|a|b|\n|-|-|\n|c|d|\n|e|f|\n"
    stored, look = artifact("a" * 16, text, title="Title", url="https://site.example/"), empty_look()
    look.store.put(stored, "")
    spans = [(text.index(words), text.index(words) + len(words)) for words in ("line", "- other\n", "|c|d|")]
    look.calls.add(call("c1", texts=[read_text(stored, *spans)]))
    html = page_client(look).get(f"/texts/{'a' * 16}/rendered?call=c1").text
    assert '<p class="shown" id="shown">second\nline</p>' in html
    assert '<li>item</li>\n<li class="shown">other</li>' in html
    assert '<tr class="shown">\n<td>c</td>' in html
    assert html.count('class="shown"') == 3
