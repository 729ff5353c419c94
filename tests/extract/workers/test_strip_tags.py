"""Tags and the text that a reader cannot see are stripped in linear time, without a parser."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.workers.salvage import strip_tags
from tests.support.machine import allowed


def words(html: str, media_type: str = "text/html") -> str:
    return " ".join(strip_tags(html, media_type).split())


HIDING = [
    "<div hidden>{}</div>", "<p style='display:none'>{}</p>", '<p style="DISPLAY : NONE !important">{}</p>',
    "<span style=visibility:hidden>{}</span>", "<b style='display&#58;none'>{}</b>", "<p a='>' hidden>{}</p>",
    "<p title=\"a>b\" style='opacity:0'>{}</p>", "<p/hidden>{}</p>", "<P HIDDEN=''>{}</P>", "<dialog>{}</dialog>",
    "<div popover>{}</div>", "<template>{}</template>", "<script>{}</script>", "<style>{}</style >", "<svg>{}</svg>",
    "<noscript>{}</noscript>", "<textarea>{}</textarea>", "<video>{}</video>", "<object>{}</object>", "<!-- {} -->",
    "<div hidden><div>a</div>{}</div>", "<div hidden><p>a<p>b</div><template>{}</template>",
    "<script></scripty>{}</script>",
    "<script><!-- <script></script>{} --></script>",
    "<div hidden><!-- </div> -->{}</div>", "<div hidden><script>'</div>'</script>{}</div>",
    "<div hidden><i title='</div>'>a</i>{}</div>", "<div hidden><br/><img></br>{}</div>",
    "<div hidden><table><td></div>{}</td></table></div>", "<li hidden><ul></li>{}</ul></li>",
    "<p><b hidden>a</p>{}</b>", "<b><i hidden><div></b>{}</div></i>", "<div hidden></body></html>{}</div>",
    "<p hidden><button></p>{}</button></p>", "<ul><li hidden>{}<li hidden>{}</ul>",
    "<span hidden>{}<span>a</span></span>",
    "<p style='color:#fff;background:#fff'>{}</p>", "<div style='position:absolute;left:-9999px'>{}</div>",
]  # fmt: skip


@pytest.mark.parametrize("markup", HIDING)
def test_hidden_text_is_dropped_and_the_text_around_it_stays(markup: str) -> None:
    assert words(f"<main>before {markup.replace('{}', 'never')} after</main>") == "before after"


@pytest.mark.parametrize(
    "markup", ["<div hidden>", "<b style='display:none'>", "<script>", "<!--", "<p title='", "<svg>"]
)
def test_hidden_text_without_an_end_is_dropped_to_the_end_of_its_parent_or_of_the_text(markup: str) -> None:
    assert words(f"<main><p>before</p>{markup}never") == "before"
    after = words(f"<main><section><p>before</p>{markup}never</section>after</main>")
    assert after in {"before", "before after"}


def test_a_hidden_form_lasts_as_long_as_the_elements_in_it() -> None:
    assert words("<main>before<form hidden><div></form>never</div>") == "before"


def test_a_hidden_element_without_an_end_tag_ends_with_its_parent_or_its_next_sibling() -> None:
    assert words("<section><div hidden>never</section>after") == "after"
    assert words("<ul><li hidden>never<li>shown</ul>") == "shown"
    assert words("<p hidden>never<p>shown") == "shown"


@pytest.mark.parametrize(
    "markup",
    [
        "<p>{}</p>", "<details><summary>a</summary>{}</details>", "<p aria-hidden=true>{}</p>",
        "<dialog open>{}</dialog>",
        "<p style='display:block'>{}</p>", "<body style='display:none'>{}", "<html hidden>{}", "<p data-hidden>{}</p>",
        "<p title='hidden'>{}</p>", "<p title=' hidden '>{}", "<math><mi>{}</mi></math>", "<input hidden>{}",
        "<br hidden>{}",
        "<pre>{}</pre>", "<!-->{}<!-- -->", "<!doctype html>{}", "<?php x ?>{}", "</nothing>{}", "a < b {}", "<1 {}",
    ],
)  # fmt: skip
def test_visible_text_stays(markup: str) -> None:
    assert "shown" in words(markup.replace("{}", "shown"))


@pytest.mark.parametrize(
    ("css", "element"),
    [
        (".x{display:none}", "<p class='a x'>"), ("#x { visibility: hidden }", "<p id=x>"), ("p{display:none}", "<p>"),
        ("a,p.x , b{color:red;display:none}", "<p class=x>"), ("/* } */.x{display:none}", "<p class=x>"),
        ("@media screen{.x{display:none}}", "<p class=x>"), ("@import 'a';.x{display:none}", "<p class=x>"),
        (".x{display:block}.x{display:none}", "<p class=x>"),
    ],
)  # fmt: skip
def test_the_page_s_own_simple_rules_hide(css: str, element: str) -> None:
    assert words(f"<style>{css}</style><div>before {element}never</p> after</div>") == "before after"
    assert words(f"<div>before {element}never</p> after</div><style>{css}</style>") == "before after"


@pytest.mark.parametrize(
    "css",
    [
        ".x{display:none}.x{display:block}", "@media print{.x{display:none}}", ".js .x{display:none}",
        ".y{display:none}",
        ".x{display:block}", "body.x{display:none}", "@media (max-width:9px){.x{display:none}}", "{display:none}",
        ".x:hover{display:none}", "}.y{display:none}", ".x{color:red",
    ],
)  # fmt: skip
def test_other_rules_hide_nothing(css: str) -> None:
    assert words(f"<style>{css}</style><p class=x>shown") == "shown"


@pytest.mark.parametrize(
    "holder", ["<style media=print>{}</style>", "<!--<style>{}</style>-->", "<noscript><style>{}</style></noscript>"]
)
def test_a_style_sheet_that_does_not_apply_hides_nothing(holder: str) -> None:
    assert words(holder.replace("{}", ".x{display:none}") + "<p class=x>shown") == "shown"


def test_xml_hides_only_scripts_and_styles_and_reads_sections() -> None:
    xml = "<a hidden='x'/><title>one</title><script>never</script><b hidden='x'>two</b><c><![CDATA[three & four]]></c>"
    assert words(xml, "application/xml") == "one two three & four"


def test_xhtml_has_empty_elements_and_hidden_ones() -> None:
    xhtml = "<script src='x'/><p hidden='hidden'/>one<p hidden='hidden'>never</p><title/>two"
    assert words(xhtml, "application/xhtml+xml") == "one two"


@pytest.mark.parametrize(
    "reference", ["&#11;", "&#55357;", "&#xFFFFFFFFFF;", f"&#{'9' * 9_000};", f"&#{'0' * 9_000}65;"]
)
def test_any_reference_is_decoded(reference: str) -> None:
    assert words(f"a &lt; b {reference}").startswith("a < b")


@given(st.lists(st.sampled_from(["<", ">", "p", "/", "!--", "-->", "script", " ", "&lt", ";", "x", "\n"])).map("".join))
def test_any_order_of_markup_is_stripped(markup: str) -> None:
    assert len(strip_tags(markup)) <= len(markup) * 2 + 2


def nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    wrap = st.sampled_from(
        ["<div>{}</div>", "<section>{}</section>", "<ul><li>{}</ul>", "<table><tr><td>{}</table>", "<b>{}</b>", "<p>{}",
         "<span>{}</span>", "<form>{}</form>", "<dl><dt>{}<dd>a</dl>", "<!-- </div></section> -->{}", "<br>{}</br>",
         "<script>'</section>'</script>{}", "<i title='</section>'>{}</i>", "</form>{}", "</td>{}", "</ul>{}"]
    )  # fmt: skip
    return st.builds(lambda template, each: template.replace("{}", each), wrap, inner) | st.tuples(inner, inner).map(
        "".join
    )


@given(st.recursive(st.just("never"), nest, max_leaves=6))
def test_a_hidden_element_lasts_to_its_end_whatever_is_in_it(inside: str) -> None:
    assert words(f"<main>before<section hidden>{inside}</section>after</main>") == "before after"


@pytest.mark.parametrize(
    "piece",
    ["<b style='left:{}px;color:#{}'>x</b>", "<p hidden>", "<p a=b>", "<td></p>", "<style>.a{}{{display:none}}</style>",
     "<li><ul>", "<table></div>", '<p a="', "<form><b></form>", "<p style='a:((((", "<a =", "<style>",
     "<p class=' a{}"],
)  # fmt: skip
def test_hostile_markup_takes_linear_time(piece: str) -> None:
    text = "".join(piece.format(number, number) for number in range(400_000 // len(piece)))
    start = time.process_time()
    strip_tags(text)
    assert time.process_time() - start < allowed(2)
