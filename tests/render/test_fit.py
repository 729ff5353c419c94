"""Every result fits its budget, and a success has text and [end], whatever the address, the title and the budget."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyhole.config.config import MIN_BUDGET, MIN_TOKENS, Config
from keyhole.errors import Code, KeyholeError
from keyhole.records import Answer, Hit
from keyhole.render.answer import error_answer
from keyhole.render.budget import Budget
from keyhole.render.fit import answer_size, fit, truncate
from keyhole.render.tokens import estimate
from tests.support.fakes import FakeEngine, page
from tests.support.product import retrieval

SCRIPTS = ("pump-", "насос", "水泵", "พัก", "पंप", "مضخة", "펌프", "🚰", "%D0%9D", "%2F", "[x](", "<b>", "a=1&")
URLS = st.builds(
    lambda parts, times: "https://example.org/" + "".join(parts) * times,
    st.lists(st.sampled_from(SCRIPTS), max_size=4),
    st.sampled_from([1, 1, 5, 60]),
)
LETTERS = st.characters(exclude_categories=["Cc", "Cs"])
"""Without control characters, which make a text binary."""
TITLES = st.builds(lambda text, times: text * times, st.text(LETTERS, max_size=30), st.sampled_from([1, 20]))
SENTENCES = (
    "The pump runs at 40 rpm, and its seal holds. ",
    "Насос работает со скоростью 40 оборотов. ",
    "水泵以每分钟四十转运行。",
    "ปั๊มทำงานที่ 40 รอบต่อนาที ",
    "पंप 40 आरपीएम पर चलता है। ",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "## Seal\n\nOil it.\n\n",
)
TEXTS = st.builds(
    lambda parts, times: "".join(parts) * times,
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4),
    st.sampled_from([1, 4, 60]),
)
QUERIES = st.none() | st.sampled_from(
    ["pump seal", "zebra", "скорость насоса", "水泵", "What does the seal of the pump do?"]
)
BOUNDS = st.none() | st.integers(MIN_BUDGET, 1_500) | st.integers(MIN_BUDGET, 20_000)
TOKENS = st.none() | st.integers(MIN_TOKENS, 700) | st.integers(MIN_TOKENS, 5_000)
FRAME = re.compile(
    r"^--- untrusted text (\w{8}) ---\n(.+)\n--- end \1 ---\n(?:[^\n]+\n)*\[end\]\Z", re.MULTILINE | re.DOTALL
)
CALL = re.compile(r'^Next: read_artifact\(id="(\w+)", offset=(\d+), limit=(\d+)\)\n\[end\]\Z', re.MULTILINE)
LEAST = re.compile(r"give (?:max_chars=(\d+))?(?: and )?(?:max_tokens=(\d+))? or more")


def assert_within(answer: Answer, max_chars: int | None, max_tokens: int | None) -> None:
    assert len(answer.text) <= (max_chars or 9_000)
    assert max_tokens is None or estimate(answer.text) <= max_tokens


@settings(max_examples=150, deadline=None)
@given(url=URLS, title=TITLES, text=TEXTS, query=QUERIES, max_chars=BOUNDS, max_tokens=TOKENS)
@example("https://example.org/" + "насос" * 60, "Насосы", SENTENCES[1] * 60, "скорость насоса", None, 300)
@example("https://example.org/" + "насос" * 60, "Насосы", SENTENCES[1] * 60, None, 500, 200)
@example("https://example.org/", "", SENTENCES[3] * 60, "zebra", 500, 200)
def test_a_page_is_shown_at_every_budget_or_the_error_names_one_that_works(
    url: str, title: str, text: str, query: str | None, max_chars: int | None, max_tokens: int | None
) -> None:
    product = retrieval({url: page(url, f"# {title}\n\n{text}", "text/markdown")})
    answer = asyncio.run(product.web_fetch(url, query, max_chars, max_tokens=max_tokens))
    assert_within(answer, max_chars, max_tokens)
    if answer.is_error:
        assert answer.text.startswith("invalid_argument: ")
        least = LEAST.search(answer.text)
        assert least, answer.text
        max_chars, max_tokens = (
            int(new) if new else old for new, old in zip(least.groups(), (max_chars, max_tokens), strict=True)
        )
        answer = asyncio.run(product.web_fetch(url, query, max_chars, max_tokens=max_tokens))
        assert_within(answer, max_chars, max_tokens)
    assert FRAME.search(answer.text), answer.text
    assert answer.shown


@settings(max_examples=100, deadline=None)
@given(url=URLS, text=TEXTS, offset=st.integers(0, 3_000), max_chars=BOUNDS, max_tokens=TOKENS)
def test_reading_on_shows_text_at_every_budget(
    url: str, text: str, offset: int, max_chars: int | None, max_tokens: int | None
) -> None:
    product = retrieval({url: page(url, text, "text/markdown")})
    id = str(asyncio.run(product.web_fetch(url)).facts["artifact_id"])
    answer = asyncio.run(product.read_artifact(id, offset, max_chars=max_chars, max_tokens=max_tokens))
    assert_within(answer, max_chars, max_tokens)
    assert answer.text.endswith("\n[end]") or LEAST.search(answer.text), answer.text
    if "Nothing there" not in answer.text and not answer.is_error:
        assert FRAME.search(answer.text), answer.text


@settings(max_examples=100, deadline=None)
@given(message=st.text(max_size=400), url=URLS, size=st.integers(MIN_BUDGET, 2_000), tokens=TOKENS)
def test_an_error_keeps_its_code_and_is_shortened_at_a_sentence(
    message: str, url: str, size: int, tokens: int | None
) -> None:
    budget = Budget(size, tokens)
    whole = error_answer(KeyholeError(Code.EXPIRED_ARTIFACT, message, url=url))
    answer = truncate(whole, budget)
    assert answer_size(answer, budget) <= size
    assert answer.text.startswith("expired_artifact: ")
    assert 'web_fetch(url="' not in answer.text or '").' in answer.text


def answer(head: str, text: str) -> Answer:
    return Answer(f"{head}\n{text}\n[end]", {}, lacks_text=not text)


def test_a_longer_form_is_used_only_if_it_leaves_most_of_the_budget_to_text() -> None:
    def full(space: int) -> Answer:
        return answer("f" * 400, "x" * space)

    def brief(space: int) -> Answer:
        return answer("b", "x" * space)

    assert fit(Budget(9_000), full, brief).text.startswith("f")
    assert fit(Budget(1_000), full, brief).text.startswith("b")
    assert fit(Budget(1_000), full, brief, wanted=100).text.startswith("f")


def test_without_space_for_text_the_error_names_the_least_budget() -> None:
    with pytest.raises(KeyholeError, match="max_chars=") as caught:
        fit(Budget(500), lambda space: answer("h" * 450, "x" * space))
    least = int(str(caught.value.message).partition("max_chars=")[2].split()[0])
    assert fit(Budget(least), lambda space: answer("h" * 450, "x" * space)).text.endswith("x\n[end]")


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(URLS, TITLES, TEXTS), min_size=1, max_size=4, unique_by=lambda row: row[0]),
    query=QUERIES.filter(bool),
    max_chars=BOUNDS,
    max_tokens=TOKENS,
    fetch=st.booleans(),
)
@example([("https://example.org/" + "насос" * 60, "Насосы " * 20, SENTENCES[1] * 60)], "скорость", 500, 200, True)
@example([("https://example.org/" + "насос" * 60, "Насосы " * 20, SENTENCES[1] * 60)], "zebra", None, 200, False)
def test_a_search_names_a_source_at_every_budget_or_the_error_names_one_that_works(
    rows: list[tuple[str, str, str]], query: str, max_chars: int | None, max_tokens: int | None, fetch: bool
) -> None:
    def search(max_chars: int | None, max_tokens: int | None) -> Answer:
        pages = {url: page(url, f"# {title}\n\n{text}", "text/markdown") for url, title, text in rows}
        engine = FakeEngine([Hit(url, title, text[:200], "fake") for url, title, text in rows])
        product = retrieval(pages, engines=[engine])
        return asyncio.run(product.search(query, max_chars=max_chars, max_tokens=max_tokens, fetch=fetch))

    answer = search(max_chars, max_tokens)
    assert_within(answer, max_chars, max_tokens)
    if answer.is_error and answer.text.startswith("no_results"):
        return
    if answer.is_error:
        least = LEAST.search(answer.text)
        assert least, answer.text
        max_chars, max_tokens = (
            int(new) if new else old for new, old in zip(least.groups(), (max_chars, max_tokens), strict=True)
        )
        answer = search(max_chars, max_tokens)
        assert_within(answer, max_chars, max_tokens)
    assert re.search(r"^\[1\] https://example\.org/", answer.text, re.MULTILINE), answer.text
    assert answer.text.endswith("\n[end]")


@settings(max_examples=150, deadline=None)
@given(
    url=URLS,
    title=TITLES,
    text=TEXTS,
    query=QUERIES,
    max_chars=BOUNDS,
    config=st.sampled_from([Config(), Config(max_chars=500), Config(max_chars=2_000), Config(context_tokens=8_192)]),
    cut=st.booleans(),
)
def test_the_next_call_followed_literally_returns_exactly_its_range(
    url: str, title: str, text: str, query: str | None, max_chars: int | None, config: Config, cut: bool
) -> None:
    served = page(url, f"# {title}\n\n{text}", "text/markdown", cut=cut)
    product = retrieval({url: served}, config=config)
    answer = asyncio.run(product.web_fetch(url, query, max_chars))
    for _ in range(3):
        following = CALL.search(answer.text)
        if not following:
            break
        id, offset, limit = following[1], int(following[2]), int(following[3])
        answer = asyncio.run(product.read_artifact(id, offset, limit))
        assert answer.shown == ((id, offset, offset + limit),)
