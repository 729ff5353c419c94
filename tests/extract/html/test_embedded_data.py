"""Text in a page's data, and pages that scripts fill: what is found, what is left out, and which page is a shell."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.failures.js_shell import asks_for_scripts, needs_javascript
from keyhole.extract.html.embedded_data import MAX_TEXT, is_prose, read_embedded_text
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse_html

URL = "https://example.org/tea/"
PAGES = sorted((Path(__file__).resolve().parents[3] / "fixtures" / "pages").glob("*.html"))
PROSE = "Green tea is best brewed with water that has cooled for a while."
MORE = "Black tea, on the other hand, wants water that is just boiling."


def found(html: str) -> str:
    return read_embedded_text(parse_html(html), URL)


def data(value: object, attributes: str = 'type="application/json"') -> str:
    """JSON in a script, as frameworks write it: an end tag in a string would end the script."""
    text = json.dumps(value).replace("</", "<\\/")
    return f"<script {attributes}>{text}</script>"


def linked(value: object) -> str:
    return data(value, 'type="application/ld+json"')


# Where text is found.


@pytest.mark.parametrize(
    "html",
    [
        data({"props": {"pageProps": {"post": {"body": PROSE}}}}, 'id="__NEXT_DATA__" type="application/json"'),
        data([["Reactive", 1], {"data": 2}, PROSE], 'id="__NUXT_DATA__" type="application/json"'),
        data({"status": 200, "body": json.dumps({"post": {"text": PROSE}})}),
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
        linked({"@type": "Article", "articleBody": PROSE}),
        linked({"@graph": [{"@type": "WebSite", "name": "x"}, {"@type": "Product", "description": PROSE}]}),
        f'<script type="text/markdown">{PROSE}</script>',
        data({"html": f"<p>{PROSE}</p><script>alert(1)</script>"}),
    ],
)  # fmt: skip
def test_prose_is_found_in_the_data_that_frameworks_leave(html: str) -> None:
    assert found(html) == PROSE + "\n"


def test_html_in_data_becomes_markdown_with_absolute_links() -> None:
    body = f'<h2>Brewing</h2><p>{PROSE} <a href="more">More</a></p><script>x()</script><ul><li>one</li></ul>'
    text = found(data({"content": body}))
    assert text == f"## Brewing\n\n{PROSE} [More](https://example.org/tea/more)\n\n- one\n"


def test_the_title_beside_a_text_stands_above_it_once() -> None:
    posts = [{"title": "Green tea", "body": PROSE}, {"title": "Black tea", "body": MORE, "note": PROSE}]
    assert found(data({"posts": posts})) == f"## Green tea\n\n{PROSE}\n\n## Black tea\n\n{MORE}\n"


def test_rich_text_trees_are_read_by_the_paragraph() -> None:
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
    assert found(data({"body": tree})) == "## Brewing\n\nUse soft water.\n"
    block = {"_type": "block", "style": "normal", "children": [{"_type": "span", "text": "Use soft water."}]}
    assert found(data([block])) == "Use soft water.\n"


def test_questions_are_followed_by_their_answers() -> None:
    answer = {"@type": "Answer", "text": f"<p>{PROSE}</p>"}
    faq = {"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "How hot?", "acceptedAnswer": answer}]}
    assert found(linked(faq)) == f"## How hot?\n\n{PROSE}\n"


def test_a_recipe_gives_ingredients_and_steps() -> None:
    steps = [{"@type": "HowToStep", "text": "Boil water."}, {"@type": "HowToStep", "text": "Wait."}]
    recipe = {"@type": "Recipe", "name": "Tea", "recipeIngredient": ["Tea", "Water"], "recipeInstructions": steps}
    assert found(linked(recipe)) == "## Tea\n\n- Tea\n- Water\n\nBoil water.\n\nWait.\n"


def test_a_product_gives_its_price() -> None:
    offers = {"@type": "Offer", "price": 4.5, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
    product = {"@type": "Product", "name": "Sencha", "brand": {"name": "Leaf"}, "offers": offers}
    assert found(linked(product)) == "## Sencha\n\n- brand: Leaf\n- price: 4.5 EUR, InStock\n"


def test_a_list_of_things_is_a_list() -> None:
    items = [{"@type": "ListItem", "item": {"@type": "Product", "name": name}} for name in ("Sencha", "Assam")]
    text = found(linked({"@type": "ItemList", "name": "Teas", "itemListElement": items}))
    assert text == "## Teas\n\n- Sencha\n- Assam\n"


# What is left out.


@pytest.mark.parametrize(
    "html",
    [
        data({"i18n": {"a": PROSE}}),
        data({"messages": {"a": PROSE}, "runtimeConfig": {"b": MORE}, "tracking": [PROSE], "footerMenu": MORE}),
        data({"a": PROSE}, 'type="application/json" id="app-settings"'),
        data({"className": "flex items-center justify-between px-4 py-2 Text. And more of it"}),
        data({"src": "https://example.org/a b c d e f g h i j k l m n o p q r s t u"}),
        data({"css": ".a { color: red; } .b { color: blue; margin: 0 auto 1px 2px }"}),
        data({"a": "function go(a, b) { return a + b * 2; } go(1, 2); go(3, 4, 5);"}),
        data({"a": "query Post($id: ID!) { post(id: $id) { id title body author { name } } }"}),
        data({"a": "We use cookies to make this site better for you, and for all of us."}),
        f"<script>var settings = {json.dumps({'a': PROSE})}</script>",
        f"<script>window.state = {{text: {json.dumps(PROSE)}}}</script>",
        f"<script>console.log({json.dumps(PROSE)})</script>",
        f"<p>{PROSE}</p>",
        "<noscript>You need to enable JavaScript to run this app.</noscript>",
        "<noscript><img src=https://t.example/p.gif><iframe src=//t.example></iframe></noscript>",
        linked({"@type": "Organization", "description": PROSE}),
        linked({"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "item": {"name": "Home"}}]}),
    ],
)
def test_settings_code_and_notices_are_no_text(html: str) -> None:
    assert found(html) == ""


def test_prose_is_told_from_code_in_any_script() -> None:
    assert is_prose("緑茶は少し冷ましたお湯でいれるのがいちばんおいしいと言われています。")
    assert not is_prose("a" * 500)


def test_each_text_is_given_once() -> None:
    html = linked({"@type": "Article", "articleBody": f"{PROSE} {MORE}"}) + data({"a": PROSE, "b": PROSE})
    assert found(html) == f"{PROSE} {MORE}\n"


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
        assert len(found(f'<script type="{kind}">{script}</script>')) <= 2 * MAX_TEXT
    assert time.process_time() - start < 10


def test_noscript_inside_noscript_is_bounded() -> None:
    start = time.process_time()
    assert len(found("<noscript>" * 300 + f"<p>{PROSE}" * 20_000)) <= 2 * MAX_TEXT
    assert time.process_time() - start < 10


@given(st.text(max_size=300), st.sampled_from(["", "application/json", "application/ld+json", "module"]))
def test_any_script_is_read_the_same_twice(text: str, kind: str) -> None:
    html = f'<script type="{kind}">{text}</script><script>window.__S__={text}</script><noscript>{text}</noscript>'
    assert found(html) == found(html)
    assert needs_javascript(parse_html(html), text) in {True, False}


# Shells.


def shell(html: str) -> bool:
    """What a page is taken for, with the text that is left of it after pruning."""
    pruned = parse_html(html)
    prune(pruned)
    return needs_javascript(parse_html(html), "".join(pruned.itertext()))


BUNDLE = '<script defer="defer" src="/static/js/main.8d6a1d2f.js"></script>'


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_build_tools_really_serve_is_a_shell_without_text(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    assert shell(html)
    assert found(html) == ""


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
def test_an_empty_place_and_a_program_are_a_shell(body: str) -> None:
    assert shell(f"<html><body>{body}{BUNDLE}")


def test_a_program_may_stand_in_the_page_and_a_challenge_may_load_it_later() -> None:
    assert shell(f"<div id=app></div><script type=module>{'go();' * 1_000}</script>")
    notice = "<noscript>Enable JavaScript and cookies to continue</noscript>"
    assert shell(f"<title>Just a moment...</title>{notice}<script>load('/challenge')</script>")
    assert not shell(f"<p>Gone fishing.</p>{notice}<script>count('/visit')</script>")


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
def test_short_honest_and_empty_pages_are_no_shells(body: str) -> None:
    assert not shell(f"<html><body>{body}")


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
def test_asking_for_scripts_is_known_in_many_languages(sentence: str) -> None:
    assert asks_for_scripts(sentence)


@pytest.mark.parametrize(
    "sentence", ["JavaScript was made in ten days.", "Please enable cookies.", "TypeScript must be compiled.", ""]
)
def test_other_sentences_ask_for_nothing(sentence: str) -> None:
    assert not asks_for_scripts(sentence)
