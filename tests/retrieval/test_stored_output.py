"""Reading on in a stored output by query, quote and range, also in one that is too large for memory."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from keyhole.records import Answer, ArtifactPart
from keyhole.retrieval import stored_output
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock, artifact
from tests.support.product import retrieval

LINES = [f"{number:06} INFO worker-{number % 7} request served in {number % 90} ms\n" for number in range(40_000)]
LINES[21_000] = "021000 INFO worker-3 rebalanced shard 17\n"
LOG = "".join(LINES)
ID = "a" * 16


class PartsOnly(MemoryStore):
    """A store from which nobody may read the whole text of an output."""

    def part(self, id: str, start: int, end: int) -> ArtifactPart:
        found = super().part(id, start, end)
        assert len(found.artifact.text) <= 1_000_000, "more than an excerpt was read"
        return found


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_output, "LARGE_CHARS", 100_000)
    monkeypatch.setattr(stored_output, "READ_CHARS", 200_000)


def product() -> Retrieval:
    store = PartsOnly(Clock())
    store.put(replace(artifact(ID, LOG, url="output:log", title="serve"), media_type="text/plain"), "")
    return retrieval(store=store)


def read(retrieved: Retrieval, id: str, **arguments: Any) -> Answer:
    return asyncio.run(retrieved.read_artifact(id, **arguments))


def test_a_large_output_is_read_by_query_with_the_offsets_of_the_whole() -> None:
    answer = read(product(), ID, query="rebalanced shard", max_chars=2_000)
    assert LINES[21_000] in answer.text
    assert f"of {len(LOG)} characters" in answer.text.replace(",", "")
    gaps = [(int(start), int(end)) for start, end in re.findall(r"^\[…(\d+):(\d+)\]", answer.text, re.M)]
    spans = [(start, end) for _, start, end in answer.shown]
    assert sum(end - start for start, end in [*gaps, *spans]) == len(LOG)
    assert all(LOG[start:end] in answer.text for start, end in spans)


def test_the_call_that_an_answer_names_reads_on() -> None:
    retrieved = product()
    answer = read(retrieved, ID, query="rebalanced shard", max_chars=2_000)
    found = re.search(r"offset=(\d+), limit=(\d+)", answer.text)
    assert found
    offset, limit = int(found[1]), int(found[2])
    following = read(retrieved, ID, offset=offset, limit=limit)
    assert LOG[offset : offset + limit] in following.text


def test_a_quote_of_a_large_output_is_found() -> None:
    answer = read(product(), ID, find="worker-3 rebalanced shard 17")
    assert LINES[20_999] + LINES[21_000] + LINES[21_001] in answer.text


@pytest.mark.parametrize("place", [199_990, 1_000_003, 1_500_000])
def test_a_quote_whose_words_are_everywhere_is_found_where_it_is(place: int) -> None:
    store, quote = PartsOnly(Clock()), "ms in served request worker-3"
    text = f"{LOG[:place]}{quote}{LOG[place:]}"
    store.put(replace(artifact(ID, text, url="output:log", title="serve"), media_type="text/plain"), "")
    answer = read(retrieval(store=store), ID, find=quote)
    ((_, start, end),) = answer.shown
    assert start <= place < end
    assert quote in answer.text


def test_a_quote_that_a_large_output_lacks_is_an_error() -> None:
    answer = read(product(), ID, find="worker-3 rebalanced shard 18")
    assert answer.is_error
    assert "quote_not_found" in answer.text


def test_an_output_that_takes_too_long_to_examine_is_examined_in_part_and_the_answer_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stored_output, "LEFT_SHARE", 1.0)
    answer = read(product(), ID, query="rebalanced shard")
    assert not answer.is_error
    assert "Only the first 200,000 characters were searched in time." in answer.text


TESTS = "".join(
    f"=== RUN   TestShipping/{number}_grams\n    shop_test.go:21: price of {number} grams\n" for number in range(40)
)
FAILED = TESTS + "--- FAIL: TestShipping (0.00s)\n    --- FAIL: TestShipping/12_grams (0.00s)\n" + "ok shop\n" * 900


def failed_tests() -> Retrieval:
    store = MemoryStore(Clock())
    store.put(replace(artifact(ID, FAILED, url="output:test", title="go test"), media_type="text/plain"), "")
    return retrieval(store=store)


@pytest.mark.parametrize("query", ["which subtest broke", "why was the release delayed by a week"])
def test_where_an_output_hardly_matches_the_query_its_important_lines_are_shown(query: str) -> None:
    answer = read(failed_tests(), ID, query=query)
    assert "--- FAIL: TestShipping/12_grams" in answer.text
    assert "Weak match: failures and other important lines are shown too." in answer.text
    assert "page" not in answer.text.split("\n")[1]
    assert all(FAILED[start:end] in answer.text for _, start, end in answer.shown)
    assert len(answer.text) < 3_000


def test_where_an_output_matches_the_query_only_its_passages_are_shown() -> None:
    answer = read(failed_tests(), ID, query="price of 31 grams")
    assert "price of 31 grams" in answer.text
    assert "Weak match" not in answer.text
