"""Markdown alternates of HTML pages, from a server on loopback: used only if they have the same text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.fetch.base import FetchOptions
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.permission import Permission
from keyhole.passages.stems import index_terms
from keyhole.records import Answer, Artifact
from keyhole.retrieval.markdown_alternate import adopt_markdown, is_same_text
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.pending_reads import PendingReads
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel
from tests.support.fakes import Clock, InProcessExtractor, artifact, page
from tests.support.loopback import Call, Responder, Site, response, serve
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
MARKDOWN_TEXT = "# Valves\n\n" + "\n\n".join(WORDS) + "\n\nSee [more](more.md) `as written`.\n"
MARKDOWN_HEADERS = {"Content_Type": "text/markdown; charset=utf-8", "ETag": '"m"'}
PLAIN_HEADERS = {"Content_Type": "text/plain"}
RespondToMarkdown = Callable[[Site, Call], None]


def respond_with(body: str, status: str = "200 OK", **headers: str) -> RespondToMarkdown:
    return lambda _, call: call.send(response(body.encode(), status, **headers))


class RecordingStore(MemoryStore):
    """A store in memory that records the last words that it was given."""

    words = ""

    def put(self, artifact: Artifact, words: str, *arguments: Any, **options: Any) -> None:
        self.words = words
        super().put(artifact, words, *arguments, **options)


def fetch(
    respond: RespondToMarkdown, html: str = HTML, timeout: float = 30, **headers: str
) -> tuple[Answer, list[str]]:
    """Fetch a page whose Markdown `respond` serves; return the answer and the requested paths."""

    def make_responder(site: Site) -> Responder:
        def talk(call: Call) -> None:
            if call.path == "/valves":
                call.send(response(html.encode(), Content_Type="text/html", ETag='"h"', **headers))
            else:
                respond(site, call)

        return talk

    async def run(site: Site) -> Answer:
        config = Config(allow_private=frozenset({site.endpoint}), timeout=timeout)
        clock = Clock()
        async with HttpFetcher(config, "Test/1", clock) as fetcher:
            store = RecordingStore(clock)
            product = Retrieval(Pages(config, fetcher, InProcessExtractor(), store, SECRET, clock), lambda: Panel(()))
            answer = await product.web_fetch(site.url("/valves"))
            artifact_id = answer.facts.get("artifact_id")
            if isinstance(artifact_id, str):
                kept = product.store.get(artifact_id)
                assert kept.url == site.url("/valves")
                # The store can make the words again, to remove them from its index.
                assert store.words == " ".join(index_terms(kept.title, kept.main))
                assert await product.web_fetch(site.url("/valves")) == answer
                # A text from two resources has no validators.
                assert kept.etag == ("" if kept.note("markdown") else '"h"')
            return answer

    with serve(make_responder) as site:
        return asyncio.run(run(site)), [call.path for call in site.calls]


def test_the_markdown_alternate_is_shown_with_the_page_s_own_url() -> None:
    answer, paths = fetch(respond_with(MARKDOWN_TEXT, **MARKDOWN_HEADERS))
    assert "`as written`" in answer.text
    assert "/more.md)" in answer.text
    assert "Valves" in answer.text.splitlines()[0]
    assert "by “Jane Doe”" in answer.text
    assert answer.details["media_type"] == "text/markdown"
    assert str(answer.details["about"]["text_from"]).endswith("/valves.md")  # type: ignore[index]
    assert paths == ["/valves", "/valves.md"]


def test_the_markdown_of_a_page_is_not_followed_away_from_the_sites_of_the_call() -> None:
    def talk(site: Site) -> Responder:
        pages = {
            "/valves": response(HTML.encode(), Content_Type="text/html"),
            "/valves.md": response(status="302 Found", Location="/denied.md"),
            "/denied.md": response(MARKDOWN_TEXT.encode(), **MARKDOWN_HEADERS),
        }
        return lambda call: call.send(pages[call.path])

    async def read(site: Site) -> Artifact:
        config, clock = Config(allow_private=frozenset({site.endpoint})), Clock()
        async with HttpFetcher(config, "Test/1", clock) as fetcher:
            pages = Pages(config, fetcher, InProcessExtractor(), MemoryStore(clock), SECRET, clock, PendingReads())
            deadline = asyncio.get_running_loop().time() + 30
            options = FetchOptions(Permission(deadline, lambda url: "denied" not in url))
            return (await pages.get(site.url("/valves"), False, options))[0]

    with serve(talk) as site:
        assert asyncio.run(read(site)).media_type == "text/html"
        assert [call.path for call in site.calls] == ["/valves", "/valves.md"]


def test_a_link_header_is_enough_and_plain_text_is_accepted() -> None:
    link = '</other.md>; rel="alternate"; type="text/markdown"'
    answer, paths = fetch(respond_with(MARKDOWN_TEXT, **PLAIN_HEADERS), HTML.replace(HEAD, ""), Link=link)
    assert "`as written`" in answer.text
    assert paths == ["/valves", "/other.md"]


def test_the_first_line_says_that_the_markdown_was_read() -> None:
    answer, _ = fetch(respond_with(MARKDOWN_TEXT, **MARKDOWN_HEADERS))
    assert answer.text.splitlines()[0].endswith(", from its Markdown")


GENERATED = HTML.replace(HEAD, '<title>Valves</title><meta name=generator content="GitBook">').replace(
    "name=generator", 'name="generator"'
)


def test_a_page_of_a_generator_that_writes_markdown_is_read_from_it() -> None:
    answer, paths = fetch(respond_with(MARKDOWN_TEXT, **MARKDOWN_HEADERS), GENERATED)
    assert "`as written`" in answer.text
    assert paths == ["/valves", "/valves.md"]


def test_a_generated_page_without_its_markdown_is_read_as_html() -> None:
    answer, paths = fetch(respond_with("not here", "404 Not Found"), GENERATED)
    assert answer.details["media_type"] == "text/html"
    assert paths == ["/valves", "/valves.md"]


def test_a_page_that_needs_javascript_is_read_from_its_markdown() -> None:
    answer, _ = fetch(respond_with(MARKDOWN_TEXT, **MARKDOWN_HEADERS), SHELL)
    assert not answer.is_error
    assert WORDS[7] in answer.text


def test_a_page_that_needs_javascript_fails_without_usable_markdown() -> None:
    answer, _ = fetch(respond_with("not here", "404 Not Found"), SHELL)
    assert answer.text.startswith("javascript_required")


@pytest.mark.parametrize(
    "respond",
    [
        respond_with("not here", "404 Not Found", **MARKDOWN_HEADERS),
        respond_with("", **MARKDOWN_HEADERS),
        respond_with(MARKDOWN_TEXT, Content_Type="application/json"),
        respond_with(HTML, **MARKDOWN_HEADERS),
        respond_with(MARKDOWN_TEXT[: len(MARKDOWN_TEXT) // 2], **MARKDOWN_HEADERS),
        respond_with("# Valves\n\nThe page was not found. " + "Go back to the start page. " * 40, **MARKDOWN_HEADERS),
        respond_with("# All pages\n\n" + MARKDOWN_TEXT * 5, **MARKDOWN_HEADERS),
        respond_with(MARKDOWN_TEXT, Content_Length="99999", **MARKDOWN_HEADERS),
        respond_with("", "302 Found", Location="http://localhost:1/valves.md"),
        respond_with("", "302 Found", Location="/valves.md"),
        lambda _, call: call.send(b"nonsense"),
    ],
    ids=["404", "empty", "json", "html", "half", "error page", "handbook", "cut", "elsewhere", "loop", "no http"],
)
def test_unusable_markdown_is_ignored(respond: RespondToMarkdown) -> None:
    answer, _ = fetch(respond)
    assert not answer.is_error
    assert answer.details["media_type"] == "text/html"
    assert WORDS[9] in answer.text


def test_markdown_that_does_not_arrive_is_ignored() -> None:
    answer, _ = fetch(lambda site, call: site.hold(call), timeout=1)
    assert not answer.is_error
    assert WORDS[9] in answer.text


def test_alternates_of_the_markdown_are_not_followed() -> None:
    link = '</third.md>; rel="alternate"; type="text/markdown"'
    _, paths = fetch(respond_with(MARKDOWN_TEXT, Link=link, **MARKDOWN_HEADERS))
    assert paths == ["/valves", "/valves.md"]


def test_texts_are_compared_only_if_both_have_words() -> None:
    assert not is_same_text("", "")
    assert not is_same_text("too short", "")
    assert is_same_text(MARKDOWN_TEXT, "Loading...")
    assert is_same_text("句子解释了阀门如何缓慢打开。" * 40, "句子解释了阀门如何缓慢打开。" * 40)


def test_the_rest_of_the_html_follows_the_markdown() -> None:
    html = replace(artifact(text="Valves\n\n# [rest: footer]\n\nImprint\n"), main_end=7, notes=(("rest", "footer"),))
    made = adopt_markdown(artifact(text="# Valves"), html, page("https://a.example/x", ""), "https://a.example/x.md")
    assert made.text == "# Valves\n\n# [rest: footer]\n\nImprint\n"
    assert made.main == "# Valves\n"
    assert made.note("rest") == "footer"
