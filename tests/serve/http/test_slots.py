"""Slots are acquired and released, in whatever order requests and their work end."""

from __future__ import annotations

from keyhole.serve.http.limits import Slots


def test_a_slot_is_released_when_its_last_holder_leaves() -> None:
    slots = Slots(per_tenant=1, total=2)
    request = work = slots.slot("a")
    with request:
        work.__enter__()
        assert slots.is_full_for("a")
        assert not slots.is_full()
    assert slots.is_full_for("a")
    work.__exit__(None, None, None)
    assert not slots.is_full_for("a")
    assert (slots.in_use, len(slots._held)) == (0, 0)


def test_work_that_starts_after_its_request_has_ended_is_counted() -> None:
    slots = Slots(per_tenant=1, total=1)
    place = slots.slot("a")
    with place:
        pass
    with place:
        assert slots.is_full()
    assert slots.in_use == 0


def test_only_tenants_that_hold_slots_take_memory() -> None:
    slots = Slots(per_tenant=2, total=10)
    for n in range(1_000):
        with slots.slot(str(n)):
            assert len(slots._held) == 1
        assert not slots.is_full_for(str(n))
    assert len(slots._held) == 0
