"""The fuzz writes the conversations that it should, and finds what breaks a promise."""

from __future__ import annotations

import random
from typing import Any

import pytest

import keyhole
from keyhole.store.sqlite.store import MemoryStore
from tests.sdks import shapes
from tests.sdks.fuzz import failures, make_trial, writers
from tests.sdks.laws import LAWS, Trial, run
from tests.sdks.views import is_plain, view
from tests.support.conversations import FORMATS, random_events

SEEDS = range(30)


def test_a_seed_repeats_a_conversation_and_its_options() -> None:
    for name, write in writers(with_sdks=False).items():
        one, other = make_trial(7, name, write), make_trial(7, name, write)
        assert (one.items, one.budget) == (other.items, other.budget)


@pytest.mark.parametrize("name", shapes.writers(list(FORMATS)))
def test_objects_hold_what_the_dicts_do(name: str) -> None:
    write = shapes.writers(list(FORMATS))[name]
    found = [write(random_events(random.Random(seed)), random.Random(seed)) for seed in SEEDS]
    assert any(not is_plain(items) for items in found)
    if name in ("responses items", "anthropic blocks", "chat calls"):
        expected = [FORMATS[name.split()[0]](random_events(random.Random(seed))) for seed in SEEDS]
        assert [without_none(view(items)) for items in found] == [without_none(items) for items in expected]


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_none(each) for name, each in value.items() if each is not None}
    return [without_none(each) for each in value] if isinstance(value, list) else value


def broken_by(monkeypatch: pytest.MonkeyPatch, change: Any) -> set[str]:
    """Return the laws that a compaction breaks if `change` is made to its items."""
    compact = keyhole.compact

    def compact_badly(items: Any, budget: int, **options: Any) -> Any:
        done = compact(items, budget, **options)
        return type(done)(change(list(done.items)), done.report)

    monkeypatch.setattr(keyhole, "compact", compact_badly)
    return {failure.split(":")[0] for _, _, failure in failures(SEEDS, writers(with_sdks=False), LAWS)}


def test_a_lost_item_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"lengths", "sizes", "rules"} <= broken_by(monkeypatch, lambda items: items[:1] + items[2:])


def test_a_copied_item_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "identities" in broken_by(monkeypatch, lambda items: [*items[:-1], dict(items[-1])])


def test_a_crash_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "crash" in broken_by(monkeypatch, lambda items: items[99])


def test_a_conversation_that_fits_passes() -> None:
    for format in FORMATS:
        items = FORMATS[format](random_events(random.Random(1)))[:1]
        trial = Trial(format, items, 10_000, {"format": format}, MemoryStore(lambda: 0.0))
        assert run(trial, LAWS) == []
