"""Fixtures: a folder and SQLite stores on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyhole.store.base import Limits
from keyhole.store.sqlite.store import SqliteStore
from tests.support.fakes import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "home of keyhole"
    folder.mkdir()
    return folder


@pytest.fixture
def open_store(folder: Path, clock: Clock) -> Iterator[object]:
    """Open stores on one folder; all are closed after the test."""
    opened: list[SqliteStore] = []

    def open_store(max_bytes: int = 10**9) -> SqliteStore:
        opened.append(SqliteStore(folder, clock, Limits(30 * 86_400.0, max_bytes)))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()
