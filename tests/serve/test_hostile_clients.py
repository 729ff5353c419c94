"""What a client may send of itself: names, prefixes and cursors of any size and kind cost no more than others."""

from __future__ import annotations

import asyncio
import base64
import time

import pytest

from keyhole.budget.budget import allowance
from keyhole.budget.clients import HOSTS, UNKNOWN, host_of
from keyhole.callers import Caller
from keyhole.config.config import Config
from keyhole.config.schema import MAX_BUDGET
from keyhole.errors import KeyholeError
from keyhole.serve import resources
from keyhole.serve.resources import parse_cursor
from keyhole.store.memory import MemoryStore
from tests.support.fakes import Clock, artifact
from tests.support.product import retrieval

HOSTILE = [" (via " * 150_000, "\x1b]0;x\x07", "a\nb", "\x00", "\ud800", "(" * 900_000, " " * 900_000]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_however_long_or_strange_is_an_unknown_client_at_once(name: str) -> None:
    begun = time.perf_counter()
    assert host_of(name, name) is UNKNOWN
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize("name", [*(host.name for host in HOSTS), *(host.name + "x" * 100 for host in HOSTS), *HOSTILE])
def test_no_name_raises_a_budget_above_the_largest(name: str) -> None:
    for asked in (None, MAX_BUDGET, 10**18):
        budget = allowance(Config(context_tokens=10**9), Caller(name, "9" * 100_000), asked, asked)
        assert budget.size <= MAX_BUDGET and (budget.chars or 0) <= MAX_BUDGET


def test_a_value_of_a_million_characters_is_completed_as_soon_as_its_beginning() -> None:
    store = MemoryStore(Clock(), max_artifacts=3_000)
    for number in range(2_000):
        id = "a" * 12 + "".join("abcdefghij"[int(digit)] for digit in f"{number:04}")
        store.put(artifact(id, f"Text {number}", url=f"https://a.example/{number}", title="A title " * 30), "x")
    begun = time.perf_counter()
    found = asyncio.run(resources.completed(retrieval(store=store), "id", "t " * 500_000))
    assert (len(found.values), found.total) == (100, None)
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize("place", ["1.0 a\x00b", "1.0 \x7f", "nan a", "1e999 a", "-inf a", "1.0 ", " a", "1.0 a\nb"])
def test_a_forged_cursor_never_reaches_the_store(place: str) -> None:
    with pytest.raises(KeyholeError):
        parse_cursor(base64.urlsafe_b64encode(place.encode()).decode().rstrip("="))
