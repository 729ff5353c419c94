"""The operator sees numbers, error codes and stages of tenants, and no name that a caller or a page chose."""

from __future__ import annotations

import dataclasses

from keyhole.extensions.look.hosted.pages import OTHER, make_row, make_view
from keyhole.store.base import StoreStats
from keyhole.store.calls.base import Figures, Hour

STATS = StoreStats(
    kind="sqlite",
    artifacts=3,
    contents=2,
    text_bytes=1_000,
    stored_bytes=500,
    max_bytes=10_000,
    tombstones=0,
    damaged=0,
    oldest_fetch=None,
    newest_fetch=None,
)
FIGURES = Figures(
    since=0.0,
    calls=7,
    asked=5,
    sufficed=4,
    hours=(Hour(3_600.0, 4, 1, 1, 900, 90, 30), Hour(7_200.0, 3, 2, 0, 100, 10, 5)),
    outcomes=(("ok", 4), ("timeout", 1), ("my secret plan", 1), ("another plan", 1)),
    stages=(("fetch", 2.0, 5), ("my secret stage", 1.0, 2)),
    sources=(("secret.example", 900, 4),),
    tools=(("web_fetch", 5), ("grep secret", 2)),
    clients=(("secret-client 1", 7),),
)


def test_a_row_has_the_sums_of_a_tenant() -> None:
    row = make_row("one", STATS, 200, FIGURES)
    assert (row.calls, row.errors, row.misses) == (7, 3, 1)
    assert (row.read_chars, row.shown_chars, row.tokens) == (1_000, 100, 35)
    assert (row.artifacts, row.stored_bytes, row.log_bytes) == (3, 500, 200)
    assert (row.latest, row.seconds) == (7_200.0, 3.0)


def test_names_that_keyhole_did_not_give_are_counted_as_other() -> None:
    row = make_row("one", STATS, 200, FIGURES)
    assert row.outcomes == (("ok", 4), (OTHER, 2), ("timeout", 1))
    assert row.stages == (("fetch", 2.0, 5), (OTHER, 1.0, 2))
    view = make_view(0.0, [row], 0)
    assert "secret" not in repr(dataclasses.asdict(view))
    assert "plan" not in repr(view)


def test_the_total_sums_up_all_tenants_and_the_busiest_is_first() -> None:
    idle = make_row("idle", STATS, 0, dataclasses.replace(FIGURES, calls=0, hours=(), outcomes=(), stages=()))
    busy = make_row("busy", STATS, 200, FIGURES)
    view = make_view(5.0, [idle, busy, busy], 1)
    assert [row.name for row in view.rows] == ["busy", "busy", "idle"]
    assert (view.since, view.failed) == (5.0, 1)
    assert (view.total.calls, view.total.artifacts, view.total.log_bytes) == (14, 9, 400)
    assert dict(view.total.outcomes) == {"ok": 8, OTHER: 4, "timeout": 2}
    assert view.total.stages == (("fetch", 4.0, 10), (OTHER, 2.0, 4))
    assert view.total.latest == 7_200.0
    assert idle.latest is None


def test_the_view_of_no_tenant_is_empty() -> None:
    view = make_view(0.0, [], 0)
    assert (view.rows, view.total.calls, view.total.latest) == ((), 0, None)
