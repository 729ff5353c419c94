"""Tests of removing an empty journal that a killed process left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keyhole.store.sqlite.schema import remove_empty_journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "a.db")) as file:
        file.executescript("CREATE TABLE t (x); PRAGMA user_version = 7;")
    return tmp_path / "a.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, timeout=3, isolation_level=None)) as opened:
        yield opened


@pytest.mark.parametrize("content", [b"", bytes(512), bytes(5_000)])
def test_an_empty_journal_is_removed(path: Path, connection: sqlite3.Connection, content: bytes) -> None:
    path.with_name("a.db-journal").write_bytes(content)
    remove_empty_journal(connection, path)
    assert [each.name for each in path.parent.iterdir()] == ["a.db"]
    assert next(connection.execute("PRAGMA user_version")) == (7,)
    assert next(connection.execute("PRAGMA busy_timeout")) == (3_000,)


def test_without_a_journal_nothing_is_written(path: Path, connection: sqlite3.Connection) -> None:
    before = path.stat().st_mtime_ns, path.read_bytes()
    remove_empty_journal(connection, path)
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


def test_the_journal_of_an_active_writer_stays_and_is_not_waited_for(
    path: Path, connection: sqlite3.Connection
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO t VALUES (1)")
        assert path.with_name("a.db-journal").exists()
        remove_empty_journal(connection, path)
        writer.execute("COMMIT")
    assert list(connection.execute("SELECT x FROM t")) == [(1,)]
