"""List the 40 pages: the app that shows each, its data, and which of its words a person sees.

The data of a page say what a person sees: every string in them, except below the keys of `NOT_SEEN`. `labels` are words
that the app's own source adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.browser.pages.texts import Texts

NOT_SEEN: Final = frozenset({"hidden", "later", "layer", "next", "style", "tag"})
"""Keys without visible text: hidden text; what is shown after an action; a consent layer; values for scripts."""
COLUMNS: Final = ["Harbour", "Calls", "Tonnes", "Depth", "Basin"]
BATCH: Final = 12
"""Items that an endless list loads at a time."""

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of an app.

    `parts` are further answers of its API, by path; `path` follows the page's own address; `delay` is the time that
    each answer of the API takes, in seconds.
    """

    name: str
    data: Data
    parts: dict[str, Data] = field(default_factory=dict)
    path: str = ""
    labels: str = ""
    delay: float = 0.04

    @property
    def app(self) -> str:
        """The name of the app: the first word of the page's name."""
        return self.name.partition("-")[0]

    @property
    def address(self) -> str:
        """The path of the page's URL."""
        if self.app == "next":
            return f"/next/{self.path}"
        return f"/p/{self.name}/{self.path}"

    @property
    def visible(self) -> str:
        """The text that a person sees."""
        return "\n".join([self.labels, *_strings(self.data), *_strings(self.parts)])


