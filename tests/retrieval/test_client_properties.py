"""Properties of budgets for each client: results obey its caps, and continuations return the named window."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, MIN_TOKENS, Config
from keyhole.records import Answer
from keyhole.render.budget import CLIENT_LIMITS, ClientLimits, client_budget
from keyhole.render.tokens import estimate
from keyhole.retrieval.call import UNKNOWN_CALLER, Caller
from tests.retrieval.test_properties import BODY, CALL, READABLE, TEXTS, URL, wire_size
from tests.support.fakes import page
from tests.support.product import retrieval

VERSIONS = ["", "0.1", "999.0.0"]
CALLERS = st.sampled_from(
    [Caller(host.name, version) for host in CLIENT_LIMITS for version in VERSIONS] + [UNKNOWN_CALLER]
)
TOKENS = st.one_of(st.integers(MIN_TOKENS, 600), st.integers(MIN_TOKENS, 20_000))
SIZES = st.one_of(st.none(), st.integers(MIN_BUDGET, MAX_BUDGET))
LONG = st.builds(lambda text, times: "start " + text * times, READABLE, st.sampled_from([1, 30]))


def check_limits(answer: Answer, config: Config, caller: Caller, size: int | None, tokens: int | None) -> None:
    budget = client_budget(config, caller.limits, size, tokens)
    assert len(answer.text) <= budget.size
    assert budget.bytes is None or wire_size(answer) <= budget.bytes
    assert budget.tokens is None or estimate(answer.text) <= budget.tokens
    assert tokens is None or estimate(answer.text) <= tokens


@settings(max_examples=150)
@given(text=LONG, query=st.one_of(st.none(), TEXTS), caller=CALLERS, size=SIZES, tokens=st.one_of(st.none(), TOKENS))
def test_a_page_never_exceeds_the_client_s_caps_or_the_requested_tokens(
    text: str, query: str | None, caller: Caller, size: int | None, tokens: int | None
) -> None:
    product = retrieval({URL: page(URL, text, content_type="text/plain")})
    answer = asyncio.run(product.web_fetch(URL, query, size, max_tokens=tokens, caller=caller))
    check_limits(answer, product.config, caller, size, tokens)


@settings(max_examples=100)
@given(text=LONG, query=TEXTS, caller=CALLERS, size=SIZES, tokens=st.one_of(st.none(), TOKENS))
def test_a_stored_search_never_exceeds_the_client_s_caps_or_the_requested_tokens(
    text: str, query: str, caller: Caller, size: int | None, tokens: int | None
) -> None:
    product = retrieval({f"{URL}{n}": page(f"{URL}{n}", f"{n} {text} {n}", "text/plain") for n in range(3)})
    for n in range(3):
        asyncio.run(product.web_fetch(f"{URL}{n}"))
    answer = asyncio.run(
        product.search(query or "start", scope="stored", max_chars=size, max_tokens=tokens, caller=caller)
    )
    check_limits(answer, product.config, caller, size, tokens)


@pytest.mark.parametrize("host", CLIENT_LIMITS, ids=lambda host: f"{host.name} {host.since}")
@pytest.mark.parametrize("letter", ["pump runs. ", "数据库水泵。", "😀 ", '"\n', "Zk9d+/Qa", "1.5 | "])
def test_a_result_at_the_maximum_budget_never_exceeds_a_client_s_caps(host: ClientLimits, letter: str) -> None:
    caller = Caller(host.name, ".".join(map(str, host.since)) or "0.0.1")
    product = retrieval({URL: page(URL, letter * 60_000, content_type="text/plain")})
    fetched = asyncio.run(product.web_fetch(URL, None, MAX_BUDGET, caller=caller))
    id = str(fetched.facts["artifact_id"])
    for answer in (fetched, asyncio.run(product.read_artifact(id, limit=MAX_BUDGET, caller=caller))):
        assert wire_size(answer) < (host.max_bytes or 10**9)
        assert len(answer.text) < (host.max_chars or 10**9)
        assert estimate(answer.text) < (host.max_tokens or 10**9)


@settings(max_examples=100)
@given(text=LONG, caller=CALLERS, context=st.one_of(st.none(), st.integers(2_000, 40_000)))
def test_the_continuation_returns_exactly_the_window_that_it_names(
    text: str, caller: Caller, context: int | None
) -> None:
    product = retrieval({URL: page(URL, text, "text/plain")}, config=Config(context_tokens=context))
    first = asyncio.run(product.web_fetch(URL, None, 1_000, caller=caller))
    for call in CALL.findall(first.text)[:1]:
        start, limit = int(call[1]), int(call[2])
        answer = asyncio.run(product.read_artifact(call[0], offset=start, limit=limit, caller=caller))
        check_limits(answer, product.config, caller, None, None)
        found = BODY.search(answer.text)
        assert found
        assert len(found[2]) == limit


def test_a_request_above_the_client_s_cap_is_limited_with_a_note() -> None:
    product = retrieval({URL: page(URL, "The pump runs. " * 20_000, content_type="text/plain")})
    codex = Caller("codex-mcp-client", "0.169.0")
    answer = asyncio.run(product.web_fetch(URL, None, 100_000, caller=codex))
    assert answer.text.startswith("Limited to 45,600 bytes by codex-mcp-client, less than requested.\n")
    assert 45_000 < wire_size(answer) <= 45_600
    assert "less than requested" not in asyncio.run(product.web_fetch(URL, None, 40_000, caller=codex)).text


def test_a_page_shown_whole_has_no_note_about_a_cap() -> None:
    product = retrieval({URL: page(URL, "a short page", content_type="text/plain")})
    answer = asyncio.run(product.web_fetch(URL, max_chars=MAX_BUDGET, caller=Caller("codex-mcp-client", "0.169.0")))
    assert "Whole text" in answer.text and "less than requested" not in answer.text


def test_the_requested_tokens_are_filled_with_text() -> None:
    product = retrieval({URL: page(URL, "The pump runs at speed today. " * 9_000, content_type="text/plain")})
    for tokens in (300, 1_000, 1_800):
        answer = asyncio.run(product.web_fetch(URL, None, max_tokens=tokens))
        assert tokens * 0.8 < estimate(answer.text) <= tokens, re.sub(r"\s+", " ", answer.text)[:300]
