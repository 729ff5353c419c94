"""Rerank responses are understood in every known format, and malformed ones are rejected."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.apis import MAX_TEXT_CHARS, Reranker, parse_scores
from keyhole.extensions.models.vector_scorer import SENT_QUERY_CHARS
from keyhole.fetch.base import Api
from keyhole.rerank.base import describe_error
from tests.support.scorer_requests import Server, config, rerank, with_api
from tests.support.scorer_server import KEY, overlap

QUERY = "pump seal pressure"
TEXTS = ["a pump", "the seal of the pump holds pressure", "nothing of it", "pump seal"]
EXPECTED = tuple(overlap(QUERY, text) for text in TEXTS)


def failure(server: Server, fault: str, seconds: float = 10.0, **settings: object) -> str:
    """Return the fault of a reranker that fails."""
    with pytest.raises(KeyholeError) as caught:
        rerank(config(rerank_url=server.url("v1/rerank", fault), **settings), QUERY, TEXTS, seconds)
    return describe_error(caught.value)


@pytest.mark.parametrize("path", ["v1/rerank", "v2/rerank", "voyage/rerank", "tei/rerank"])
def test_each_format_gives_the_scores_in_the_order_of_the_texts(server: Server, path: str) -> None:
    assert rerank(config(rerank_url=server.url(path), rerank_model="m"), QUERY, TEXTS) == EXPECTED


def test_a_server_that_expects_texts_gets_texts_from_then_on(server: Server) -> None:
    session = server.session()
    settings = config(rerank_url=server.url("tei/rerank", session=session))

    async def twice(api: Api) -> None:
        reranker = Reranker(settings, api)
        await reranker.score(QUERY, TEXTS, 10)
        await reranker.score(QUERY, TEXTS, 10)

    with_api(settings, twice)
    bodies = [call["body"] for call in server.requests(session)]
    assert [sorted(body) for body in bodies] == [
        ["documents", "query"],
        ["query", "texts", "truncate"],
        ["query", "texts", "truncate"],
    ]


def test_requests_are_bounded_and_leave_out_an_empty_model(server: Server) -> None:
    session = server.session()
    settings = config(rerank_url=server.url("v1/rerank", session=session))
    rerank(settings, "q" * 9_000, ["x" * 9_000, "中" * 900, "\ud800"])
    (call,) = server.requests(session)
    assert call["body"] == {
        "query": "q" * SENT_QUERY_CHARS,
        "documents": ["x" * MAX_TEXT_CHARS, "中" * MAX_TEXT_CHARS, "?"],
    }
    assert call["key"] == ""


def test_the_key_is_sent_as_a_bearer_token(server: Server) -> None:
    session = server.session()
    settings = config(rerank_url=server.url("v1/rerank", "key", session), rerank_key=KEY)
    assert rerank(settings, QUERY, TEXTS) == EXPECTED
    assert [call["key"] for call in server.requests(session)] == [f"Bearer {KEY}"]


def test_a_refused_key_is_reported_without_the_key(server: Server) -> None:
    assert failure(server, "key", rerank_key="an0ther") == "the key is refused (HTTP 401)"
    for fault in ("403", "400", "500"):
        assert "an0ther" not in failure(server, fault, rerank_key="an0ther")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("500", "HTTP 500"),
        ("404", "HTTP 404"),
        ("429", "HTTP 429"),
        ("302", "HTTP 302"),
        ("garbage", "the answer is not JSON"),
        ("norows", "the answer has no list of scores"),
        ("number", "the answer has no list of scores"),
        ("strings", "a score has no index"),
        ("fewer", "3 scores for 4 passages"),
        ("twice", "an index is out of range or comes twice"),
        ("outside", "an index is out of range or comes twice"),
        ("negative", "an index is out of range or comes twice"),
        ("nameless", "a score has no index"),
        ("nan", "a score is not a finite number"),
        ("infinity", "a score is not a finite number"),
        ("null", "a score is not a finite number"),
        ("text", "a score is not a finite number"),
        ("true", "a score is not a finite number"),
        ("huge", "a score is not a finite number"),
    ],
)
def test_every_malformed_response_is_a_fault(server: Server, fault: str, message: str) -> None:
    assert failure(server, fault) == message


def test_a_slow_reranker_times_out(server: Server) -> None:
    with pytest.raises(TimeoutError):
        rerank(config(rerank_url=server.url("v1/rerank", "slow")), QUERY, TEXTS, seconds=0.05)


def test_an_unreachable_reranker_is_a_fault_without_its_address() -> None:
    from tests.support.loopback import unused_port

    url = f"http://127.0.0.1:{unused_port()}/rerank"
    with pytest.raises(KeyholeError) as caught:
        rerank(config(rerank_url=url), QUERY, TEXTS)
    assert describe_error(caught.value) == str(Code.CONNECT_FAILURE)


def test_only_urls_of_the_settings_may_be_private(server: Server) -> None:
    from keyhole.config.config import Config
    from keyhole.fetch.client import HttpFetcher

    async def ask() -> None:
        async with HttpFetcher(Config(), "Keyhole/test") as api:
            await Reranker(config(rerank_url=server.url("v1/rerank")), api).score(QUERY, TEXTS, 10)

    with pytest.raises(KeyholeError) as caught:
        asyncio.run(ask())
    assert caught.value.code is Code.BLOCKED_ADDRESS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["results", "data", "index", "score"]), inner),
)


@given(JSON)
def test_any_json_gives_finite_scores_or_a_fault(answer: object) -> None:
    try:
        scores = parse_scores(answer, 2)
    except KeyholeError:
        return
    assert len(scores) == 2
    assert all(abs(score) < float("inf") for score in scores)
