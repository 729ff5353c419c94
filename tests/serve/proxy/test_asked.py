"""Requests of servers find their answers, also where two servers use the same ids."""

from __future__ import annotations

import pytest

from keyhole.serve.proxy import asked as asked_module
from keyhole.serve.proxy.asked import Asked


def test_the_id_of_the_only_server_stays_as_it_is() -> None:
    asked = Asked(renames=False)
    assert asked.add("one", 7) == 7
    assert asked.take("7") is None
    assert asked.take(7) == ("one", 7)
    assert asked.take(7) is None


def test_two_servers_may_use_the_same_id() -> None:
    asked = Asked(renames=True)
    first, second = asked.add("one", 1), asked.add("two", 1)
    assert first != second
    assert asked.find("two", 1) == second
    assert asked.take(second) == ("two", 1)
    assert asked.find("two", 1) is None


def test_the_requests_of_a_server_that_ended_are_forgotten() -> None:
    asked = Asked(renames=True)
    kept, first, second = asked.add("one", 1), asked.add("two", 1), asked.add("two", 2)
    assert asked.forget("two") == [first, second]
    assert asked.forget("two") == []
    assert asked.take(kept) == ("one", 1)


def test_the_oldest_requests_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_module, "MAX_ASKED", 1)
    asked = Asked(renames=False)
    asked.add("one", 1)
    asked.add("one", 2)
    assert asked.take(1) is None
    assert asked.take(2) == ("one", 2)
