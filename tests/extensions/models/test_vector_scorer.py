"""Texts are scored by the cosine of their vectors, which are kept in the store, also if there is no score."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.models.apis import parse_vectors
from keyhole.extensions.models.vector_scorer import (
    MAX_TEXT_CHARS,
    SENT_QUERY_CHARS,
    Embedded,
    Prefixes,
    VectorScorer,
    cosine_similarities,
    vector_key,
)
from keyhole.rerank.base import describe_error, fuse_ranks
from keyhole.store.base import Store
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import BrokenStore, Clock

QUERY = "query"
NO_PREFIXES = Prefixes()
VECTORS = {QUERY: (1.0, 0.0), "same": (1.0, 0.0), "near": (0.8, 0.6), "across": (0.0, 1.0)}
TEXTS = ("across", "same", "near")


def packed(*numbers: float) -> bytes:
    """Return a vector in its stored form."""
    return array("f", numbers).tobytes()


class FakeModel:
    """A model that knows the vectors of `VECTORS`; texts in `unfinished` get none. `asked` lists the calls."""

    name, limit, seconds = "Fake", 7, 3.0
    languages: Collection[str] = ("en",)

    def __init__(
        self,
        identity: str = "m",
        prefixes: Prefixes = NO_PREFIXES,
        unfinished: Sequence[str] = (),
    ) -> None:
        self.identity = identity
        self.prefixes = prefixes
        self.unfinished = unfinished
        self.asked: list[tuple[str | None, list[str]]] = []

    async def embed(self, query: str | None, texts: Sequence[str], seconds: float) -> Embedded:
        self.asked.append((query, list(texts)))
        inputs = [each for each in (query, *texts) if each is not None and each not in self.unfinished]
        fault = "timeout" if self.unfinished else ""
        return Embedded({each: packed(*VECTORS.get(each, (0.6, 0.8))) for each in inputs}, fault)


def score(
    model: FakeModel, store: Store | None = None, query: str = QUERY, texts: Sequence[str] = TEXTS
) -> tuple[float, ...]:
    return asyncio.run(VectorScorer(model, store or MemoryStore(Clock())).score(query, texts, 10.0))


def test_each_text_has_its_cosine_in_the_order_given() -> None:
    assert score(FakeModel()) == pytest.approx((0.0, 1.0, 0.8))


def test_name_time_and_languages_are_those_of_the_model() -> None:
    scorer = VectorScorer(FakeModel(), MemoryStore(Clock()))
    assert (scorer.name, scorer.seconds, scorer.languages) == ("Fake", 3.0, ("en",))


def test_query_and_texts_are_cut_and_then_get_their_prefixes() -> None:
    model = FakeModel(prefixes=Prefixes("query: ", "passage: "))
    score(model, query="q" * 9_000, texts=["t" * 9_000])
    assert model.asked == [("query: " + "q" * SENT_QUERY_CHARS, ["passage: " + "t" * MAX_TEXT_CHARS])]


def test_a_text_that_comes_twice_is_embedded_once_and_scored_twice() -> None:
    model = FakeModel()
    assert score(model, texts=["near", "near"]) == pytest.approx((0.8, 0.8))
    assert model.asked == [(QUERY, ["near"])]


def test_a_text_that_equals_the_query_is_embedded_for_both() -> None:
    assert score(FakeModel(), texts=[QUERY, "near"]) == pytest.approx((1.0, 0.8))


def test_only_vectors_that_are_not_kept_are_computed() -> None:
    model, store = FakeModel(), MemoryStore(Clock())
    first = score(model, store)
    assert score(model, store) == first
    assert len(model.asked) == 1, "a repeated question computes nothing"
    score(model, store, texts=[*TEXTS, "one more"])
    score(model, store, query="another query")
    assert model.asked[1:] == [(None, ["one more"]), ("another query", [])]


def test_finished_vectors_are_kept_without_a_score_and_used_by_the_next_call() -> None:
    model, store = FakeModel(unfinished=["near"]), MemoryStore(Clock())
    with pytest.raises(KeyholeError) as caught:
        score(model, store)
    assert describe_error(caught.value) == "timeout"
    model.unfinished = ()
    assert score(model, store) == pytest.approx((0.0, 1.0, 0.8))
    assert model.asked == [(QUERY, list(TEXTS)), (None, ["near"])]


def test_the_vectors_of_texts_are_kept_if_only_that_of_the_query_is_missing() -> None:
    model, store = FakeModel(unfinished=[QUERY]), MemoryStore(Clock())
    with pytest.raises(KeyholeError):
        score(model, store)
    model.unfinished = ()
    score(model, store)
    assert model.asked[1] == (QUERY, [])


def test_vectors_of_another_model_are_not_used() -> None:
    store, other = MemoryStore(Clock()), FakeModel("other")
    score(FakeModel(), store)
    score(other, store)
    assert other.asked == [(QUERY, list(TEXTS))]


def test_a_store_that_fails_does_not_prevent_scores() -> None:
    store = BrokenStore()
    assert len(score(FakeModel(), store)) == len(TEXTS)
    assert store.calls == ["vectors", "keep_vectors"]


def test_kept_vectors_of_another_length_are_a_fault() -> None:
    store = MemoryStore(Clock())
    store.keep_vectors({vector_key("m", "near"): packed(1.0)})
    with pytest.raises(KeyholeError) as caught:
        score(FakeModel(), store)
    assert (caught.value.code, describe_error(caught.value)) == (Code.PROTOCOL_ERROR, "vectors of another length")


def test_the_order_by_cosine_is_fused_with_the_lexical_one() -> None:
    scores = [0.1, 0.2, 0.9, 0.3]
    scorer = VectorScorer(FakeModel(), MemoryStore(Clock()))
    assert [scorer.rank(scores, strength) for strength in (0.0, 1.0)] == [
        fuse_ranks(scores, 0.0),
        fuse_ranks(scores, 1.0),
    ]


# Vectors

NUMBERS = st.lists(st.floats(-1e6, 1e6).filter(lambda number: abs(number) > 1e-6), min_size=3, max_size=3)


def vector(numbers: list[float]) -> bytes:
    """Return a vector in its stored form."""
    return parse_vectors({"data": [{"index": 0, "embedding": numbers}]}, 1)[0]


@given(NUMBERS, NUMBERS)
def test_the_cosine_agrees_with_its_definition(one: list[float], other: list[float]) -> None:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    expected = dot / math.sqrt(sum(a * a for a in one)) / math.sqrt(sum(b * b for b in other))
    (cosine,) = cosine_similarities(vector(one), [vector(other)])
    assert cosine == pytest.approx(expected, abs=1e-5)


def test_a_vector_has_32_bit_floats_and_length_1() -> None:
    assert list(array("f", vector([3, 4.0]))) == pytest.approx([0.6, 0.8])


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"longer|shorter"):
        cosine_similarities(vector([1.0, 0.0]), [vector([1.0])])


def test_the_key_distinguishes_model_and_text() -> None:
    keys = {vector_key(*pair) for pair in [("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""), ("a", "\ud800")]}
    assert len(keys) == 5
