"""Requests of servers find their answers, also where two servers use the same ids."""

from __future__ import annotations

import pytest

from keyhole.extensions.proxy import server_requests
from keyhole.extensions.proxy.server_requests import ServerRequests


def test_the_id_of_the_only_server_stays_as_it_is() -> None:
    requests = ServerRequests(renames=False)
    assert requests.add("one", 7) == 7
    assert requests.take("7") is None
    assert requests.take(7) == ("one", 7)
    assert requests.take(7) is None


def test_two_servers_may_use_the_same_id() -> None:
    requests = ServerRequests(renames=True)
    first, second = requests.add("one", 1), requests.add("two", 1)
    assert first != second
    assert requests.find("two", 1) == second
    assert requests.take(second) == ("two", 1)
    assert requests.find("two", 1) is None


def test_the_requests_of_a_server_that_ended_are_forgotten() -> None:
    requests = ServerRequests(renames=True)
    kept, first, second = requests.add("one", 1), requests.add("two", 1), requests.add("two", 2)
    assert requests.forget("two") == [first, second]
    assert requests.forget("two") == []
    assert requests.take(kept) == ("one", 1)


def test_the_oldest_requests_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_requests, "MAX_ASKED", 1)
    requests = ServerRequests(renames=False)
    requests.add("one", 1)
    requests.add("one", 2)
    assert requests.take(1) is None
    assert requests.take(2) == ("one", 2)
