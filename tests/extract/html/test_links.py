"""Links lead to absolute addresses; links to a place on the page are plain text or, if only a sign, nothing."""

from __future__ import annotations

import pytest

from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.link_resolver import LinkResolver, resolve_link
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/docs/page.html"


def markdown(html: str) -> str:
    return to_markdown(parse_html(html), LinkResolver(URL))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('See <a href="#b">below</a>.', "See below."),
        ('<a href="#">top</a>', "top"),
        ('<a href="/docs/page.html#b">below</a>', "below"),
        (f'<a href="{URL}#b">below</a>', "below"),
        ('<a href="/docs/page.html">page</a>', f"[page]({URL})"),
        ('<a href="other.html#b">other</a>', "[other](https://example.org/docs/other.html#b)"),
        ('<a href="#/settings">view</a>', f"[view]({URL}#/settings)"),
        ('<ul><li><a href="#a">One</a><li><a href="#b">Two</a></ul>', "- One\n- Two"),
        ('<code><a href="#b">f</a></code>', "`f`"),
    ],
)
def test_a_link_to_a_place_on_the_page_is_plain_text(html: str, text: str) -> None:
    assert markdown(html) == f"{text}\n"


@pytest.mark.parametrize(
    "reference", ["\x01javascript:alert(1)", " \x1f\x7fjavascript:alert(1)", "java\tscript:alert(1)"]
)
def test_a_link_to_a_script_behind_characters_that_browsers_ignore_is_plain_text(reference: str) -> None:
    assert markdown(f'<p>Read <a href="{reference}">this</a>') == "Read this\n"


@pytest.mark.parametrize("sign", ["¶", "#", "§", "🔗", "↩", "⚓", "\uf0c1", "", "Permalink", "Link to this heading"])
def test_a_link_that_is_only_a_sign_is_left_out(sign: str) -> None:
    assert markdown(f'<p>Text <a href="#b">{sign}</a>') == "Text\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<h2>Part <a href="#b">link</a></h2>', "## Part"),
        ('<h2>Part</h2><a class="sl-anchor-link" href="#b">Section titled “Part”</a>', "## Part"),
        ('<p>follow this <a href="#b">link</a>', "follow this link"),
        ('<p>see <a href="#b">§ 3</a>', "see § 3"),
        ('<p><a href="#b"><img src="/l.png" alt="Permalink"></a>x', "x"),
    ],
)
def test_a_word_is_left_out_only_beside_its_heading(html: str, text: str) -> None:
    assert markdown(html) == f"{text}\n"


def test_the_signs_of_an_index_are_kept_between_its_letters() -> None:
    html = '<p><a href="#s"><b>#</b></a> &nbsp; <a href="#t"><b>.</b></a> &nbsp; <a href="#A"><b>A</b></a>'
    assert markdown(html) == "**#** **.** **A**\n"


def test_links_that_nothing_separates_are_kept_apart() -> None:
    assert markdown('<a href="/a">One</a><a href="/b">Two</a><a href="#c">Three</a><a>Four</a>') == (
        "[One](https://example.org/a) [Two](https://example.org/b) Three Four\n"
    )


@pytest.mark.parametrize(
    "reference", ["/a", "/a//b", "/a/./b", "/a/..", "/a;", "/?", "/a?", "/a?x=/../y", "/a b", "/é", "/x/.y", "/a?b=c"]
)
def test_the_resolver_of_a_page_resolves_like_a_browser(reference: str) -> None:
    assert LinkResolver(URL).resolve(reference) == resolve_link(URL, reference)
