"""Files of every released version open, are migrated, and keep everything; older versions of Keyhole refuse the result.

The files here were written by the version of Keyhole that first had their format.
"""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.store.calls.schema import LOG
from keyhole.store.calls.sqlite import SqliteCallLog
from keyhole.store.sqlite.migrations import Step, Tables, migrate, read_version
from keyhole.store.sqlite.schema import STORE, run_transaction
from tests.support.fakes import Clock, artifact
from tests.support.stores import Open, failure

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
