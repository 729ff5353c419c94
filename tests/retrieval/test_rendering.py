"""Pages that scripts write: when a browser renders them, and what a call then returns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import AllowsDocument, FetchOptions
from keyhole.records import Answer, Page
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, FakeFetcher, InProcessExtractor, page
from tests.support.product import SECRET

URL = "https://example.com/app"
SHELL = "<!doctype html><title>App</title><script src=/app.js></script><div id=root></div>"
TEXT = "The valve of type alpha opens slowly, and it closes by itself after nine minutes."
SHOWN = f"<!doctype html><title>App</title><main><h1>Valves</h1><p>{TEXT}</p></main>"


@dataclass
class FakeRenderer:
    """Returns `html`, or raises it, and records what was asked."""

    html: str | KeyholeError = SHOWN
    documents: tuple[str, ...] = ()
    """URLs for which the renderer asks whether the page may load them."""
    asked: list[Page] = field(default_factory=list)
    allowed: list[bool] = field(default_factory=list)
    options: list[FetchOptions] = field(default_factory=list)

    async def render(self, page: Page, options: FetchOptions, allows: AllowsDocument) -> Page:
        self.asked.append(page)
        self.options.append(options)
        self.allowed += [await allows(url) for url in self.documents]
        if isinstance(self.html, KeyholeError):
            raise self.html
        return replace(page, body=self.html.encode(), content_type="text/html; charset=utf-8", etag="", rendered=True)

    async def aclose(self) -> None:
        pass


def fetch(renderer: FakeRenderer | None, body: str = SHELL, config: Config | None = None) -> tuple[Answer, Retrieval]:
    """Fetch a page twice, and return the second answer, which must equal the first, and the product."""
    clock, config = Clock(), config or Config()
    store = MemoryStore(clock)
    fetcher = FakeFetcher({URL: replace(page(URL, body), etag='"shell"')})
    product = Retrieval(
        Pages(config, fetcher, InProcessExtractor(), store, SECRET, clock, renderer=renderer), lambda: Panel(())
    )
    first = asyncio.run(product.web_fetch(URL))
    assert asyncio.run(product.web_fetch(URL)).text == first.text
    return first, product


def test_a_page_without_text_is_rendered_once_and_the_result_says_so() -> None:
    renderer = FakeRenderer()
    answer, product = fetch(renderer)
    assert TEXT in answer.text
    assert "as a browser showed it" in answer.text.splitlines()[0]
    assert answer.details["rendered"] is True
    assert len(renderer.asked) == 1  # the second call reads the stored text
    kept = product.store.get(str(answer.facts["artifact_id"]))
    assert kept.note("rendered") == "yes"
    assert kept.etag == ""  # the shell's validators say nothing about the text
    assert renderer.options[0].deadline > 0


def test_a_page_with_text_is_not_rendered() -> None:
    renderer = FakeRenderer()
    answer, _ = fetch(renderer, SHOWN)
    assert TEXT in answer.text
    assert "browser" not in answer.text
    assert not renderer.asked


@pytest.mark.parametrize("script", ["<script>root.innerHTML = text()</script>", "<script src=/jquery.js></script>"])
def test_a_page_without_any_text_is_rendered_if_it_has_a_script(script: str) -> None:
    shell = "<!doctype html><title></title><div id=root></div>"
    answer, _ = fetch(FakeRenderer(), shell + script)
    assert TEXT in answer.text
    renderer = FakeRenderer()
    answer, _ = fetch(renderer, shell)
    assert answer.facts["code"] == "empty_document"
    assert not renderer.asked


def test_without_a_renderer_the_page_is_an_error() -> None:
    answer, _ = fetch(None)
    assert answer.is_error
    assert answer.facts["code"] == "javascript_required"


def test_the_error_of_the_renderer_and_of_the_rendered_page_is_reported() -> None:
    answer, _ = fetch(FakeRenderer(KeyholeError(Code.BLOCKED_ADDRESS, "the page moved to a private address")))
    assert answer.facts["code"] == "blocked_address"
    answer, _ = fetch(FakeRenderer(SHELL))
    assert answer.facts["code"] == "javascript_required"


def test_under_the_policy_known_a_rendered_page_loads_only_known_documents() -> None:
    config = Config(url_policy="known", known_urls=frozenset({URL, "https://example.com/frame"}))
    renderer = FakeRenderer(documents=("https://example.com/frame", "https://example.com/other"))
    fetch(renderer, config=config)
    assert renderer.allowed == [True, False]
    renderer = FakeRenderer(documents=("https://example.com/other",))
    fetch(renderer)
    assert renderer.allowed == [True]
