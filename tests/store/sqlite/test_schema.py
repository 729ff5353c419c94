"""The schema of the SQLite file: newer files are rejected, and indexes of other words are made anew."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.passages.stems import index_terms
from keyhole.store.calls.sqlite import LOG, SqliteCallLog
from keyhole.store.sqlite import word_index
from keyhole.store.sqlite.schema import (
    SAFE_WAL_VERSION,
    STORE,
    Step,
    Tables,
    journal_mode,
    migrate,
    read_version,
    remove_empty_journal,
    run_transaction,
)
from tests.support.fakes import Clock, artifact
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


# Migrations

FILES = {
    "artifacts.db": (STORE, Path(__file__).with_name("artifacts-7.db.gz")),
    "calls.db": (LOG, Path(__file__).parents[1] / "calls" / "calls-1.db.gz"),
}
NEXT = Step(
    "a mood", ("ALTER TABLE entries ADD COLUMN mood TEXT NOT NULL DEFAULT ''", "CREATE TABLE moods (name TEXT)")
)
WITH_MOOD = STORE._replace(steps=(*STORE.steps, NEXT))


def unpack(name: str, folder: Path) -> Path:
    path = folder / name
    path.write_bytes(gzip.decompress(FILES[name][1].read_bytes()))
    return path


def named(path: Path) -> set[tuple[str, str]]:
    """Return the tables and indexes of a file, and each table's columns."""
    with closing(sqlite3.connect(path)) as db:
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}
        columns = {(name, row[1]) for name in names for row in db.execute(f"PRAGMA table_info({name})")}
    return columns | {(name, "") for name in names}


def check_contents(store: object) -> None:
    from keyhole.store.sqlite.store import SqliteStore

    assert isinstance(store, SqliteStore)
    assert [row.id for row in store.search(["zebra"], 5)] == ["id1", "id0"]
    assert store.get("id0").text == "The zebras of page 0. Größe 中\n"
    assert {row.id: row.pinned for row in store.list(5)} == {"id0": False, "id1": True}
    assert store.remembers(b"key0") and store.vectors([b"v"]) == {b"v": b"12345678"}
    with pytest.raises(KeyholeError) as caught:
        store.get("id2")
    assert caught.value.code is Code.UNKNOWN_ARTIFACT


@pytest.mark.parametrize("name", FILES)
def test_the_columns_that_are_checked_are_those_of_a_file(name: str, tmp_path: Path) -> None:
    tables, _ = FILES[name]
    found = named(unpack(name, tmp_path))
    assert tables.names(tables.first_version) <= found
    virtual = {"words", "_sqlite_migrations"}
    rest = {each for each in found - tables.names(tables.first_version) if not each[0].startswith(tuple(virtual))}
    assert rest == set()


def test_a_store_of_the_first_version_opens_and_keeps_everything(open_store: Open, folder: Path) -> None:
    unpack("artifacts.db", folder)
    store = open_store()
    check_contents(store)
    store.put(artifact("new"), "zebra")
    assert store.get("new") == artifact("new")


def test_a_log_of_the_first_version_opens_and_keeps_everything(tmp_path: Path) -> None:
    unpack("calls.db", tmp_path)
    log = SqliteCallLog(tmp_path, Clock(), 1e12)
    assert len(log.calls(9)) == 5
    log.close()


def test_a_step_adds_a_column_to_new_and_old_files_alike(
    open_store: Open, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.schema.STORE", WITH_MOOD)
    path = unpack("artifacts.db", folder)
    store = open_store()
    check_contents(store)
    store.put(artifact("new"), "zebra")
    store.close()
    with closing(sqlite3.connect(fresh := tmp_path / "fresh.db", isolation_level=None)) as db:
        run_transaction(db, lambda db: migrate(db, WITH_MOOD), write=True)
        assert read_version(db, WITH_MOOD) == STORE.version + 1
    assert named(path) == named(fresh)
    assert {("entries", "mood"), ("moods", "name")} <= named(path)


def test_an_older_keyhole_refuses_a_migrated_file_and_leaves_it_as_it_is(
    open_store: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpack("artifacts.db", folder)
    with monkeypatch.context() as newer:
        newer.setattr("keyhole.store.sqlite.schema.STORE", WITH_MOOD)
        store = open_store()
        store.list(1)
        store.close()
    before = path.read_bytes()
    error = failure(lambda: open_store().list(1))
    assert error.code is Code.STORE_UNAVAILABLE
    formats = f"its format is {WITH_MOOD.version}, not {STORE.version}"
    assert f"the artifact store was written by a newer version of Keyhole: {formats}" in error.message
    assert path.read_bytes() == before


def test_a_step_that_fails_leaves_the_file_as_it_was(
    open_store: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = STORE._replace(steps=(*STORE.steps, Step("wrong", (*NEXT.statements, "CREATE TABLE entries (id TEXT)"))))
    unpack("artifacts.db", folder)
    with monkeypatch.context() as newer:
        newer.setattr("keyhole.store.sqlite.schema.STORE", broken)
        assert failure(lambda: open_store().list(1)).code is Code.STORE_UNAVAILABLE
    check_contents(open_store())


def test_steps_are_applied_once_by_processes_that_open_a_file_at_the_same_time(tmp_path: Path) -> None:
    path = unpack("artifacts.db", tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as one, closing(sqlite3.connect(path)) as other:
        assert read_version(one, WITH_MOOD) == read_version(other, WITH_MOOD) == STORE.first_version
        for db in (one, other):
            db.isolation_level = None
            run_transaction(db, lambda db: migrate(db, WITH_MOOD), write=True)
        rows = list(other.execute("SELECT name FROM _sqlite_migrations ORDER BY rowid"))
    assert [tuple(row) for row in rows] == [(step.name,) for step in WITH_MOOD.steps]


def test_later_steps_follow_each_other(tmp_path: Path) -> None:
    tables = Tables("log", 1, (Step("one", ("CREATE TABLE a (b TEXT)",)), Step("two", ("CREATE INDEX c ON a (b)",))))
    three = tables._replace(steps=(*tables.steps, Step("three", ("ALTER TABLE a ADD COLUMN d REAL",))))
    with closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as db:
        for steps in (tables, three):
            run_transaction(db, lambda db, steps=steps: migrate(db, steps), write=True)  # type: ignore[misc]
            assert read_version(db, steps) == steps.version
    assert three.names(3) == {("a", ""), ("a", "b"), ("c", ""), ("a", "d")}


# The journal


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
