"""Test the dictionary that forgets its oldest items."""

from __future__ import annotations

from keyhole.runtime.bounded_dict import BoundedDict


def test_the_oldest_items_are_dropped_and_a_set_item_is_the_newest() -> None:
    counts = BoundedDict[str, int](2)
    counts["a"], counts["b"] = 1, 2
    counts["a"] += 10
    counts["c"] = 3
    assert list(counts.items()) == [("a", 11), ("c", 3)]
    assert counts.setdefault("d", 4) == 4
    assert list(counts) == ["c", "d"]


def test_reading_an_item_does_not_make_it_newer() -> None:
    counts = BoundedDict[str, int](2)
    counts["a"], counts["b"] = 1, 2
    assert counts["a"] == counts.get("a") == counts.setdefault("a", 5) == 1
    counts["c"] = 3
    assert list(counts) == ["b", "c"]
