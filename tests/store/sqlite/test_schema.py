"""Tests of the SQLite schema: older files are migrated completely, newer files are rejected."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import keyhole
from keyhole.errors import Code
from keyhole.store.filters import Filters
from keyhole.store.sqlite.schema import SAFE_WAL_VERSION, SCHEMA_VERSION, journal_mode, read_version
from tests.support.fakes import artifact
from tests.support.store_contract import code_of
from tests.support.stores import OLDEST_COLUMNS, Open, failure, files, write_older

SOURCE = str(Path(keyhole.__file__).parents[1])
OLDER = range(1, SCHEMA_VERSION)
OLDER_TABLES = range(1, 4)
"""The versions that stored texts in the table `artifacts`."""


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_file_of_a_newer_keyhole_is_rejected_unchanged(open_store: Open, folder: Path, journal: str) -> None:
    with closing(sqlite3.connect(folder / "artifacts.db")) as newer:
        newer.execute(f"PRAGMA journal_mode = {journal}")
        newer.executescript(f"CREATE TABLE artifacts (id); PRAGMA user_version = {SCHEMA_VERSION + 1};")
    before = files(folder)["artifacts.db"]
    store = open_store()
    for _ in range(2):
        error = failure(lambda: store.put(artifact(), "x"))
        assert error.code is Code.STORE_UNAVAILABLE
        assert "newer" in error.message
    assert files(folder)["artifacts.db"] == before
    assert store.warning() == ""


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("beside", [False, True])
def test_a_file_of_any_older_schema_keeps_its_contents(
    open_store: Open, folder: Path, version: int, beside: bool
) -> None:
    write_older(folder, version, with_keys=beside, count=3)
    store = open_store()
    expected = replace(artifact(), etag='"1"', author="A", notes=(("a", "b"),))
    assert store.get(artifact().id) == (expected if version > 1 else artifact())
    assert store.get("id2") == artifact("id2")
    assert failure(lambda: store.get("gone")).facts == {"url": "https://example.org/gone"}
    assert [each.id for each in store.search(("w1", "word"), 1)] == ["id1"]
    assert store.remembers(b"key") is beside
    assert store.vectors([b"key"]) == ({b"key": b"v"} if beside else {})
    assert (store.stats().artifacts, store.stats().contents) == (3, 1)
    assert store.verify().damaged == ()
    renewed = replace(artifact(), site="S")
    store.put(renewed, "word")
    assert open_store().get(renewed.id) == renewed


@pytest.mark.parametrize("version", OLDER)
def test_migration_preserves_the_order_of_access(open_store: Open, folder: Path, version: int) -> None:
    write_older(folder, version, count=5)
    open_store().list(1)
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        order = [id for (id,) in file.execute("SELECT id FROM entries ORDER BY turn")]
    assert order == ["id4", "id3", "id2", "id1", artifact().id]


def test_new_and_migrated_files_have_the_same_tables(open_store: Open, folder: Path) -> None:
    def tables() -> set[tuple[str, str]]:
        store = open_store()
        store.list(1)
        store.close()
        with closing(sqlite3.connect(folder / "artifacts.db")) as file:
            assert next(file.execute("PRAGMA auto_vacuum")) == (2,)
            found = set(file.execute("SELECT name, sql FROM sqlite_master"))
        (folder / "artifacts.db").unlink()
        return found

    new = tables()
    for version in OLDER:
        for beside in (False, True):
            write_older(folder, version, with_keys=beside)
            assert tables() == new


def test_migrated_files_are_searched_as_before(open_store: Open, folder: Path) -> None:
    for version in OLDER:
        write_older(folder, version, count=2)
        store = open_store()
        assert [each.id for each in store.search(("w1", "word"), 10, Filters(("example.org",)))] == ["id1", "a" * 16]
        store.close()
        (folder / "artifacts.db").unlink()


@pytest.mark.parametrize("version", OLDER_TABLES)
def test_an_older_keyhole_with_the_file_open_fails_without_changes(
    open_store: Open, folder: Path, version: int
) -> None:
    write_older(folder, version)
    with closing(sqlite3.connect(folder / "artifacts.db")) as old:
        old.execute("SELECT * FROM artifacts").fetchall()
        store = open_store()
        kept = store.get(artifact().id)
        insert = f"INSERT INTO artifacts ({OLDEST_COLUMNS}) SELECT {OLDEST_COLUMNS} FROM artifacts"  # noqa: S608
        for sql in (insert, "DELETE FROM artifacts"):
            with pytest.raises(sqlite3.OperationalError, match="artifacts"):
                old.execute(sql)
        old.rollback()
        assert store.get(artifact().id) == kept


def test_a_keyhole_of_version_4_with_the_file_open_can_still_use_it(open_store: Open, folder: Path) -> None:
    write_older(folder, 4, count=2)
    with closing(sqlite3.connect(folder / "artifacts.db", isolation_level=None)) as old:
        cursor = old.execute("SELECT * FROM entries")
        columns = [name for name, *_ in cursor.description]
        cursor.fetchall()
        store = open_store()
        split = replace(artifact(), main_end=4)
        store.put(split, "word")
        row = old.execute(f"SELECT {', '.join(columns)} FROM entries WHERE id = 'id1'").fetchone()  # noqa: S608
        old.execute("DELETE FROM entries WHERE id = 'id1'")
        insert = f"INSERT INTO entries ({', '.join(columns)}) VALUES ({', '.join('?' * len(row))})"  # noqa: S608
        old.execute(insert, row)
        old.execute("UPDATE entries SET last_access = last_access + 1")
        assert store.get("id1") == artifact("id1")
        assert store.get(split.id) == split
        assert store.verify().damaged == ()


def test_a_failed_migration_leaves_the_file_unchanged(open_store: Open, folder: Path) -> None:
    write_older(folder, 1)
    with closing(sqlite3.connect(folder / "artifacts.db")) as old, old:
        old.execute("ALTER TABLE artifacts ADD COLUMN notes TEXT")  # makes a later migration fail
    before = files(folder)
    store = open_store()
    for _ in range(2):
        assert failure(lambda: store.get(artifact().id)).code is Code.STORE_UNAVAILABLE
    assert files(folder) == before


KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from keyhole.store.sqlite import migration
from keyhole.store.sqlite.store import SqliteStore
insert, left = migration.insert, [20]
def insert_or_die(*arguments):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), 9)
    return insert(*arguments)
migration.insert = insert_or_die
SqliteStore(Path(sys.argv[2]), lambda: 1_700_000_000.0, 1e9, 10**9).list(1)
"""


