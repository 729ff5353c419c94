"""While a conversation grows, its beginning stays byte for byte, except where a compaction happens."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

import keyhole
from keyhole.extensions.conversations.items import estimate_item
from tests.support.conversations import FORMATS, Event

TURNS = 30
BUDGET = 36_000
"""Tokens: about two thirds of those of the whole conversation."""


def growing(format: str) -> list[list[dict[str, Any]]]:
    """Return a conversation as it is sent to the model before each of its turns."""
    events = [Event("user", "Find out why the build fails.")]
    sent = []
    for number in range(TURNS):
        lines = "".join(f"{number}: step {line} done\n" for line in range(150 + 61 * number % 200))
        calls = (f"call_{number}_0", f"call_{number}_1")
        events.append(Event("calls", "", calls, ((calls[0], lines), (calls[1], "ok")), is_marked=number % 3 == 0))
        if number % 7 == 6:
            events.append(Event("user", "Go on."))
        sent.append(FORMATS[format](events))
    return sent


def rewrites(sent: list[list[Any]]) -> int:
    """Return how often a request does not begin with the bytes of the one before."""
    texts = [json.dumps(items)[:-1] for items in sent]
    return sum(not after.startswith(before) for before, after in pairwise(texts))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("way", ["alone", "in place of the history"])
def test_over_thirty_turns_the_prefix_is_rewritten_at_most_twice(format: Any, way: str) -> None:
    requests: list[list[Any]] = []
    history: list[Any] = []
    taken = 0
    for items in growing(format):
        history = [*history, *items[taken:]] if way == "in place of the history" else items
        done = keyhole.compact(history, BUDGET, format=format)
        assert sum(map(estimate_item, done.items)) <= BUDGET
        requests.append(done.items)
        if way == "in place of the history":
            history, taken = done.items, len(items)
    assert 1 <= rewrites(requests) <= 2
    assert sum(map(estimate_item, growing(format)[-1])) > 1.4 * BUDGET


@pytest.mark.parametrize("format", FORMATS)
def test_a_result_larger_than_the_budget_does_not_make_later_requests_rewrite_the_prefix(format: Any) -> None:
    events = [Event("user", "Find out why the build fails.")]
    requests = []
    for number in range(TURNS):
        lines = "a step of the build, with words\n" * (20_000 if number == 1 else 200)
        events.append(Event("calls", "", (f"call_{number}",), ((f"call_{number}", lines),)))
        requests.append(keyhole.compact(FORMATS[format](events), BUDGET, format=format).items)
    assert 2 <= rewrites(requests) <= 5
