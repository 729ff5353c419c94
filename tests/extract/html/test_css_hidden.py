"""Elements that CSS hides are removed; similar CSS that does not hide removes none."""

from __future__ import annotations

import pytest

from keyhole.extract.html.page import read_html

HIDDEN = (
    "DISPLAY : NONE !important", "visibility:collapse", "opacity:.0", "opacity:0%", "font-size:0", "font-size: 1px",
    "position:absolute;left:-9999px", "position:fixed;top:-200em", "text-indent:-999em", "clip:rect(0,0,0,0)",
    "clip: rect(1px 1px 1px 1px)", "clip-path:inset(50%)", "clip-path:circle(0)", "transform:scale(0)",
    "transform:translateX(-9999px)", "width:1px;height:1px;overflow:hidden", "max-height:0;overflow:hidden",
    "color:transparent", "color:#0000", "color:rgba(0,0,0,0)", "color:white;background:#fff",
    "color:rgb(255,255,255);background-color:#fefefe", "filter:opacity(0)", "d\\69splay:none", "display/**/:none",
    "display:none!important;display:block", "font:0/0 a", "opacity:.01", "translate:-9999px",
    "transform:matrix(0,0,0,0,0,0)", "color:hsl(0 0% 0% / 0)",
    "color:hsla(0,0%,0%,0)", "color:lightyellow;background:lightyellow", "position:absolute;inset:-9999px auto auto 0",
)  # fmt: skip
SHOWN = (
    "display:block", "opacity:0.5", "color:#fff;background:#000", "font-size:10px", "overflow:hidden", "left:-9999px",
    "margin-left:-20px", "opacity:0;transition:opacity .3s", "color:transparent;background-clip:text", "width:0",
    "text-indent:2em", "color:#fff", "clip-path:inset(0)", "transform:scale(0.9)", "height:1px",
    "color:white;background:url(dark.jpg) white", "font:12px/0 a", "transform:matrix(0,1,-1,0,0,0)", "opacity:.1",
    "color:inherit;background:inherit", "color:hsl(0,0%,0%)", "color:white;background:linear-gradient(white,black)",
    "display:none;display:block", "translate:10px -20px",
)  # fmt: skip
RULES = (
    ".x{display:none}", "#y{visibility:hidden}", "p.x{opacity:0}", "div>.x{font-size:0}", "div .x, .z{display:none}",
    "@media all{.x{display:none}}", "@media screen { .x { position:absolute; left:-9999px } }",
    "/* c */ .x{display:none",
    "aside{display:none}", "p.x{DISPLAY:NONE}", "<!-- .x{display:none} -->", ":root .x{display:none}",
    "@supports (display:grid){.x{display:none}}", ".x{display:none!important} #y{display:block}",
)  # fmt: skip
NO_RULES = (
    "@media print{.x{display:none}}", "@media (max-width:600px){.x{display:none}}", ".js .x{display:none}",
    ".x{display:none} .x{display:block}", ".x{display:none} @media (min-width:1px){.x{display:block}}",
    "@keyframes x{from{opacity:0}}", ".x:not(.show){display:none}", ".x::before{display:none}", "p + .x{display:none}",
    ".x{display:none} #y{display:block}",
    "@supports not (display:grid){.x{display:none}}", ".x{display:none!important} #y{display:block!important}",
)  # fmt: skip


def text(body: str, head: str = "") -> str:
    page = f"<head><style>{head}</style></head><body><p>First words of a page.</p>{body}<p>Last words of it.</p>"
    return read_html(page, "https://example.org/").text


@pytest.mark.parametrize("style", HIDDEN)
def test_elements_hidden_by_an_inline_style_are_removed(style: str) -> None:
    assert "UNSEEN" not in text(f'<div style="{style}">UNSEEN words</div>')


@pytest.mark.parametrize("style", SHOWN)
def test_elements_shown_by_an_inline_style_stay(style: str) -> None:
    assert "SEEN" in text(f'<div style="{style}">SEEN words</div>')


@pytest.mark.parametrize("rule", RULES)
def test_elements_hidden_by_a_rule_of_the_page_are_removed(rule: str) -> None:
    tag = "aside" if rule.startswith("aside") else "p"
    assert "UNSEEN" not in text(
        f"<div><{tag} class=x id=y>UNSEEN words</{tag}></div>", rule if "}" in rule[-2:] else rule + "}"
    )


@pytest.mark.parametrize("rule", NO_RULES)
def test_elements_matched_only_by_unsupported_or_conditional_rules_stay(rule: str) -> None:
    assert "SEEN" in text("<div><p class=x id=y>SEEN words</p></div>", rule)


def test_an_inline_style_wins_over_a_rule() -> None:
    assert "SEEN" in text('<p class=x style="display:block">SEEN words', ".x{display:none}")


def test_an_important_rule_wins_over_an_inline_style() -> None:
    assert "UNSEEN" not in text('<p class=x style="display:block">UNSEEN words</p>', ".x{display:none !important}")
    assert "SEEN" in text('<p class=x style="display:block!important">SEEN words</p>', ".x{display:none!important}")


def test_hidden_text_stays_hidden_unless_an_inner_style_shows_it() -> None:
    assert "UNSEEN" not in text('<div style="font-size:0"><b style="font-weight:bold">UNSEEN words</b></div>')
    assert "SEEN" in text('<div style="font-size:0"><b style="FONT-SIZE:16px">SEEN words</b></div>')


@pytest.mark.parametrize("part", ["<div popover>UNSEEN words</div>", "<noembed>UNSEEN words</noembed>"])
def test_elements_that_browsers_hide_are_removed(part: str) -> None:
    assert "UNSEEN" not in text(part)


def test_many_long_elements_hidden_by_one_rule_are_kept() -> None:
    parts = "".join(f"<p class=reveal>Part {n} says in many words what the page is about." for n in range(20))
    assert "Part 7" in text(parts, ".reveal{visibility:hidden}")


@pytest.mark.parametrize(
    "css", ["{" * 100_000, "}" * 100_000, ".a{" * 50_000, "/*" * 100_000, "a " * 100_000 + "{x:y}", "," * 300_000]
)
def test_a_broken_style_sheet_does_not_lose_the_page(css: str) -> None:
    assert "First" in text("<p class=a>words", css)
