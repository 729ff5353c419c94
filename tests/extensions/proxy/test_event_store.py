"""The newest events of a session are kept, within limits of count and bytes."""

from __future__ import annotations

import pytest

from keyhole.extensions.proxy.event_store import MAX_BYTES, MAX_EVENTS, Event, EventStore, parse_id


def filled(*events: Event) -> EventStore:
    store = EventStore()
    for event in events:
        store.add(event)
    return store


def test_the_events_of_a_stream_that_follow_one_are_returned() -> None:
    events = [Event(1, 1, b"a"), Event(2, 1, b"b"), Event(1, 2, b"c"), Event(1, 3, b"d")]
    assert filled(*events).after(1, 1) == [events[2], events[3]]
    assert filled(*events).after(1, 0) == [events[0], events[2], events[3]]
    assert filled(*events).after(1, 3) == filled(*events).after(3, 0) == []


def test_the_oldest_events_are_dropped_first() -> None:
    store = filled(*(Event(1, number, b"") for number in range(1, MAX_EVENTS + 3)))
    assert [event.number for event in store.after(1, 0)] == list(range(3, MAX_EVENTS + 3))
    store = filled(*(Event(1, number, b"x" * (MAX_BYTES // 4)) for number in range(1, 8)))
    assert [event.number for event in store.after(1, 0)] == [4, 5, 6, 7]


def test_the_newest_event_is_kept_whatever_its_length() -> None:
    store = filled(Event(1, 1, b"x"), Event(1, 2, b"x" * (MAX_BYTES + 1)))
    assert [event.number for event in store.after(1, 0)] == [2]
    store.add(Event(1, 3, b"x"))
    assert [event.number for event in store.after(1, 0)] == [3]


@pytest.mark.parametrize("text", ["", "1", "1-", "-1", "1-1-1", "1 - 1", "1-1\n", "+1-1", "٣-١", "1-" + "1" * 5_000])
def test_a_text_that_is_no_id_is_refused(text: str) -> None:
    assert parse_id(text) is None


def test_an_id_names_its_stream_and_its_place() -> None:
    assert parse_id(Event(12, 345, b"").id.decode()) == (12, 345)
