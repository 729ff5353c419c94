"""The schema of the SQLite file: newer files are rejected, and indexes of other words are made anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from keyhole.errors import Code
from keyhole.passages.stems import index_terms
from keyhole.store.sqlite import word_index
from keyhole.store.sqlite.migrations import read_version
from keyhole.store.sqlite.schema import SAFE_WAL_VERSION, STORE, journal_mode
from tests.support.fakes import artifact
from tests.support.stores import Open, failure, files


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize(("version", "age"), [(STORE.first_version - 1, "an earlier"), (STORE.version + 1, "a newer")])
def test_a_file_of_another_version_is_rejected_unchanged(
    open_store: Open, folder: Path, journal: str, version: int, age: str
) -> None:
    with closing(sqlite3.connect(folder / "artifacts.db")) as newer:
        newer.execute(f"PRAGMA journal_mode = {journal}")
        newer.executescript(f"CREATE TABLE artifacts (id); PRAGMA user_version = {version};")
    before = files(folder)["artifacts.db"]
    store = open_store()
    for _ in range(2):
        error = failure(lambda: store.put(artifact(), "x"))
        assert error.code is Code.STORE_UNAVAILABLE
        assert f"written by {age} version of Keyhole: its format is {version}, not {STORE.version}" in error.message
    assert files(folder)["artifacts.db"] == before
    assert store.warning() == ""


@pytest.mark.parametrize("change", ["ALTER TABLE entries RENAME COLUMN title TO mood", "DROP INDEX entries_by_fetch"])
def test_a_file_without_a_column_or_index_is_rejected_unchanged_and_never_set_aside(
    open_store: Open, folder: Path, change: str
) -> None:
    store = open_store()
    store.put(artifact(), "x")
    store.close()
    with closing(sqlite3.connect(folder / "artifacts.db")) as other:
        other.execute(change)
    before = files(folder)["artifacts.db"]
    newer = open_store()
    for _ in range(2):
        error = failure(lambda: newer.put(artifact("b"), "x"))
        assert error.code is Code.STORE_UNAVAILABLE
        assert f"has other tables than format {STORE.version}" in error.message
    assert files(folder) == {"artifacts.db": before}
    assert newer.warning() == ""


def test_a_file_with_another_column_and_table_is_used_as_it_is(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact(), "x")
    store.close()
    with closing(sqlite3.connect(folder / "artifacts.db")) as other:
        other.executescript("ALTER TABLE entries ADD COLUMN mood TEXT; CREATE TABLE moods (name TEXT)")
    again = open_store()
    again.put(artifact("b"), "x")
    assert {row.id for row in again.list(5)} == {artifact().id, "b"}


def test_an_index_of_other_words_is_made_anew(open_store: Open, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store()
    for number in range(3):
        page = artifact(f"id{number}", f"The zebras of page {number}.", url=f"https://{number}.example/")
        store.put(page, " ".join(index_terms(page.title, page.text)))
    store.close()
    monkeypatch.setattr(word_index, "VERSION", 99)
    monkeypatch.setattr(
        "keyhole.passages.stems.index_terms", lambda _title, text: [word + "x" for word in text.split()]
    )
    newer = open_store()
    assert len(newer.search(("zebrasx",), 10)) == 3
    assert newer.search(("zebra",), 10) == ()
    assert newer.remove("id1")
    assert [each.id for each in newer.search(("zebrasx",), 10)] == ["id2", "id0"]


def test_another_process_that_creates_the_file_is_not_damage(
    open_store: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.schema.BUSY_TIMEOUT", 0.05)
    with closing(sqlite3.connect(folder / "artifacts.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        store = open_store()
        assert failure(lambda: store.list(1)).code is Code.STORE_UNAVAILABLE
        other.execute("ROLLBACK")
    assert store.list(1) == ()
    assert [path.name for path in folder.iterdir()] == ["artifacts.db"]


def test_wal_is_used_only_with_a_safe_sqlite(open_store: Open, folder: Path) -> None:
    assert journal_mode((3, 40, 1)) == journal_mode((3, 51, 2)) == "DELETE"
    assert journal_mode(SAFE_WAL_VERSION) == journal_mode((3, 52, 0)) == journal_mode((4, 0, 0)) == "WAL"
    open_store().put(artifact(), "x")
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        (used,) = next(file.execute("PRAGMA journal_mode"))
    assert used == journal_mode(sqlite3.sqlite_version_info).lower()


def test_the_version_is_read_in_one_transaction(folder: Path) -> None:
    path = folder / "artifacts.db"
    refused = []

    def interrupt(statement: str) -> None:
        """Write to the file between the reads of the version and of the tables."""
        if not statement.startswith("SELECT name"):
            return
        with closing(sqlite3.connect(path, timeout=0)) as other:
            try:
                other.executescript(f"CREATE TABLE entries (id); PRAGMA user_version = {STORE.version};")
            except sqlite3.OperationalError as error:
                refused.append(str(error))

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.set_trace_callback(interrupt)
        assert read_version(connection, STORE) == 0
        assert refused == ["database is locked"]
        assert not connection.in_transaction
