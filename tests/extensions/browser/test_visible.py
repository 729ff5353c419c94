"""The script that copies the visible part of a page, in a real Chromium without network access."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from keyhole.extensions.browser.page_session import MAX_HTML, script
from tests.support.chromium import MISSING, Chromium, find_chromium

pytestmark = pytest.mark.skipif(find_chromium() is None, reason=MISSING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


def html_of(browser: Chromium, body: str, limit: int = MAX_HTML) -> str:
    """Return the visible HTML of a page whose scripts have run."""
    with browser.page(f"<!doctype html>{body}", scripts=True) as page:
        return str(page.evaluate(f"({script('visible.js')})({limit})"))


def words_of(browser: Chromium, body: str) -> list[str]:
    """Return the visible words of a page."""
    return re.sub("<[^>]*>", "", html_of(browser, body).partition("</head>")[2]).split()


HIDDEN = {
    "display": "<p style='display:none'>hidden</p>",
    "attribute": "<p hidden>hidden</p>",
    "visibility": "<p style='visibility:hidden'>hidden</p>",
    "opacity": "<div style='opacity:0'><p>hidden</p></div>",
    "filter": "<p style='filter:opacity(0%)'>hidden</p>",
    "left": "<p style='position:absolute;left:-9999px'>hidden</p>",
    "top": "<p style='position:absolute;top:-900px'>hidden</p>",
    "indent": "<p style='text-indent:-9999px'>hidden</p>",
    "screen reader": "<p style='position:absolute;width:1px;height:1px;overflow:hidden'>hidden</p>",
    "clip": "<p style='position:absolute;clip:rect(0 0 0 0)'>hidden</p>",
    "clip-path": "<p style='clip-path:inset(50%)'>hidden</p>",
    "height": "<div style='height:0;overflow:hidden'><p>hidden</p></div>",
    "outside": "<div style='position:relative;height:20px;overflow:hidden'>seen<p style='position:absolute;top:99px'>"
    "hidden</p></div>",
    "font": "<p style='font-size:0'>hidden</p>",
    "transparent": "<p style='color:transparent'>hidden</p>",
    "white on white": "<p style='color:#fff'>hidden</p>",
    "same colour": "<div style='background:#123456'><p style='color:#123456'>hidden</p></div>",
    "scaled": "<p style='transform:scale(0)'>hidden</p>",
    "content visibility": "<div style='content-visibility:hidden'><p>hidden</p></div>",
    "rule": "<style>@media (min-width: 900px) { .wide { display: none } }</style><p class=wide>hidden</p>",
    "variable": "<style>:root { --d: none } .x { display: var(--d) }</style><p class=x>hidden</p>",
    "script": "<p id=p>hidden</p><script>p.style.setProperty('display', 'none')</script>",
    "unassigned": "<div id=h>hidden</div><script>h.attachShadow({mode:'open'}).innerHTML = '<p>seen'</script>",
    "template": "<template>hidden</template>",
    "noscript": "<noscript>hidden</noscript>",
    "popover": "<div popover>hidden</div>",
    "dialog": "<dialog>hidden</dialog>",
    "fallback": "<canvas>hidden</canvas><video>hidden</video>",
}


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN)
def test_text_that_nobody_can_see_is_left_out(browser: Chromium, body: str) -> None:
    words = words_of(browser, f"<p>before</p>{body}<p>after</p>")
    assert [word for word in words if word != "seen"] == ["before", "after"]


SEEN = {
    "child of a hidden element": "<p style='visibility:hidden'><b style='visibility:visible'>seen</b></p>",
    "contents": "<div style='display:contents'>seen</div>",
    "scrolled": "<div style='height:20px;overflow:auto'><div style='height:500px'></div>seen</div>",
    "below the window": "<div style='height:5000px'></div>seen",
    "white on black": "<div style='background:#000'><p style='color:#fff'>seen</p></div>",
    "white on an image": "<div style='background-image:url(a.png)'><p style='color:#fff'>seen</p></div>",
    "white over an image": "<div><img src=a><p style='color:#fff;position:absolute;top:20px'>seen</p></div>",
    "gradient text": "<p style='background:linear-gradient(red,blue);background-clip:text;color:transparent'>seen</p>",
    "escapes a clip": "<div style='height:0;overflow:hidden'><p style='position:fixed;top:40px'>seen</p></div>",
    "shadow root": "<div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML = '<p>seen</p>'</script>",
    "slot": "<div id=h><b>seen</b></div><script>h.attachShadow({mode:'open'}).innerHTML = '<slot>'</script>",
    "details": "<details><summary></summary>seen</details>",
    "open dialog": "<dialog open>seen</dialog>",
    "frame": "<iframe srcdoc='<p>seen</p><p hidden>hidden</p>'></iframe>",
    "moved": "<p id=p>x</p><script>p.textContent = 'seen'</script>",
}


@pytest.mark.parametrize("body", SEEN.values(), ids=SEEN)
def test_text_that_a_person_can_see_stays(browser: Chromium, body: str) -> None:
    assert words_of(browser, f"<p>before</p>{body}<p>after</p>") == ["before", "seen", "after"]


def test_the_html_has_metadata_and_attributes_but_no_styles_and_no_code(browser: Chromium) -> None:
    html = html_of(
        browser,
        "<html lang=de><title>A &amp; B</title><meta name=description content='\"D\"'><link rel=canonical href=/c>"
        "<link rel=stylesheet href=s.css><style>p {}</style><script>var a = '</p>'</script>"
        '<script type=application/ld+json>{"a": "<b>"}</script>'
        "<p class=lead id=p style='color:red' onclick='a()'>1 &lt; 2 <a href=/x title='\"'>link</a><br>"
        "<img alt=I src=i>",
    )
    assert html.startswith('<!DOCTYPE html><html lang="de"><head><meta charset="utf-8"><title>A &amp; B</title>')
    assert '<base href="https://page.example/">' in html
    assert '<meta name="description" content="&quot;D&quot;">' in html
    assert '<link rel="canonical" href="/c">' in html
    assert '<script type="application/ld+json">{"a": "<b>"}</script>' in html
    assert '<p class="lead" id="p">1 &lt; 2 <a href="/x" title="&quot;">link</a><br><img alt="I" src="i"></p>' in html
    assert not re.search(r"style|var a|onclick", html)


def test_blocks_that_are_inline_by_name_do_not_join_words(browser: Chromium) -> None:
    body = (
        "<style>span { display: block } .i { display: inline }</style><span>one</span><span>two</span>"
        "<my-app style='display:flex'><my-a>three</my-a><my-a>four</my-a></my-app>f<span class=i>iv</span>e"
    )
    assert words_of(browser, body) == ["one", "two", "three", "four", "five"]
    assert "<div>one</div>" in html_of(browser, body)


def test_code_keeps_its_lines_and_its_indentation(browser: Chromium) -> None:
    html = html_of(browser, "<pre>\n\n  a <b>&lt;</b>\n\tb</pre>")
    assert "<pre>\n\n  a <b>&lt;</b>\n\tb</pre>" in html


def test_fields_have_their_present_values(browser: Chromium) -> None:
    html = html_of(
        browser,
        "<input id=i value=old><textarea id=t>old</textarea><select><option>one<option id=o>two</select>"
        "<input type=password id=p><script>i.value = t.value = p.value = 'new'; o.selected = true</script>",
    )
    assert '<input id="i" value="new">' in html
    assert '<textarea id="t">new</textarea>' in html
    assert "<option>one</option><option selected>two</option>" in html
    assert html.count("new") == 2  # not the password


def test_formulas_for_screen_readers_stay(browser: Chromium) -> None:
    hidden = "position:absolute;width:1px;height:1px;overflow:hidden"
    html = html_of(browser, f"<span class=katex-mathml style='{hidden}'><math><mi>x</mi></math></span>")
    assert '<span class="katex-mathml"><math><mi>x</mi></math></span>' in html


def test_a_page_cannot_lengthen_the_result_beyond_its_limit(browser: Chromium) -> None:
    html = html_of(browser, "<p>word</p>" * 1000, limit=2000)
    assert 1500 < len(html) < 2100
