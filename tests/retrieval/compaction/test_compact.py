"""`keyhole.compact`: arguments, counters, errors, the store, and very large conversations."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

import keyhole
from keyhole.budget.items import estimate_item
from keyhole.errors import Code, KeyholeError
from tests.support.pairing import faults_of_chat
from tests.support.product import SECRET, retrieval

LOG = "".join(f"step {number} done\n" for number in range(400)) + "error: disk full\n"


def chat(turns: int, text: str = LOG) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Build"}]
    for number in range(turns):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "make", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"run {number}\n{text}"})
    return messages


def count(items: Any) -> int:
    return sum(map(estimate_item, items))


def test_a_conversation_that_fits_is_unchanged() -> None:
    messages = chat(5)
    done = keyhole.compact(messages, 100_000)
    assert [id(item) for item in done.items] == [id(item) for item in messages]
    assert (done.report.stubs, done.report.dropped, done.report.digest) == ((), (), "")
    assert done.report.tokens_before == done.report.tokens_after == count(messages)
    assert done.report.format == "chat"


def test_the_call_in_a_stub_reads_the_result_and_takes_a_query() -> None:
    product = retrieval()
    store: Any = product.store
    done = keyhole.compact(chat(12), 20_000, store=store, secret=SECRET)
    stub = done.items[3]["content"]
    [id] = re.findall(r'read_artifact\(id="(\w+)", offset=0\)', stub)
    assert id in done.report.ids
    assert store.get(id).text == f"run 0\n{LOG}"
    assert "step 217 done" in asyncio.run(product.read_artifact(id, query="step 217")).text


def test_a_result_with_escape_sequences_is_stored_and_shown_as_a_terminal_shows_it() -> None:
    product = retrieval()
    store: Any = product.store
    coloured = "\x1b[31mfailed\x1b[0m\n" * 800
    done = keyhole.compact(chat(6, coloured), 20_000, store=store, secret=SECRET)
    [id] = re.findall(r'read_artifact\(id="(\w+)"', done.items[3]["content"])
    assert "\x1b" not in done.items[3]["content"]
    assert store.get(id).text == "run 0\n" + "failed\n" * 800
    assert "\x1b" not in asyncio.run(product.read_artifact(id, offset=0)).text


def test_a_counter_that_counts_more_for_the_whole_is_obeyed() -> None:
    def counter(items: Any) -> int:
        return count(items) + 4_000 * (len(items) > 1)  # such as the tools of a request

    done = keyhole.compact(chat(12), 20_000, counter=counter)
    assert counter(done.items) == done.report.tokens_after <= 20_000


def test_what_must_be_kept_and_does_not_fit_is_an_error_with_the_figures() -> None:
    with pytest.raises(KeyholeError) as refused:
        keyhole.compact(chat(6), 5_000)
    assert refused.value.code is Code.OVER_BUDGET
    assert refused.value.facts["budget"] == 5_000
    assert int(refused.value.facts["tokens"]) > 5_500
    assert "5,000" in refused.value.message


@pytest.mark.parametrize(
    "options",
    [{"budget": 0}, {"keep_last": -1}, {"target": 0}, {"target": 1.1}, {"trigger": 0}, {"format": "gemini"}],
)
def test_wrong_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(KeyholeError) as refused:
        keyhole.compact(chat(1), **{"budget": 1_000, **options})
    assert refused.value.code is Code.INVALID_ARGUMENT


def test_items_that_are_no_objects_are_refused() -> None:
    with pytest.raises(KeyholeError, match="JSON objects"):
        keyhole.compact(["hi"], 1_000)  # type: ignore[list-item]


def test_a_report_of_another_conversation_is_passed_over() -> None:
    other = keyhole.compact(chat(12), 20_000).report
    messages = chat(12, LOG.replace("step", "part of a step"))
    done = keyhole.compact(messages, 20_000, previous=other)
    assert done == keyhole.compact(messages, 20_000)


def test_below_the_budget_history_is_compacted_above_the_trigger() -> None:
    messages = chat(8)
    budget = count(messages) + 1_000
    assert keyhole.compact(messages, budget).items == messages
    assert count(keyhole.compact(messages, budget, trigger=0.8).items) <= 0.8 * budget
    spared_too_little = keyhole.compact(messages, budget, trigger=0.8, clear_at_least=budget)
    assert spared_too_little.items == messages


def test_an_item_of_ten_megabytes_becomes_a_stub() -> None:
    messages = chat(6)
    messages[3] = {**messages[3], "content": "x" * 10_000_000}
    done = keyhole.compact(messages, 30_000)
    assert "10,000,000 characters" in done.items[3]["content"]
    assert done.report.stubs == ((3, None),)


def test_ten_thousand_items_are_compacted() -> None:
    messages = chat(5_000, LOG[:500])
    done = keyhole.compact(messages, 50_000)
    assert count(done.items) <= 50_000
    assert faults_of_chat(done.items) == []
    assert done.report.left_out.messages == len(messages) - len(done.items)
    assert keyhole.compact(done.items, 50_000).items == done.items
