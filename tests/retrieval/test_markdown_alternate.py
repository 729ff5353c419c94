"""The author's own Markdown of a page, against a real server: used where it is the same text, and else the HTML."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from keyhole.config.config import Config
from keyhole.fetch.client import HttpFetcher
from keyhole.records import Answer
from keyhole.retrieval.markdown_alternate import is_same_text
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.memory import MemoryStore
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, InProcess
from tests.support.loopback import Call, Site, Talk, response, serve
from tests.support.product import SECRET

WORDS = [f"Sentence {name} explains how valves of type {name}{name} are opened slowly." for name in
         ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "kappa", "sigma", "omega")]  # fmt: skip
HEAD = (
    "<title>Valves - The Works</title><meta name=author content='Jane Doe'>"
    "<link rel=alternate type=text/markdown href=/valves.md>"
)
HTML = f"<!doctype html><html lang=en><head>{HEAD}</head><body><main><h1>Valves</h1>" + "".join(
    f"<p>{line}</p>" for line in WORDS
)
SHELL = f"<!doctype html><html><head>{HEAD}<script src=/a.js></script></head><body><div id=root></div>"
AUTHORED = "# Valves\n\n" + "\n\n".join(WORDS) + "\n\nSee [more](more.md) `as written`.\n"
MARKDOWN = {"Content_Type": "text/markdown; charset=utf-8", "ETag": '"m"'}
PLAIN = {"Content_Type": "text/plain"}
Answering = Callable[[Site, Call], None]


def says(body: str, status: str = "200 OK", **headers: str) -> Answering:
    return lambda _, call: call.send(response(body.encode(), status, **headers))


def fetch(answering: Answering, html: str = HTML, timeout: float = 30, **headers: str) -> tuple[Answer, list[str]]:
    """The answer for a page whose Markdown is answered so, and the paths that were asked for."""

    def site_of(site: Site) -> Talk:
        def talk(call: Call) -> None:
            if call.path == "/valves":
                call.send(response(html.encode(), Content_Type="text/html", ETag='"h"', **headers))
            else:
                answering(site, call)

        return talk

    async def run(site: Site) -> Answer:
        config = Config(allow_private=frozenset({site.endpoint}), timeout=timeout)
        clock = Clock()
        async with HttpFetcher(config, "Test/1", clock) as fetcher:
            product = Retrieval(config, fetcher, MemoryStore(clock), Panel(()), SECRET, clock, InProcess())
            answer = await product.web_fetch(site.url("/valves"))
            artifact_id = answer.facts.get("artifact_id")
            if isinstance(artifact_id, str):
                kept = product.store.get(artifact_id)
                assert kept.url == site.url("/valves")
                assert await product.web_fetch(site.url("/valves")) == answer
                # Neither validator is one of what was put together from two places.
                assert kept.etag == ("" if kept.note("markdown") else '"h"')
            return answer

    with serve(site_of) as site:
        return asyncio.run(run(site)), [call.path for call in site.calls]


def test_the_authors_markdown_is_shown_under_the_pages_own_address() -> None:
    answer, paths = fetch(says(AUTHORED, **MARKDOWN))
    assert "`as written`" in answer.text
    assert "/more.md)" in answer.text
    assert "Valves" in answer.text.splitlines()[0]
    assert "By Jane Doe" in answer.text
    assert answer.facts["media_type"] == "text/markdown"
    assert str(answer.facts["about"]["text_from"]).endswith("/valves.md")  # type: ignore[index]
    assert paths == ["/valves", "/valves.md"]


def test_the_link_header_is_enough_and_plain_text_is_taken_too() -> None:
    link = '</other.md>; rel="alternate"; type="text/markdown"'
    answer, paths = fetch(says(AUTHORED, **PLAIN), HTML.replace(HEAD, ""), Link=link)
    assert "`as written`" in answer.text
    assert paths == ["/valves", "/other.md"]


def test_a_shell_that_scripts_would_fill_is_read_from_its_markdown() -> None:
    answer, _ = fetch(says(AUTHORED, **MARKDOWN), SHELL)
    assert not answer.is_error
    assert WORDS[7] in answer.text


def test_a_shell_without_a_usable_markdown_fails_as_before() -> None:
    answer, _ = fetch(says("not here", "404 Not Found"), SHELL)
    assert answer.text.startswith("javascript_required")


@pytest.mark.parametrize(
    "answering",
    [
        says("not here", "404 Not Found", **MARKDOWN),
        says("", **MARKDOWN),
        says(AUTHORED, Content_Type="application/json"),
        says(HTML, **MARKDOWN),
        says(AUTHORED[: len(AUTHORED) // 2], **MARKDOWN),
        says("# Valves\n\nThe page was not found. " + "Go back to the start page. " * 40, **MARKDOWN),
        says("# All pages\n\n" + AUTHORED * 5, **MARKDOWN),
        says(AUTHORED, Content_Length="99999", **MARKDOWN),
        says("", "302 Found", Location="http://localhost:1/valves.md"),
        says("", "302 Found", Location="/valves.md"),
        lambda _, call: call.send(b"nonsense"),
    ],
    ids=["404", "empty", "json", "html", "half", "error page", "handbook", "cut", "elsewhere", "loop", "no http"],
)
def test_a_markdown_that_is_not_the_page_leaves_the_html(answering: Answering) -> None:
    answer, _ = fetch(answering)
    assert not answer.is_error
    assert answer.facts["media_type"] == "text/html"
    assert WORDS[9] in answer.text


def test_a_markdown_that_does_not_come_costs_little_and_leaves_the_html() -> None:
    answer, _ = fetch(lambda site, call: site.hold(call), timeout=1)
    assert not answer.is_error
    assert WORDS[9] in answer.text


def test_the_markdowns_own_alternates_are_not_followed() -> None:
    link = '</third.md>; rel="alternate"; type="text/markdown"'
    _, paths = fetch(says(AUTHORED, Link=link, **MARKDOWN))
    assert paths == ["/valves", "/valves.md"]


def test_a_page_without_words_is_compared_with_nothing() -> None:
    assert not is_same_text("", "")
    assert not is_same_text("too short", "")
    assert is_same_text(AUTHORED, "Loading...")
    assert is_same_text("句子解释了阀门如何缓慢打开。" * 40, "句子解释了阀门如何缓慢打开。" * 40)
