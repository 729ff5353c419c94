"""Texts are embedded in batches with retries; vectors are kept, also if a batch fails and there is no score."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extensions.models.apis import BATCH_TEXTS, MAX_DIMENSIONS, MAX_REQUESTS, EmbeddingsApi, parse_vectors
from keyhole.extensions.models.vector_scorer import MAX_TEXT_CHARS, Embedded
from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.rerank.base import describe_error
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock
from tests.support.scorer_requests import FakeSleep, Server, config, embedder, with_api
from tests.support.scorer_server import KEY, POISON

QUERY = "pump seal pressure"
TEXTS = ["pump seal pressure", "quite other words", "a seal"]


def embedding_config(server: Server, fault: str = "-", session: str = "s0", **settings: object) -> Config:
    """Return settings for a server with a fault."""
    return config(embed_url=server.url("v1/embeddings", fault, session), embed_model="m", **settings)


def score(
    settings: Config,
    texts: Sequence[str] = TEXTS,
    *,
    store: Store | None = None,
    sleep: FakeSleep | None = None,
    seconds: float = 10.0,
) -> tuple[float, ...]:
    """Score texts with an embedder."""
    return with_api(settings, lambda api: embedder(settings, api, store, sleep).score(QUERY, texts, seconds))


def failure(settings: Config, sleep: FakeSleep | None = None, seconds: float = 10.0) -> str:
    """Return the fault of an embedder that cannot score any text."""
    with pytest.raises(KeyholeError) as caught:
        score(settings, sleep=sleep, seconds=seconds)
    return describe_error(caught.value)


def test_texts_are_scored_by_cosine_in_the_order_given(server: Server) -> None:
    same, other, some = score(embedding_config(server))
    assert same == pytest.approx(1.0)
    assert other < some < same


def test_the_query_and_each_batch_are_one_request(server: Server) -> None:
    session = server.session()
    texts = [f"passage number {n}" for n in range(2 * BATCH_TEXTS + 5)]
    assert len(score(embedding_config(server, session=session), texts)) == len(texts)
    assert sorted(len(call["body"]["input"]) for call in server.requests(session)) == [1, 5, BATCH_TEXTS, BATCH_TEXTS]


def test_texts_are_cut_prefixed_and_sent_once(server: Server) -> None:
    session = server.session()
    settings = config(embed_url=server.url("v1/embeddings", session=session), embed_model="multilingual-e5-base")
    score(settings, ["x" * 9_000, "twice", "twice"])
    inputs = sorted((call["body"]["input"] for call in server.requests(session)), key=len)
    assert inputs == [[f"query: {QUERY}"], ["passage: " + "x" * MAX_TEXT_CHARS, "passage: twice"]]


def test_the_key_is_sent_as_a_bearer_token_and_not_in_faults(server: Server) -> None:
    assert score(embedding_config(server, "key", embed_key=KEY))
    assert failure(embedding_config(server, "key", embed_key="an0ther")) == "the key is refused (HTTP 401)"


def test_the_vectors_of_good_batches_are_kept_when_another_fails(server: Server) -> None:
    session, store = server.session(), MemoryStore(Clock())
    texts = [*[f"text {n}" for n in range(2 * BATCH_TEXTS)], f"{POISON} last"]
    settings = embedding_config(server, "poison", session)
    with pytest.raises(KeyholeError) as caught:
        score(settings, texts, store=store)
    assert describe_error(caught.value) == "HTTP 500"
    assert len(server.requests(session)) == 1 + 2 + 3, "the query, two good batches, three attempts"
    assert len(score(settings, texts[:-1], store=store)) == 2 * BATCH_TEXTS
    assert len(server.requests(session)) == 6, "all vectors were kept"


def test_a_batch_that_hangs_ends_with_the_time(server: Server) -> None:
    texts = [POISON, *[f"text {n}" for n in range(BATCH_TEXTS)]]
    with pytest.raises(KeyholeError) as caught:
        score(embedding_config(server, "stuck"), texts, seconds=1.0)
    assert describe_error(caught.value) == "timeout"


def test_a_transient_failure_is_retried_after_increasing_pauses(server: Server) -> None:
    sleep = FakeSleep()
    store = MemoryStore(Clock())
    score(embedding_config(server), ["warm"], store=store)
    assert score(embedding_config(server, "twofail", server.session()), ["new"], store=store, sleep=sleep)
    assert sleep.seconds == [0.25, 0.5]


def test_the_pause_obeys_retry_after(server: Server) -> None:
    sleep = FakeSleep()
    store = MemoryStore(Clock())
    score(embedding_config(server), ["warm"], store=store)
    assert score(embedding_config(server, "busy", server.session()), ["new"], store=store, sleep=sleep)
    assert sleep.seconds == [7.0]


def test_a_pause_that_does_not_fit_the_time_is_not_started(server: Server) -> None:
    sleep = FakeSleep()
    store = MemoryStore(Clock())
    score(embedding_config(server), ["warm"], store=store)
    with pytest.raises(KeyholeError) as caught:
        score(embedding_config(server, "busy", server.session()), ["new"], store=store, sleep=sleep, seconds=5.0)
    assert describe_error(caught.value) == "HTTP 429"
    assert sleep.seconds == []


@pytest.mark.parametrize(("fault", "attempts"), [("500", 3), ("503", 3), ("400", 1), ("401", 1), ("404", 1)])
def test_only_transient_failures_are_retried(server: Server, fault: str, attempts: int) -> None:
    session = server.session()
    failure(embedding_config(server, fault, session))
    assert len(server.requests(session)) == 2 * attempts, "the query and one batch"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("garbage", "the answer is not JSON"),
        ("norows", "the answer has no list of vectors"),
        ("fewer", "0 vectors for 1 texts"),
        ("outside", "an index is missing, out of range or comes twice"),
        ("nameless", "an index is missing, out of range or comes twice"),
        ("strings", "an index is missing, out of range or comes twice"),
        ("nan", "a vector is not of finite numbers"),
        ("infinity", "a vector is not of finite numbers"),
        ("null", "a vector is not of finite numbers"),
        ("text", "a vector is not of finite numbers"),
        ("huge", "a vector is not of finite numbers"),
    ],
)
def test_every_malformed_response_is_a_fault(server: Server, fault: str, message: str) -> None:
    assert failure(embedding_config(server, fault)) == message


def test_a_slow_server_times_out(server: Server) -> None:
    assert failure(embedding_config(server, "slow"), seconds=0.05) == "timeout"


class Gate:
    """An API that answers once `MAX_REQUESTS` requests are open, and records the maximum of open requests."""

    def __init__(self) -> None:
        self.waiting = self.most_open = 0
        self.full = asyncio.Event()

    async def send(self, call: ApiCall) -> ApiReply:
        self.waiting += 1
        self.most_open = max(self.most_open, self.waiting)
        if self.waiting >= MAX_REQUESTS:
            self.full.set()
        await self.full.wait()
        self.waiting -= 1
        texts = json.loads(call.body or b"")["input"]
        rows = [{"index": at, "embedding": [1.0, 2.0]} for at in range(len(texts))]
        return ApiReply(200, json.dumps({"data": rows}).encode())


def test_concurrent_requests_are_limited() -> None:
    gate = Gate()
    api: Api = gate

    async def ask() -> Embedded:
        model = EmbeddingsApi(config(embed_url="http://x.example/"), api)
        return await model.embed("q", [f"text {n}" for n in range(20 * BATCH_TEXTS)], 10)

    assert len(asyncio.run(ask()).vectors) == 20 * BATCH_TEXTS + 1
    assert gate.most_open == MAX_REQUESTS


@pytest.mark.parametrize(
    "embedding",
    [None, [], "AAAA", [0.0, 0.0], ["1"], [None], [[1.0]], [1e200], [10**400], [1.0] * (MAX_DIMENSIONS + 1)],
)
def test_a_malformed_vector_is_rejected(embedding: object) -> None:
    with pytest.raises(KeyholeError):
        parse_vectors({"data": [{"index": 0, "embedding": embedding}]}, 1)


def test_vectors_of_different_lengths_are_rejected() -> None:
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 1.0]}]
    with pytest.raises(KeyholeError, match="differ in length"):
        parse_vectors({"data": rows}, 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["data", "index", "embedding"]), inner),
)


@given(JSON)
def test_any_json_gives_vectors_or_a_fault(answer: object) -> None:
    try:
        assert len(parse_vectors(answer, 1)) == 1
    except KeyholeError:
        return
