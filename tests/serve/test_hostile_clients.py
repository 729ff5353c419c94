"""Hostile client names, prefixes and cursors cost no more than ordinary ones."""

from __future__ import annotations

import asyncio
import base64
import time

import pytest

from keyhole.config.config import MAX_BUDGET, Config
from keyhole.errors import KeyholeError
from keyhole.render.budget import CLIENT_LIMITS, UNKNOWN_CLIENT, client_budget, limits_of
from keyhole.serve import resources
from keyhole.serve.resources import parse_cursor
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock, artifact
from tests.support.product import retrieval

HOSTILE = [" (via " * 150_000, "\x1b]0;x\x07", "a\nb", "\x00", "\ud800", "(" * 900_000, " " * 900_000]


@pytest.mark.parametrize("name", HOSTILE)
def test_long_or_hostile_names_are_unknown_clients_without_delay(name: str) -> None:
    start = time.perf_counter()
    assert limits_of(name, name) is UNKNOWN_CLIENT
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    "name", [*(host.name for host in CLIENT_LIMITS), *(host.name + "x" * 100 for host in CLIENT_LIMITS), *HOSTILE]
)
def test_no_client_name_raises_the_budget_above_the_maximum(name: str) -> None:
    for requested in (None, MAX_BUDGET, 10**18):
        budget = client_budget(Config(context_tokens=10**9), limits_of(name, "9" * 100_000), requested, requested)
        assert budget.size <= MAX_BUDGET


def test_a_value_of_a_million_characters_is_completed_as_fast_as_its_start() -> None:
    store = MemoryStore(Clock())
    for number in range(2_000):
        id = "a" * 12 + "".join("abcdefghij"[int(digit)] for digit in f"{number:04}")
        store.put(artifact(id, f"Text {number}", url=f"https://a.example/{number}", title="A title " * 30), "x")
    start = time.perf_counter()
    found = asyncio.run(resources.complete(retrieval(store=store), "id", "t " * 500_000))
    assert (len(found.values), found.total) == (100, None)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("place", ["1.0 a\x00b", "1.0 \x7f", "nan a", "1e999 a", "-inf a", "1.0 ", " a", "1.0 a\nb"])
def test_a_forged_cursor_never_reaches_the_store(place: str) -> None:
    with pytest.raises(KeyholeError):
        parse_cursor(base64.urlsafe_b64encode(place.encode()).decode().rstrip("="))