def _strings(value: Any) -> Iterator[str]:
    """Yield the visible strings of a value."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key not in NOT_SEEN:
                yield from _strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
    else:
        yield str(value)


def _article(texts: Texts, **more: Any) -> Data:
    """Return a title, an introduction and sections."""
    return {"title": f"Guide to {texts.name()}", "intro": texts.paragraph(), "sections": texts.sections()} | more


def _list(texts: Texts, **more: Any) -> Data:
    """Return a title and items."""
    return {"title": f"Arrivals at {texts.name()}", "items": texts.items()} | more


def _table(texts: Texts, count: int = 15, **more: Any) -> Data:
    """Return a title and a table."""
    return {"title": f"Traffic of {texts.name()}", "columns": COLUMNS, "rows": texts.rows(count)} | more


def _tabs(texts: Texts) -> Data:
    """Return a title, the names of three tabs, and the panel of the first."""
    return {
        "title": f"Rules of {texts.name()}",
        "tabs": ["Moorings", "Tides", "Fees"],
        "panel": texts.paragraph(8),
        "hidden": texts.hidden(2),
    }


def _react() -> Iterator[Page]:
    """Yield the pages in React, with React Router and TanStack Query."""
    for name in ("react-article", "react-consent"):
        texts = Texts(name)
        yield Page(name, _article(texts, hidden=texts.hidden(), layer="We value your privacy and use cookies"))
    texts = Texts("react-chapters")
    chapters = {"chapters": [texts.name() for _ in range(6)], "hidden": texts.hidden()}
    chapter = {"title": f"Chapter of {texts.name()}", "sections": texts.sections()}
    yield Page("react-chapters", chapters, {"chapter": chapter}, "chapters/3")
    texts = Texts("react-index")
    yield Page("react-index", _list(texts, hidden=texts.hidden()))
    texts = Texts("react-orders")
    yield Page("react-orders", _table(texts, 25, hidden=texts.hidden()), delay=0.7)
    texts = Texts("react-feed")
    yield Page("react-feed", _list(texts, items=texts.items(BATCH), later=texts.items(8 * BATCH)))
    yield Page("react-tabs", _tabs(Texts("react-tabs")))
    texts = Texts("react-waterfall")
    article = _article(texts)
    yield Page(
        "react-waterfall",
        {},
        {
            "first": {"title": article["title"], "next": "/second"},
            "second": {"intro": article["intro"], "next": "/third"},
            "third": {"sections": article["sections"], "hidden": texts.hidden()},
        },
        delay=0.3,
    )
    texts = Texts("react-questions")
    questions = [f"Where does {texts.name()} moor?" for _ in range(6)]
    answer = {"title": "Questions", "questions": questions, "answer": texts.paragraph(6), "hidden": texts.hidden(5)}
    yield Page("react-questions", answer)
    texts = Texts("react-virtual")
    lines = {"title": "Log", "lines": [texts.sentence() for _ in range(20)]}
    yield Page("react-virtual", lines | {"later": [texts.sentence() for _ in range(400)]})


def _vue() -> Iterator[Page]:
    """Yield the pages in Vue, with Vue Router."""
    texts = Texts("vue-product")
    facts = [[term, texts.sentence()] for term in ("Length", "Beam", "Draught", "Flag", "Owner", "Yard")]
    product = {"title": texts.name(), "intro": texts.paragraph(), "facts": facts, "hidden": texts.hidden()}
    yield Page("vue-product", product, labels="Shipping details")
    texts = Texts("vue-orders")
    yield Page("vue-orders", _list(texts, hidden=texts.hidden()), path="#/orders")
    texts = Texts("vue-table")
    yield Page("vue-table", _table(texts, later=texts.rows(45), hidden=texts.hidden()), labels="Next page", delay=0.5)
    texts = Texts("vue-german")
    yield Page("vue-german", {"title": "Häfen der Küste", "paragraphs": texts.german(), "hidden": texts.hidden()})
    texts = Texts("vue-fade")
    yield Page("vue-fade", {"title": texts.name(), "sections": texts.sections(), "hidden": texts.hidden()})


def _compiled() -> Iterator[Page]:
    """Yield the pages in Svelte and Angular."""
    texts = Texts("svelte-recipe")
    recipe = {"title": "Chowder", "intro": texts.paragraph(), "steps": [texts.sentence() for _ in range(9)]}
    yield Page("svelte-recipe", recipe | {"hidden": texts.hidden()})
    texts = Texts("svelte-docs")
    functions = [item | {"code": f"moor({index}, {index * 7})"} for index, item in enumerate(texts.items(6))]
    yield Page("svelte-docs", {"title": "Functions", "functions": functions, "hidden": texts.hidden()})
    texts = Texts("svelte-stats")
    seasons = ["Spring", "Summer", "Autumn", "Winter"]
    yield Page("svelte-stats", _table(texts, hidden=texts.hidden(), intro=texts.paragraph(), labels=seasons))
    texts = Texts("angular-board")
    yield Page("angular-board", _list(texts, items=texts.goods(), hidden=texts.hidden()), delay=1.2)
    texts = Texts("angular-chapter")
    chapter = {"title": texts.name(), "sections": texts.sections(), "hidden": texts.hidden()}
    yield Page("angular-chapter", {}, {"chapter": chapter}, "chapters/2")
    texts = Texts("angular-form")
    fields = ["Name of the vessel", "Port of registry", "Length overall", "Expected arrival", "Agent"]
    form = {"title": "Berth application", "intro": texts.paragraph(8), "fields": fields, "hidden": texts.hidden()}
    yield Page("angular-form", form, labels="Send application")


def _components() -> Iterator[Page]:
    """Yield the pages in Lit, whose text is in shadow roots, and those exported by Next.js."""
    texts = Texts("lit-article")
    yield Page("lit-article", _article(texts, hidden=texts.hidden()))
    texts = Texts("lit-shop")
    yield Page("lit-shop", _list(texts, items=texts.goods(), hidden=texts.hidden()))
    yield Page("lit-tabs", _tabs(Texts("lit-tabs")))
    texts = Texts("next-guide")
    yield Page("next-guide", _article(texts, hidden=texts.hidden()), path="guide")
    for name, path in (("next-shop", "shop"), ("next-moved", "old")):
        texts = Texts(name)
        yield Page(name, _list(texts, items=texts.goods(), hidden=texts.hidden()), path=path)


def _small() -> Iterator[Page]:
    """Yield the pages in htmx, Preact, Solid, Alpine, jQuery, Mithril and Turbo, and those without a framework."""
    for name in ("htmx-load", "htmx-lazy", "htmx-poll", "turbo-frames", "vanilla-late", "vanilla-stream"):
        texts = Texts(name)
        yield Page(name, _article(texts, hidden=texts.hidden()))
    for name in ("preact-news", "alpine-menu", "vanilla-worker"):
        texts = Texts(name)
        yield Page(name, _list(texts, hidden=texts.hidden()), labels="Menu" if name == "alpine-menu" else "")
    texts = Texts("solid-catalogue")
    yield Page("solid-catalogue", _list(texts, items=texts.goods(), hidden=texts.hidden()), delay=0.3)
    texts = Texts("jquery-table")
    yield Page("jquery-table", _table(texts, 20, hidden=texts.hidden()))
    texts = Texts("mithril-thread")
    comments = [item | {"replies": texts.items(2)} for item in texts.items(6)]
    yield Page("mithril-thread", {"title": "Comments", "comments": comments, "hidden": texts.hidden()})
    texts = Texts("vanilla-frames")
    yield Page("vanilla-frames", _article(texts, note=texts.sentence(), hidden=texts.hidden()))


PAGES: Final = {page.name: page for group in (_react, _vue, _compiled, _components, _small) for page in group()}
"""All pages by name."""