def test_a_killed_migration_is_repeated_at_the_next_start(open_store: Open, folder: Path) -> None:
    write_older(folder, 3, count=40)
    run = subprocess.run([sys.executable, "-c", KILLED, SOURCE, str(folder)], timeout=60, check=False)
    assert run.returncode == -9
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        assert next(file.execute("PRAGMA user_version")) == (3,)
        assert next(file.execute("SELECT count(*) FROM artifacts")) == (40,)
    store = open_store()
    assert len(store.list(100)) == 40
    assert store.verify().checked == 40
    assert store.warning() == ""


def test_a_migration_by_another_process_is_not_damage(
    open_store: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.schema.BUSY_TIMEOUT", 0.05)
    write_older(folder, 3)
    with closing(sqlite3.connect(folder / "artifacts.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        store = open_store()
        assert failure(lambda: store.get(artifact().id)).code is Code.STORE_UNAVAILABLE
        other.execute("ROLLBACK")
    assert store.get(artifact().id).text == artifact().text
    assert [path.name for path in folder.iterdir()] == ["artifacts.db"]


def test_wal_is_used_only_with_a_safe_sqlite(open_store: Open, folder: Path) -> None:
    assert journal_mode((3, 40, 1)) == journal_mode((3, 51, 2)) == "DELETE"
    assert journal_mode(SAFE_WAL_VERSION) == journal_mode((3, 52, 0)) == journal_mode((4, 0, 0)) == "WAL"
    open_store().put(artifact(), "x")
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        (used,) = next(file.execute("PRAGMA journal_mode"))
    assert used == journal_mode(sqlite3.sqlite_version_info).lower()


def test_an_unknown_id_stays_unknown_after_a_migration(open_store: Open, folder: Path) -> None:
    write_older(folder, 1)
    assert code_of(open_store(), "never") is Code.UNKNOWN_ARTIFACT


def test_the_version_is_read_in_one_transaction(folder: Path) -> None:
    path = folder / "artifacts.db"
    refused = []

    def interrupt(statement: str) -> None:
        """Write to the file between the reads of the version and of the tables."""
        if not statement.startswith("SELECT name"):
            return
        with closing(sqlite3.connect(path, timeout=0)) as other:
            try:
                other.executescript(f"CREATE TABLE entries (id); PRAGMA user_version = {SCHEMA_VERSION};")
            except sqlite3.OperationalError as error:
                refused.append(str(error))

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.set_trace_callback(interrupt)
        assert read_version(connection) == 0
        assert refused == ["database is locked"]
        assert not connection.in_transaction
