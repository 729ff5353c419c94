"""The benchmark of shortened conversations counts what it says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import keyhole
from benchmarks.compaction.__main__ import measure, table
from benchmarks.compaction.conversations import FORMATS, build_conversations
from benchmarks.compaction.sessions import Figures
from benchmarks.compaction.systems import CLEARED, KEPT_ROUNDS, SYSTEMS, call_for, texts
from keyhole.extensions.conversations.formats.values import Format
from keyhole.outputs.read import terminal_text
from keyhole.render.tokens import estimate
from tests.support.pairing import CHECKERS
from tests.support.product import SECRET, retrieval

[CONVERSATION] = build_conversations(1)


def test_the_conversations_are_the_same_each_time_and_obey_their_providers() -> None:
    assert build_conversations(1) == [CONVERSATION]
    assert all(CHECKERS[format](write(CONVERSATION)) == [] for format, write in FORMATS.items() if format in CHECKERS)


@pytest.mark.parametrize("format", [format for format in FORMATS if format in CHECKERS])
def test_all_answers_are_in_the_whole_conversation_and_calls_reach_them_in_a_short_one(format: Format) -> None:
    items, product = FORMATS[format](CONVERSATION), retrieval()
    whole = asyncio.run(measure(CONVERSATION, items, format, product))
    assert whole.in_text == whole.questions == len(CONVERSATION.questions) > 0
    kept = SYSTEMS["keyhole"](items, format, 40_000, product)
    short = asyncio.run(measure(CONVERSATION, kept, format, product))
    assert short.by_call > 0
    assert not short.is_refused
    assert estimate(short.text) <= 40_000 < estimate(whole.text)


@pytest.mark.parametrize("format", FORMATS)
def test_the_results_of_all_but_the_last_rounds_are_cleared_and_no_call_is_named(format: Format) -> None:
    items = FORMATS[format](CONVERSATION)
    kept = SYSTEMS["all but three results cleared"](items, format, 1, retrieval())
    assert [set(item) for item in kept] == [set(item) for item in items]
    own = {output.text for each in CONVERSATION.rounds for output in each.outputs}
    assert list(texts(kept)).count(CLEARED) == sum(len(each.outputs) for each in CONVERSATION.rounds[:-KEPT_ROUNDS])
    assert own & set(texts(kept)) == {
        output.text for each in CONVERSATION.rounds[-KEPT_ROUNDS:] for output in each.outputs
    }
    assert kept[-1] == items[-1]
    assert call_for(kept, "call_0_0") == ""


@pytest.mark.parametrize("format", FORMATS)
def test_the_call_that_reads_a_result_is_found_in_its_stub(format: Format) -> None:
    product = retrieval()
    items = FORMATS[format](CONVERSATION)
    before = keyhole.compact(items, 10**9, format=format).report.tokens_before
    store: Any = product.store
    done = keyhole.compact(items, before - 1, format=format, store=store, secret=SECRET, target=0.9)
    assert done.report.stubs
    assert not done.report.dropped
    calls = {id: output.text for each in CONVERSATION.rounds for id, output in each.calls()}
    named = {id: call_for(done.items, id) for id in calls}
    assert {store.get(id).text for id in named.values() if id} == {
        terminal_text(calls[id]) for id in named if named[id]
    }
    assert len([id for id in named.values() if id]) == len(done.report.stubs)


def test_the_table_has_shares_and_counts() -> None:
    trial = asyncio.run(measure(CONVERSATION, FORMATS["chat"](CONVERSATION), "chat", retrieval()))
    figures = Figures(0.9, 0.6, 0.3)
    [row] = table({("whole", "chat"): [trial]}, {("whole", "chat"): figures}, 10, lambda texts: list(map(len, texts)))[
        2:
    ]
    assert row.startswith("| whole | chat | 100.0 % | 0.0 % | 100.0 % |")
    assert row.endswith("| 1 of 1 | 0 of 1 | 90.0 % | 60.0 % | 30.0 % |")
