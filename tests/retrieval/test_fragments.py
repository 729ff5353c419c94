"""The part of a page that an address names is shown first, with and without a query."""

from __future__ import annotations

import asyncio

import pytest

from keyhole.config.config import Config
from keyhole.render.answer import NO_NAMED_PART
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import FakeFetcher, page
from tests.support.product import retrieval

URL = "https://a.example/x"
FILLER = "The quay has rules for boats of every size and kind. " * 12
PARTS = "".join(f"<h2 id=s{n}>Part {n}</h2><p>{FILLER} Code {13 * n}.</p>" for n in range(40))
HTML = f"<title>T</title><main><h1>All</h1>{PARTS}<p>Reviewed in spring.</p></main><footer id=f>Imprint words</footer>"


def product(body: str = HTML, content_type: str = "text/html", config: Config | None = None) -> Retrieval:
    return retrieval({URL: page(URL, body, content_type)}, config=config)


def shown(name: str, query: str | None = None, directive: str = "", body: str = HTML, kind: str = "text/html") -> str:
    """Return what a call shows between the boundary lines, after the status line."""
    answer = asyncio.run(product(body, kind).web_fetch(f"{URL}#{name}{directive}", query, max_chars=1500))
    assert not answer.is_error
    return answer.text


def test_without_a_query_the_text_is_shown_from_the_named_part_on() -> None:
    text = shown("s31")
    body = text.split(" ---\n")[1].splitlines()
    assert body[0].startswith("[…0:") and body[1] == "## Part 31"
    assert "Code 403." in text and "begins at" in text


def test_the_next_call_reads_on_after_the_named_part() -> None:
    answer = asyncio.run(product().web_fetch(f"{URL}#s31", max_chars=1500))
    start, end = answer.shown[0][1:]
    following = answer.facts["next"]
    assert isinstance(following, dict) and following["offset"] == end > start


def test_with_a_query_the_named_part_is_shown_beside_the_passages() -> None:
    text = shown("s31", "reviewed in which season")
    assert "Code 403." in text and "Reviewed in spring." in text


def test_a_query_without_a_match_shows_the_named_part() -> None:
    assert "Code 403." in shown("s31", "zebra xylophone")


@pytest.mark.parametrize("query", [None, "code"])
def test_words_of_a_text_directive_are_shown_first(query: str | None) -> None:
    assert "Code 403." in shown("", query, ":~:text=Part%2031")


def test_no_request_has_what_the_address_has_after_its_page() -> None:
    read = product()
    asyncio.run(read.web_fetch(f"{URL}#s31"))
    fetcher = read.pages.fetcher
    assert isinstance(fetcher, FakeFetcher) and fetcher.calls == [URL]


def test_pages_that_differ_in_the_directive_are_read_once() -> None:
    read = product()
    for words in ("Part%2031", "Part%2012"):
        asyncio.run(read.web_fetch(f"{URL}#:~:text={words}"))
    fetcher = read.pages.fetcher
    assert isinstance(fetcher, FakeFetcher) and fetcher.calls == [URL]


def test_a_part_in_the_rest_of_the_page_is_shown() -> None:
    assert "Imprint words" in shown("f")


def test_a_heading_of_markdown_is_named_by_its_words() -> None:
    markdown = "# All\n\n" + "".join(f"## Part {n}\n\n{FILLER}Code {13 * n}.\n\n" for n in range(40))
    assert "Code 403." in shown("part-31", body=markdown, kind="text/markdown")


def test_a_name_that_the_page_lacks_is_said_to_be_missing() -> None:
    assert NO_NAMED_PART in shown("nothing") and NO_NAMED_PART not in shown("/a/view")


def test_a_page_that_fits_is_shown_whole() -> None:
    assert "x\n\n## B\n\ny" in shown("b", body="<h1>A</h1><p>x</p><h2 id=b>B</h2><p>y</p>")


def test_a_known_address_may_be_asked_for_by_any_of_its_parts() -> None:
    config = Config(url_policy="known", known_urls=frozenset({URL}))
    answer = asyncio.run(product(config=config).web_fetch(f"{URL}#s31", max_chars=1500))
    assert "Code 403." in answer.text
