"""Large outputs: an excerpt is ranked, the whole is stored and counted, and every offset is one of the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

import keyhole
from keyhole.errors import KeyholeError
from keyhole.outputs import bound as bound_module
from keyhole.outputs.large_output import bound_blocks
from keyhole.passages.stems import query_words
from keyhole.store.sqlite.store import MemoryStore
from keyhole.text.output_facts import OutputFacts
from tests.support.fakes import Clock
from tests.support.product import SECRET

LINES = [f"{number:06} INFO worker-{number % 7} request served in {number % 90} ms\n" for number in range(40_000)]
LINES[21_000] = "021000 ERROR worker-3 deadlock in shard 17\n"
LOG = "".join(LINES)


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_module, "WHOLE_CHARS", 100_000)
    monkeypatch.setattr("keyhole.outputs.large_output.LARGE_CHARS", 100_000)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(Clock())


def blocks_of(output: bytes, size: int = 70_001) -> Iterator[bytes]:
    return (output[start : start + size] for start in range(0, len(output), size))


def gaps_in(text: str) -> list[tuple[int, int]]:
    return [(int(start), int(end)) for start, end in re.findall(r"^\[…(\d+):(\d+)\]", text, re.M)]


@pytest.mark.parametrize("query", [None, "deadlock shard"])
def test_a_large_output_is_stored_whole_and_shows_its_failure(store: MemoryStore, query: str | None) -> None:
    bounded = bound_blocks(
        blocks_of(LOG.encode()), query, 2_000, OutputFacts("serve"), store=store, secret=SECRET, now=5.0
    )
    assert len(bounded.text) <= 2_000
    assert LINES[21_000] in bounded.text
    assert f"{len(LOG):,} characters in {len(LINES):,} lines" in bounded.text
    assert bounded.id
    stored = store.get(bounded.id)
    assert (stored.text, stored.url, stored.title, stored.fetched_at) == (LOG, "output:log", "serve", 5.0)
    assert [found.id for found in store.search(query_words("deadlock"), 5)] == [bounded.id]


@pytest.mark.parametrize("budget", [400, 1_000, 4_000, 20_000])
@pytest.mark.parametrize("query", [None, "deadlock", "worker-5 request 30000"])
def test_what_is_shown_and_what_is_omitted_are_the_whole_text(budget: int, query: str | None) -> None:
    bounded = bound_blocks(blocks_of(LOG.encode()), query, budget, OutputFacts())
    assert len(bounded.text) <= budget
    body = bounded.text.split("\n", 2)[2]
    gaps = gaps_in(body)
    assert gaps == list(bounded.omitted)
    position = 0
    shown = re.split(r"^\[….*\n", body.rpartition("--- end")[0], flags=re.M)
    for (start, end), passage in zip([*gaps, (len(LOG), len(LOG))], shown, strict=False):
        assert LOG[position:start].rstrip("\n") == passage.rstrip("\n")
        position = end


def test_a_large_log_is_read_without_the_time_before_each_line(store: MemoryStore) -> None:
    times = [f"2026-04-23T04:{number // 60 % 60:02}:{number % 60:02}.5Z " for number in range(len(LINES) + 2)]
    title, error = "##[group]Run serve\n", "##[error]Process completed with exit code 1.\n"
    lines = [*LINES[:20_999], title, "deadlock in shard 17\n", error, *LINES[21_001:]]
    log = "".join(time + line for time, line in zip(times, lines, strict=False))
    bounded = bound_blocks(blocks_of(log.encode()), None, 1_500, OutputFacts(), store=store, secret=SECRET)
    assert "[the time of each line is left out: 2026-04-23T04:00:00.5Z to " in bounded.text
    assert re.search(r" 04:49:59 to 04:50:0\d\n" + re.escape(title + "deadlock in shard 17\n" + error), bounded.text)
    position = log.index(times[20_999] + title)
    shown = [(start, end) for (_, start), (end, _) in pairwise(bounded.omitted)]
    start = position + len(times[20_999])
    assert (start, start + len(title)) in shown
    assert (start + len(title) + len(times[0]), start + len(title) + len(times[0]) + 21) in shown


def test_a_text_in_memory_is_bounded_in_the_same_way(store: MemoryStore) -> None:
    facts = OutputFacts("serve")
    from_blocks = bound_blocks(blocks_of(LOG.encode()), "deadlock", 1_500, facts, store=store, secret=SECRET)
    from_text = keyhole.bound(LOG, query="deadlock", budget=1_500, command="serve", store=store, secret=SECRET)
    assert from_text.id == from_blocks.id
    assert LINES[21_000] in from_text.text
    assert gaps_in(from_text.text) == list(from_text.omitted)


@pytest.mark.parametrize(
    "output",
    [b"x" * 300_000, bytes(range(256)) * 1_000, b"\xff\xfe" + LOG[:200_000].encode("utf-16-le"), b"\r" * 200_000],
)
def test_any_bytes_are_bounded_and_stored_verbatim(output: bytes, store: MemoryStore) -> None:
    bounded = bound_blocks(blocks_of(output), None, 1_000, OutputFacts(), store=store, secret=SECRET)
    assert len(bounded.text) <= 1_000
    assert bounded.text.endswith("[end]")
    assert bounded.id
    text = store.get(bounded.id).text
    assert len(text) == bounded.total
    body = bounded.text.split("\n", 2)[2].rpartition("\n--- end")[0]
    position = 0
    for passage in re.split(r"^\[…\d+:\d+\].*\n", body, flags=re.M):
        position = text.find(passage.removesuffix("\n"), position)
        assert position >= 0


def test_a_small_output_is_unchanged() -> None:
    bounded = bound_blocks([b"a", b"", b"b\r\n"], None, 400, OutputFacts())
    assert (bounded.text, bounded.unchanged) == ("ab\r\n", True)


def test_a_budget_that_is_too_small_is_an_error_before_anything_is_read() -> None:
    blocks = blocks_of(LOG.encode())
    with pytest.raises(KeyholeError):
        bound_blocks(blocks, None, 10, OutputFacts())
    assert len(list(blocks)) == len(list(blocks_of(LOG.encode())))


def test_the_only_failure_of_a_large_output_is_shown_among_thousands_of_warnings(store: MemoryStore) -> None:
    lines = [
        f"{n:08} checking whether errors are fatal... no error found\n" if n % 50 else f"{n:08} retry after timeout\n"
        for n in range(60_000)
    ]
    lines[30_000] = "src/winch/gear.c:418:12: error: 'ratio' undeclared\nmake[2]: *** [gear.o] Error 1\n"
    text = "".join([*lines, "Finished: FAILURE\n"])
    shown = bound_blocks(blocks_of(text.encode()), None, 2_000, OutputFacts(), store=store, secret=SECRET).text
    assert lines[30_000] in shown
    assert "Finished: FAILURE\n" in shown


def test_a_large_document_of_json_says_that_its_shape_is_not_read() -> None:
    text = json.dumps({"berths": [{"id": number, "depth": number % 9} for number in range(5_000)]}, indent=1)
    lines = bound_blocks(blocks_of(text.encode()), None, 1_000, OutputFacts()).text.split("\n")
    assert lines[0].startswith("Output (JSON)")
    assert lines[2] == "[the shape and the records of JSON over 4,000,000 characters are not read]"
