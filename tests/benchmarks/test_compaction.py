"""The benchmark of shortened conversations counts what it says."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.compaction.__main__ import measure, table
from benchmarks.compaction.conversations import FORMATS, build_conversations
from benchmarks.compaction.systems import SYSTEMS, call_for
from keyhole.extract.conversations.values import Format
from tests.support.pairing import CHECKERS
from tests.support.product import retrieval

[CONVERSATION] = build_conversations(1)


def test_the_conversations_are_the_same_each_time_and_obey_their_providers() -> None:
    assert build_conversations(1) == [CONVERSATION]
    assert all(CHECKERS[format](write(CONVERSATION)) == [] for format, write in FORMATS.items())


@pytest.mark.parametrize("format", ["chat", "anthropic", "responses"])
def test_all_answers_are_in_the_whole_conversation_and_calls_reach_them_in_a_short_one(format: Format) -> None:
    items, product = FORMATS[format](CONVERSATION), retrieval()
    whole = asyncio.run(measure(CONVERSATION, items, format, 10**9, product))
    assert whole.in_text == whole.questions == len(CONVERSATION.questions) > 0
    kept = SYSTEMS["keyhole"](items, format, 40_000, product)
    short = asyncio.run(measure(CONVERSATION, kept, format, 40_000, product))
    assert short.by_call > 0
    assert (short.is_over, short.is_refused) == (False, False)
    assert short.tokens < whole.tokens


def test_cleared_results_are_short_and_name_no_call() -> None:
    items = FORMATS["chat"](CONVERSATION)
    kept = SYSTEMS["all old results cleared"](items, "chat", 1, retrieval())
    assert kept[3]["content"] == "[Old tool result content cleared]"
    assert kept[-1] == items[-1]
    assert call_for(kept, "call_0_0") == ""


def test_the_table_has_shares_and_counts() -> None:
    trial = asyncio.run(measure(CONVERSATION, FORMATS["chat"](CONVERSATION), "chat", 10, retrieval()))
    [row] = table({("whole", "chat"): [trial]})[2:]
    assert row.startswith("| whole | chat | 100.0 % | 0.0 % | 100.0 % |")
    assert row.endswith("| 1 of 1 | 0 of 1 |")
