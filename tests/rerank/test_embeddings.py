"""Embeddings come in batches, a few at a time, with second tries; what failed has no score, what is known is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.fetch.base import Api, ApiCall, ApiReply
from keyhole.rerank.base import Opinion, fault_of
from keyhole.rerank.embeddings import AT_ONCE, MAX_CHARS, Embedder
from keyhole.store.base import Store
from keyhole.store.memory import MemoryStore
from tests.support.fakes import BrokenStore, Clock
from tests.support.scorer_requests import Naps, Server, config, embedder, with_api
from tests.support.scorer_server import KEY, POISON

QUERY = "pump seal pressure"
TEXTS = ["pump seal pressure", "quite other words", "a seal"]


def embedding(server: Server, fault: str = "-", session: str = "s0", **settings: object) -> Config:
    """Settings that ask a server which fails so."""
    return config(embed_url=server.url("v1/embeddings", fault, session), embed_model="m", **settings)


def opinion(
    settings: Config,
    texts: Sequence[str] = TEXTS,
    *,
    store: Store | None = None,
    naps: Naps | None = None,
    seconds: float = 10.0,
) -> Opinion:
    """What an embedder says of texts."""
    return with_api(settings, lambda api: embedder(settings, api, store, naps).opinion(QUERY, texts, seconds))


def failure(settings: Config, naps: Naps | None = None, seconds: float = 10.0) -> str:
    """The fault that an embedder without any answer is said to have."""
    with pytest.raises(KeyholeError) as caught:
        opinion(settings, naps=naps, seconds=seconds)
    return fault_of(caught.value)


def test_texts_are_scored_by_cosine_in_their_own_order(server: Server) -> None:
    found = opinion(embedding(server))
    assert found.fault == ""
    same, other, some = (score or 0.0 for score in found.scores)
    assert same == pytest.approx(1.0)
    assert other < some < same


def test_the_query_and_each_batch_are_one_request(server: Server) -> None:
    session = server.session()
    texts = [f"passage number {n}" for n in range(700)]
    found = opinion(embedding(server, session=session), texts)
    assert None not in found.scores
    assert sorted(len(call["body"]["input"]) for call in server.asked(session)) == [1, 100, 300, 300]


def test_texts_are_cut_and_prefixed_and_asked_once(server: Server) -> None:
    session = server.session()
    settings = embedding(server, session=session, embed_query_prefix="query:", embed_text_prefix="passage:")
    opinion(settings, ["x" * 9_000, "twice", "twice"])
    inputs = sorted((call["body"]["input"] for call in server.asked(session)), key=len)
    assert inputs == [[f"query: {QUERY}"], ["passage: " + "x" * MAX_CHARS, "passage: twice"]]


def test_the_key_travels_as_a_bearer_token_and_is_never_told(server: Server) -> None:
    assert None not in opinion(embedding(server, "key", embed_key=KEY)).scores
    assert failure(embedding(server, "key", embed_key="an0ther")) == "the key is refused (HTTP 401)"


def test_a_batch_that_fails_leaves_its_texts_without_a_score(server: Server) -> None:
    session = server.session()
    texts = ["first", "second", f"{POISON} third", "fourth", "fifth", "sixth"]
    found = opinion(embedding(server, "poison", session, embed_batch=2), texts)
    assert [score is None for score in found.scores] == [False, False, True, True, False, False]
    assert found.fault == "HTTP 500"
    assert len(server.asked(session)) == 1 + 2 + 3, "the query, two good batches, three tries"


def test_a_batch_that_hangs_costs_only_its_own_texts(server: Server) -> None:
    settings = embedding(server, "stuck", embed_batch=1)
    found = opinion(settings, [POISON, "well"], seconds=1.0)
    assert [score is None for score in found.scores] == [True, False]
    assert found.fault == "timeout"


def test_a_passing_failure_is_tried_again_after_longer_and_longer_pauses(server: Server) -> None:
    naps = Naps()
    with_query_known = MemoryStore(Clock())
    opinion(embedding(server), ["warm"], store=with_query_known)
    found = opinion(embedding(server, "twofail", server.session()), ["new"], store=with_query_known, naps=naps)
    assert None not in found.scores
    assert naps.seconds == [0.25, 0.5]


def test_the_pause_is_as_long_as_the_server_asks(server: Server) -> None:
    naps = Naps()
    known = MemoryStore(Clock())
    opinion(embedding(server), ["warm"], store=known)
    assert None not in opinion(embedding(server, "busy", server.session()), ["new"], store=known, naps=naps).scores
    assert naps.seconds == [7.0]


def test_a_pause_that_does_not_fit_is_not_begun(server: Server) -> None:
    naps = Naps()
    known = MemoryStore(Clock())
    opinion(embedding(server), ["warm"], store=known)
    found = opinion(embedding(server, "busy", server.session()), ["new"], store=known, naps=naps, seconds=5.0)
    assert found.fault == "HTTP 429"
    assert naps.seconds == []


@pytest.mark.parametrize(("fault", "tries"), [("500", 3), ("503", 3), ("400", 1), ("401", 1), ("404", 1)])
def test_what_will_not_pass_is_not_tried_again(server: Server, fault: str, tries: int) -> None:
    session = server.session()
    failure(embedding(server, fault, session))
    assert len(server.asked(session)) == 2 * tries, "the query and one batch"


@pytest.mark.parametrize(
    ("fault", "told"),
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
def test_every_odd_answer_is_a_named_fault(server: Server, fault: str, told: str) -> None:
    assert failure(embedding(server, fault)) == told


def test_a_slow_server_is_left_at_its_time(server: Server) -> None:
    assert failure(embedding(server, "slow"), seconds=0.05) == "timeout"


def test_what_was_embedded_before_is_taken_from_the_store(server: Server) -> None:
    store = MemoryStore(Clock())
    session = server.session()
    settings = embedding(server, session=session)
    first = opinion(settings, store=store)
    assert opinion(settings, store=store) == first
    assert len(server.asked(session)) == 2
    assert None not in opinion(settings, [*TEXTS, "one more"], store=store).scores
    assert [call["body"]["input"] for call in server.asked(session)[2:]] == [["one more"]]


def test_another_model_has_other_vectors(server: Server) -> None:
    store = MemoryStore(Clock())
    session = server.session()
    settings = embedding(server, session=session)
    opinion(settings, store=store)
    opinion(config(embed_url=settings.embed_url, embed_model="other"), store=store)
    assert len(server.asked(session)) == 4


def test_a_store_that_fails_costs_requests_and_not_the_opinion(server: Server) -> None:
    store = BrokenStore()
    assert None not in opinion(embedding(server), store=store).scores
    assert store.calls == ["vectors", "keep_vectors"]


def test_kept_vectors_of_another_length_are_no_score(server: Server) -> None:
    from keyhole.rerank.vectors import vector_key

    store = MemoryStore(Clock())
    store.keep_vectors({vector_key("m", TEXTS[1]): b"\0\0\0\0"})
    found = opinion(embedding(server), store=store)
    assert [score is None for score in found.scores] == [False, True, False]
    assert found.fault == "vectors of another length"


class Gate:
    """An API that answers only once as many requests as may be are waiting, and counts them."""

    def __init__(self) -> None:
        self.waiting = self.most = 0
        self.full = asyncio.Event()

    async def ask(self, call: ApiCall) -> ApiReply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        if self.waiting >= AT_ONCE:
            self.full.set()
        await self.full.wait()
        self.waiting -= 1
        texts = json.loads(call.body or b"")["input"]
        rows = [{"index": at, "embedding": [1.0, 2.0]} for at in range(len(texts))]
        return ApiReply(200, json.dumps({"data": rows}).encode())


def test_few_requests_are_open_at_once() -> None:
    gate = Gate()
    api: Api = gate

    async def ask() -> Opinion:
        asker = Embedder(config(embed_url="http://x.example/", embed_batch=1), api, MemoryStore(Clock()))
        return await asker.opinion("q", [f"text {n}" for n in range(20)], 10)

    assert None not in asyncio.run(ask()).scores
    assert gate.most == AT_ONCE
