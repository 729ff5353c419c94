"""Text is read from the data of a page, and pages without text until scripts run are detected."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.failures.js_shell import asks_for_scripts, needs_javascript
from keyhole.extract.html.embedded_data import MAX_TEXT, is_prose, read_embedded_text
from keyhole.extract.html.link_resolver import LinkResolver
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html
from tests.support.machine import allowed

URL = "https://example.org/tea/"
PAGES = sorted((Path(__file__).resolve().parents[3] / "fixtures" / "pages").glob("*.html"))
PROSE = "Green tea is best brewed with water that has cooled for a while."
MORE = "Black tea, on the other hand, wants water that is just boiling."


def embedded_text(html: str) -> str:
    return read_embedded_text(parse_html(html), LinkResolver(URL))


def json_script(value: object, attributes: str = 'type="application/json"') -> str:
    """Return a script with JSON in which `</` is escaped, as an end tag in a string would end the script."""
    text = json.dumps(value).replace("</", "<\\/")
    return f"<script {attributes}>{text}</script>"


def json_ld(value: object) -> str:
    return json_script(value, 'type="application/ld+json"')


# Sources of text.


@pytest.mark.parametrize(
    "html",
    [
        json_script({"props": {"pageProps": {"post": {"body": PROSE}}}}, 'id="__NEXT_DATA__" type="application/json"'),
        json_script([["Reactive", 1], {"data": 2}, PROSE], 'id="__NUXT_DATA__" type="application/json"'),
        json_script({"status": 200, "body": json.dumps({"post": {"text": PROSE}})}),
        f"<script>window.__INITIAL_STATE__ = {json.dumps({'text': PROSE})};go()</script>",
        f"<script>window['__APOLLO_STATE__']={json.dumps({'text': PROSE})}</script>",
        f"<script>var pageData = JSON.parse({json.dumps(json.dumps({'text': PROSE}))});</script>",
        f"<script>window.__remixContext = {json.dumps({'state': {'loaderData': {'text': PROSE}}})};</script>",
        "<script>self.__next_f.push([1,{}])</script>".format(
            json.dumps('5:["$","p",null,{"children":' + json.dumps(PROSE) + "}]\n")
        ),
        "<script>window.__reactRouterContext.streamController.enqueue({})</script>".format(
            json.dumps(json.dumps([{"_1": 2}, "text", PROSE]))
        ),
        '<div id=app data-page="{}"></div>'.format(json.dumps({"props": {"text": PROSE}}).replace('"', "&quot;")),
        f"<noscript><p>{PROSE}</p></noscript>",
        f"<my-card><template shadowrootmode=open><p>{PROSE}</p></template></my-card>",
        json_ld({"@type": "Article", "articleBody": PROSE}),
        json_ld({"@graph": [{"@type": "WebSite", "name": "x"}, {"@type": "Product", "description": PROSE}]}),
        f'<script type="text/markdown">{PROSE}</script>',
        json_script({"html": f"<p>{PROSE}</p><script>alert(1)</script>"}),
    ],
)  # fmt: skip
def test_prose_is_read_from_the_data_of_frameworks(html: str) -> None:
    assert embedded_text(html) == PROSE + "\n"


def test_html_in_data_becomes_markdown_with_absolute_links() -> None:
    body = f'<h2>Brewing</h2><p>{PROSE} <a href="more">More</a></p><script>x()</script><ul><li>one</li></ul>'
    text = embedded_text(json_script({"content": body}))
    assert text == f"## Brewing\n\n{PROSE} [More](https://example.org/tea/more)\n\n- one\n"


def test_the_title_of_an_object_becomes_the_heading_of_its_first_text() -> None:
    posts = [{"title": "Green tea", "body": PROSE}, {"title": "Black tea", "body": MORE, "note": PROSE}]
    assert embedded_text(json_script({"posts": posts})) == f"## Green tea\n\n{PROSE}\n\n## Black tea\n\n{MORE}\n"


def test_rich_text_trees_are_read_paragraph_by_paragraph() -> None:
    tree = {
        "nodeType": "document",
        "content": [
            {"nodeType": "heading-2", "content": [{"nodeType": "text", "value": "Brewing"}]},
            {
                "nodeType": "paragraph",
                "content": [
                    {"nodeType": "text", "value": "Use "},
                    {"nodeType": "hyperlink", "content": [{"nodeType": "text", "value": "soft water"}]},
                    {"nodeType": "text", "value": "."},
                ],
            },
        ],
    }
    assert embedded_text(json_script({"body": tree})) == "## Brewing\n\nUse soft water.\n"
    block = {"_type": "block", "style": "normal", "children": [{"_type": "span", "text": "Use soft water."}]}
    assert embedded_text(json_script([block])) == "Use soft water.\n"


def test_questions_are_followed_by_their_answers() -> None:
    answer = {"@type": "Answer", "text": f"<p>{PROSE}</p>"}
    faq = {"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "How hot?", "acceptedAnswer": answer}]}
    assert embedded_text(json_ld(faq)) == f"## How hot?\n\n{PROSE}\n"


def test_the_ingredients_and_steps_of_a_recipe_are_read() -> None:
    steps = [{"@type": "HowToStep", "text": "Boil water."}, {"@type": "HowToStep", "text": "Wait."}]
    recipe = {"@type": "Recipe", "name": "Tea", "recipeIngredient": ["Tea", "Water"], "recipeInstructions": steps}
    assert embedded_text(json_ld(recipe)) == "## Tea\n\n- Tea\n- Water\n\nBoil water.\n\nWait.\n"


def test_the_price_of_a_product_is_read() -> None:
    offers = {"@type": "Offer", "price": 4.5, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
    product = {"@type": "Product", "name": "Sencha", "brand": {"name": "Leaf"}, "offers": offers}
    assert embedded_text(json_ld(product)) == "## Sencha\n\n- brand: Leaf\n- price: 4.5 EUR, InStock\n"


def test_an_item_list_becomes_a_list() -> None:
    items = [{"@type": "ListItem", "item": {"@type": "Product", "name": name}} for name in ("Sencha", "Assam")]
    text = embedded_text(json_ld({"@type": "ItemList", "name": "Teas", "itemListElement": items}))
    assert text == "## Teas\n\n- Sencha\n- Assam\n"


# Ignored data.


@pytest.mark.parametrize(
    "html",
    [
        json_script({"i18n": {"a": PROSE}}),
        json_script({"messages": {"a": PROSE}, "runtimeConfig": {"b": MORE}, "tracking": [PROSE], "footerMenu": MORE}),
        json_script({"a": PROSE}, 'type="application/json" id="app-settings"'),
        json_script({"className": "flex items-center justify-between px-4 py-2 Text. And more of it"}),
        json_script({"src": "https://example.org/a b c d e f g h i j k l m n o p q r s t u"}),
        json_script({"css": ".a { color: red; } .b { color: blue; margin: 0 auto 1px 2px }"}),
        json_script({"a": "function go(a, b) { return a + b * 2; } go(1, 2); go(3, 4, 5);"}),
        json_script({"a": "query Post($id: ID!) { post(id: $id) { id title body author { name } } }"}),
        json_script({"a": "We use cookies to make this site better for you, and for all of us."}),
        f"<script>var settings = {json.dumps({'a': PROSE})}</script>",
        f"<script>window.state = {{text: {json.dumps(PROSE)}}}</script>",
        f"<script>console.log({json.dumps(PROSE)})</script>",
        f"<p>{PROSE}</p>",
        "<noscript>You need to enable JavaScript to run this app.</noscript>",
        "<noscript><img src=https://t.example/p.gif><iframe src=//t.example></iframe></noscript>",
        json_ld({"@type": "Organization", "description": PROSE}),
        json_ld({"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "item": {"name": "Home"}}]}),
    ],
)
def test_settings_code_and_notices_are_ignored(html: str) -> None:
    assert embedded_text(html) == ""


def test_prose_in_a_dense_script_is_recognized() -> None:
    assert is_prose("緑茶は少し冷ましたお湯でいれるのがいちばんおいしいと言われています。")
    assert not is_prose("a" * 500)


def test_repeated_texts_are_written_once() -> None:
    html = json_ld({"@type": "Article", "articleBody": f"{PROSE} {MORE}"}) + json_script({"a": PROSE, "b": PROSE})
    assert embedded_text(html) == f"{PROSE} {MORE}\n"


@pytest.mark.parametrize(
    "script",
    [
        "var state=[" * 50_000,
        'window.state=JSON.parse("' * 30_000,
        "\n" * 400_000 + 'var state={"a":x;' * 20_000,
        'self.__next_f.push(["' * 30_000,
        json.dumps([f"This is sentence number {number}, and it reads as prose." for number in range(20_000)]),
        "[" * 200_000,
    ],
)
def test_hostile_data_is_bounded_in_time_and_size(script: str) -> None:
    start = time.process_time()
    for kind in ("", "application/json", "application/ld+json"):
        assert len(embedded_text(f'<script type="{kind}">{script}</script>')) <= 2 * MAX_TEXT
    assert time.process_time() - start < allowed(10)


def test_noscript_inside_noscript_is_bounded() -> None:
    start = time.process_time()
    assert len(embedded_text("<noscript>" * 300 + f"<p>{PROSE}" * 20_000)) <= 2 * MAX_TEXT
    assert time.process_time() - start < allowed(10)


@given(st.text(max_size=300), st.sampled_from(["", "application/json", "application/ld+json", "module"]))
def test_reading_any_script_twice_gives_the_same_text(text: str, kind: str) -> None:
    html = f'<script type="{kind}">{text}</script><script>window.__S__={text}</script><noscript>{text}</noscript>'
    assert embedded_text(html) == embedded_text(html)
    assert needs_javascript(parse_html(html), text) in {True, False}


# Shells.


def is_shell(html: str) -> bool:
    """Return whether a page is a shell by its tree and its extracted text."""
    pruned = parse_html(html)
    prune(pruned)
    return needs_javascript(parse_html(html), "".join(pruned.itertext()))


BUNDLE = '<script defer="defer" src="/static/js/main.8d6a1d2f.js"></script>'


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_of_real_build_tools_are_shells_without_text(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    assert is_shell(html)
    assert embedded_text(html) == ""


@pytest.mark.parametrize(
    "body",
    [
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
        "<noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled. Please enable it to"
        " continue.</strong></noscript><div id=app></div>",
        "<app-root></app-root>",
        "<app-root>Loading...</app-root><footer>© 2024 Tea Weekly</footer>",
        "<div ng-app=shop><div ng-view></div></div><p>© Shop",
        "<div id=root><p>Chargement…</p></div><p>Tea Weekly</p>",
        "<p>Please turn on JavaScript in your browser to view this page.</p>",
        "<div id=__next></div><script id=__NEXT_DATA__ type=application/json>{}</script>",
    ],
)
def test_an_empty_mount_node_with_a_script_is_a_shell(body: str) -> None:
    assert is_shell(f"<html><body>{body}{BUNDLE}")


def test_inline_scripts_and_challenges_are_shells() -> None:
    assert is_shell(f"<div id=app></div><script type=module>{'go();' * 1_000}</script>")
    notice = "<noscript>Enable JavaScript and cookies to continue</noscript>"
    assert is_shell(f"<title>Just a moment...</title>{notice}<script>load('/challenge')</script>")
    assert not is_shell(f"<p>Gone fishing.</p>{notice}<script>count('/visit')</script>")


@pytest.mark.parametrize(
    "body",
    [
        f"<h1>Tea</h1><p>{PROSE}</p>",
        f"<h1>Tea</h1><p>{PROSE}</p>{BUNDLE}",
        "<p>Gone fishing.</p><script async src=https://www.googletagmanager.com/gtag/js?id=G-1></script>",
        f"<div id=root><h1>Tea</h1><p>{PROSE}</p></div>{BUNDLE}",
        f"<div id=app><p>{PROSE}</p></div><noscript>Please enable JavaScript to view the comments.</noscript>{BUNDLE}",
        f"<theme-switch></theme-switch><p>{PROSE}</p>{BUNDLE}",
        f"<div id=root></div><p>{PROSE * 5}</p>{BUNDLE}",
        f"<img src=cat.jpg>{BUNDLE}",
        "<div id=root></div>",
        "<noscript>You need to enable JavaScript to run this app.</noscript>",
        "",
    ],
)
def test_short_and_empty_pages_are_not_shells(body: str) -> None:
    assert not is_shell(f"<html><body>{body}")


@pytest.mark.parametrize(
    "sentence",
    [
        "You need to enable JavaScript to run this app.",
        "This site requires JavaScript.",
        "Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen.",
        "Vous devez activer JavaScript pour afficher cette page.",
        "Necesitas habilitar JavaScript para ejecutar esta aplicación.",
        "Você precisa habilitar o JavaScript para executar este aplicativo.",
        "Per usare questa app devi abilitare JavaScript.",
        "Schakel JavaScript in: dit is vereist om deze pagina te bekijken.",
        "Aby wyświetlić stronę, włącz obsługę JavaScript.",
        "Для работы сайта необходимо включить JavaScript.",
        "Bu uygulamayı çalıştırmak için JavaScript'i etkinleştirmeniz gerekir.",
        "このアプリを実行するには、JavaScriptを有効にする必要があります。",
        "请启用 JavaScript 以运行此应用。",
        "이 앱을 실행하려면 JavaScript를 활성화해야 합니다.",
        "Pro zobrazení stránky povolte JavaScript.",
        "Du behöver aktivera JavaScript för att köra appen.",
        "Bạn cần bật JavaScript để chạy ứng dụng này.",
        "يجب تفعيل جافا سكريبت لعرض هذه الصفحة.",
    ],
)
def test_requests_for_javascript_are_recognized_in_many_languages(sentence: str) -> None:
    assert asks_for_scripts(sentence)


@pytest.mark.parametrize(
    "sentence", ["JavaScript was made in ten days.", "Please enable cookies.", "TypeScript must be compiled.", ""]
)
def test_other_sentences_are_not_requests_for_javascript(sentence: str) -> None:
    assert not asks_for_scripts(sentence)
