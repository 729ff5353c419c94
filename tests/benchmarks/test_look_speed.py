"""Tests of the data that benchmarks/look measures with: every page that it requests exists."""

from __future__ import annotations

from pathlib import Path

from benchmarks.look.fill import TTL, fill
from benchmarks.look.speed import list_pages
from keyhole.extensions.look.page import Look, ServedLinks
from keyhole.store.base import Limits
from keyhole.store.calls.sqlite import SqliteCallLog
from keyhole.store.sqlite.store import SqliteStore
from tests.support.look import NOW, page_client, words_of

CALLS = 60


def test_every_measured_page_exists_and_shows_the_data(tmp_path: Path) -> None:
    text, call = fill(tmp_path, artifacts=20, calls=CALLS, words=60, now=NOW, long_chars=30_000)
    store = SqliteStore(tmp_path, lambda: NOW, Limits(TTL, 2**30))
    log = SqliteCallLog(tmp_path, lambda: NOW, TTL)
    client = page_client(Look(log, store, lambda: NOW, ServedLinks()))
    pages = {name: client.get(path) for name, path in list_pages(CALLS, text, call, 30_000).items()}
    assert {name: page.status_code for name, page in pages.items()} == dict.fromkeys(pages, 200)
    assert "A long page" in words_of(pages["texts"].text)
    assert words_of(pages["texts that contain words"].text).count("https://") > 1
    assert log.figures(0).calls == CALLS + 1
    assert log.figures(0).sufficed < log.figures(0).asked
    log.close()
    store.close()


def test_two_fills_are_equal(tmp_path: Path) -> None:
    figures = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        fill(tmp_path / name, artifacts=5, calls=30, words=30, now=NOW)
        log = SqliteCallLog(tmp_path / name, lambda: NOW, TTL)
        figures.append(log.figures(0))
        log.close()
    assert figures[0] == figures[1]
