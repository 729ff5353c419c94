"""Properties of `keyhole.compact` and `keyhole.restore` over generated conversations, valid and invalid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.items import estimate_item
from keyhole.extensions.conversations.transcript import read_transcript
from keyhole.store.sqlite.store import MEMORY_LIMITS, MemoryStore
from tests.sdks.laws import LAWS, LAWS_OF_RESTORING, Trial, count_bytes, run
from tests.support.conversations import FORMATS, Event, Item, events, rich_events

BUDGETS = st.integers(300, 20_000)
FEWER = settings(max_examples=settings().max_examples * 3 // 5)
"""For laws of which each example is compacted about six times."""
in_all_formats = pytest.mark.parametrize("format", FORMATS)


def count(items: Any) -> int:
    return sum(map(estimate_item, items))


def compact_or_none(items: list[Item], budget: int, format: str, **options: Any) -> keyhole.Compacted | None:
    """Return None if what must be kept exceeds the budget."""
    try:
        return keyhole.compact(items, budget, format=format, **options)  # type: ignore[arg-type]
    except KeyholeError as error:
        assert error.code == Code.OVER_BUDGET
        assert error.facts["budget"] == budget
        assert int(error.facts["tokens"]) > budget
        return None


@in_all_formats
@FEWER
@given(
    steps=rich_events(),
    share=st.floats(0.1, 1.2),
    keep_last=st.integers(0, 5),
    target=st.floats(0.2, 1),
    trigger=st.floats(0.5, 1),
    counter=st.sampled_from([None, count_bytes]),
)
def test_compacting_any_conversation_keeps_all_laws(
    format: str, steps: list[Event], share: float, keep_last: int, target: float, trigger: float, counter: Any
) -> None:
    store = MemoryStore(lambda: 0.0, replace(MEMORY_LIMITS, max_bytes=1 << 30))
    options = {"format": format, "keep_last": keep_last, "target": target, "trigger": trigger, "store": store}
    trial = Trial(format, FORMATS[format](steps), 1, {**options, **({"counter": counter} if counter else {})}, store)
    trial.budget = max(1, int(trial.count(trial.items) * share))
    assert run(trial, (*LAWS, *LAWS_OF_RESTORING)) == []


@in_all_formats
@given(steps=events(), budget=st.integers(300, 5_000))
def test_every_result_is_in_the_conversation_or_in_the_store(format: str, steps: list[Event], budget: int) -> None:
    store = MemoryStore(lambda: 0.0)
    done = compact_or_none(FORMATS[format](steps), budget, format, store=store, secret=b"s")
    if done is None:
        return
    found: list[Any] = [*done.items]
    for artifact in map(store.get, done.report.ids):
        found += [artifact.text]
        found += read_transcript(artifact.text) if artifact.text.startswith("{") else ()
    assert set(strings(found)) >= {text for step in steps for _, text in step.results if text}


def strings(value: Any) -> Iterator[str]:
    """Yield all texts in a value."""
    if isinstance(value, str):
        yield value
    else:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from strings(each)


@in_all_formats
@given(steps=events(), budget=BUDGETS, spared=st.integers(0, 20_000))
def test_a_conversation_that_fits_is_compacted_only_if_enough_is_spared(
    format: str, steps: list[Event], budget: int, spared: int
) -> None:
    items = FORMATS[format](steps)
    valid = compact_or_none(items, 10**9, format)
    assert valid is not None
    done = compact_or_none(valid.items, budget, format, trigger=0.5, clear_at_least=spared)
    if done is not None and valid.report.tokens_after <= budget and done.items != valid.items:
        stubs_and_notice = 130 * len(done.report.stubs) + 100
        assert valid.report.tokens_after - done.report.tokens_after + stubs_and_notice >= spared
