"""The store in SQLite keeps the contract, shares its file, survives its disk and keeps within its size."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import keyhole
from fakes import Clock, artifact
from keyhole.errors import Code, KeyholeError
from keyhole.store.base import Store
from keyhole.store.filters import Filters
from keyhole.store.sqlite import SqliteStore
from keyhole.store.sqlite_schema import RELEASED as _MIGRATIONS, SCHEMA_VERSION
from store.contract import DAY, TTL, StoreContract, code_of

SOURCE = str(Path(keyhole.__file__).parents[1])


class TestSqliteStore(StoreContract):
    def open_store(self, folder: Path, clock: Clock) -> Store:
        return SqliteStore(folder, clock, TTL, max_bytes=10**9)


Open = Callable[..., SqliteStore]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "home of keyhole"
    folder.mkdir()
    return folder


@pytest.fixture
def open_store(folder: Path, clock: Clock) -> Iterator[Open]:
    """Opens stores on one folder, and closes them all in the end."""
    opened: list[SqliteStore] = []

    def open_store(max_bytes: int = 10**9) -> SqliteStore:
        opened.append(SqliteStore(folder, clock, TTL, max_bytes))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


def failure(call: Callable[[], object]) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        call()
    return caught.value


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# The file.


def test_only_the_owner_may_read_the_file(open_store: Open, folder: Path) -> None:
    open_store().put(artifact(), "x")
    assert files(folder)
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_opened_before_the_first_use(open_store: Open, folder: Path) -> None:
    open_store()
    assert files(folder) == {}


def test_what_one_store_keeps_another_reads(open_store: Open) -> None:
    writer, reader = open_store(), open_store()
    assert reader.list(10) == ()
    writer.put(artifact(), "x")
    assert reader.get(artifact().id) == artifact()
    reader.remove(artifact().id)
    assert code_of(writer, artifact().id) is Code.UNKNOWN_ARTIFACT


def test_what_was_kept_is_there_after_a_restart(open_store: Open) -> None:
    first = open_store()
    first.put(artifact(), "word")
    first.close()
    second = open_store()
    assert second.get(artifact().id) == artifact()
    assert second.search(("word",), 1) == (artifact(),)


def test_a_store_can_be_closed_before_it_was_used_and_twice(open_store: Open) -> None:
    store = open_store()
    store.close()
    store.put(artifact(), "x")
    store.close()
    store.close()


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from keyhole.records import Artifact
from keyhole.store.sqlite import SqliteStore
folder, name, count = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
store = SqliteStore(folder, lambda: 1_700_000_000.0, 1e9, 10**9)
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    url = f"https://{name}.example/{n}"
    text = f"{name} {n} " * 500
    store.put(Artifact(f"{name}{n}", url, url, name, text, "text/plain", "", 1_700_000_000.0 + n), f"{name} w{n}")
    assert store.get(f"{name}{n}").text == text
store.close()
"""


def test_processes_that_write_at_once_lose_nothing(open_store: Open, folder: Path) -> None:
    names, count = ("left", "right", "third"), 12
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, SOURCE, str(folder), name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=30)
        assert (writer.returncode, errors) == (0, "")
    store = open_store()
    assert {row.id for row in store.list(1_000)} == {f"{name}{n}" for name in names for n in range(count)}
    for name in names:
        assert store.get(f"{name}{count - 1}").text == f"{name} {count - 1} " * 500
        assert len(store.search((name,), 1_000)) == count
    assert len(store.search((f"w{count - 1}",), 1_000)) == len(names)


def test_an_artifact_and_its_words_are_kept_together_or_not_at_all(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact("first"), "word")
    with closing(sqlite3.connect(folder / "artifacts.db")) as other:
        other.executescript("DROP TABLE words; CREATE TABLE words (stems TEXT CHECK (0));")
    assert failure(lambda: store.put(artifact("second"), "word")).code is Code.STORE_UNAVAILABLE
    assert code_of(store, "second") is Code.UNKNOWN_ARTIFACT
    assert code_of(store, "third") is Code.UNKNOWN_ARTIFACT
    assert store.get("first") == artifact("first")


# URLs that were seen.


def test_urls_seen_are_known_after_a_restart_and_to_other_processes(open_store: Open) -> None:
    first, other = open_store(), open_store()
    assert not other.remembers(b"key")
    first.remember([b"key"])
    first.close()
    assert other.remembers(b"key")
    assert open_store().remembers(b"key")


def test_a_file_from_before_urls_were_remembered_is_opened_and_remembers_them(open_store: Open, folder: Path) -> None:
    open_store().put(artifact(), "x")
    with closing(sqlite3.connect(folder / "artifacts.db")) as older:
        older.executescript("DROP TABLE known_urls;")
    store = open_store()
    assert not store.remembers(b"key")
    store.remember([b"key"])
    assert store.remembers(b"key")
    assert store.get(artifact().id) == artifact()


def test_of_more_urls_than_are_kept_the_longest_unseen_are_forgotten(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.MAX_KNOWN_URLS", 3)
    store = open_store()
    for key in (b"a", b"b", b"c", b"a", b"d"):
        store.remember([key])
    assert [store.remembers(key) for key in (b"a", b"b", b"c", b"d")] == [True, False, True, True]


# Vectors of passages.


def test_vectors_are_known_after_a_restart_and_to_a_file_from_before_they_were_kept(
    open_store: Open, folder: Path
) -> None:
    open_store().put(artifact(), "x")
    with closing(sqlite3.connect(folder / "artifacts.db")) as older:
        older.executescript("DROP TABLE vectors;")
    first = open_store()
    assert first.vectors([b"key"]) == {}
    first.keep_vectors({b"key": b"vector"})
    first.close()
    assert open_store().vectors([b"key"]) == {b"key": b"vector"}
    assert open_store().get(artifact().id) == artifact()


# The disk.


def test_a_folder_that_is_not_there_makes_every_call_fail_by_name_until_it_is(open_store: Open, folder: Path) -> None:
    store = open_store()
    folder.rmdir()
    calls: list[Callable[[], object]] = [
        lambda: store.put(artifact(), "x"),
        lambda: store.get("id"),
        lambda: store.recent("url", 0),
        lambda: store.search(("x",), 1),
        lambda: store.held(("x",)),
        lambda: store.list(1),
        lambda: store.remove("id"),
        lambda: store.collect(),
        lambda: store.remember([b"key"]),
        lambda: store.remembers(b"key"),
    ]
    assert {failure(call).code for call in calls} == {Code.STORE_UNAVAILABLE}
    folder.mkdir()
    store.put(artifact(), "x")
    assert store.get(artifact().id) == artifact()


def test_a_folder_that_is_a_file_makes_a_call_fail_by_name(open_store: Open, folder: Path) -> None:
    folder.rmdir()
    folder.write_text("not a folder")
    assert failure(lambda: open_store().put(artifact(), "x")).code is Code.STORE_UNAVAILABLE


def test_a_disk_that_goes_away_under_an_open_store_and_comes_back_empty_works_again(
    open_store: Open, folder: Path
) -> None:
    store = open_store()
    store.put(artifact("before"), "x")
    shutil.rmtree(folder)
    assert failure(lambda: store.put(artifact("during"), "x")).code is Code.STORE_UNAVAILABLE
    folder.mkdir()
    store.put(artifact("after"), "x")
    assert store.get("after") == artifact("after")
    assert open_store().get("after") == artifact("after"), "it is on the disk, and not in a file without a name"
    assert code_of(store, "before") is Code.UNKNOWN_ARTIFACT


def test_a_disk_that_comes_back_with_its_file_is_read_again(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact("before"), "x")
    away = folder.rename(folder.with_name("unmounted"))
    assert failure(lambda: store.put(artifact("during"), "x")).code is Code.STORE_UNAVAILABLE
    away.rename(folder)
    store.put(artifact("after"), "x")
    assert {row.id for row in store.list(10)} == {"before", "after"}


def test_a_file_that_cannot_be_written_makes_a_call_fail_by_name(open_store: Open, folder: Path) -> None:
    (folder / "artifacts.db").mkdir()
    store = open_store()
    assert failure(lambda: store.put(artifact(), "x")).code is Code.STORE_UNAVAILABLE
    (folder / "artifacts.db").rmdir()
    store.put(artifact(), "x")


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(open_store: Open, folder: Path) -> None:
    (folder / "artifacts.db").write_bytes(b"my only copy of something else\n" * 100)
    before = files(folder)
    assert failure(lambda: open_store().list(1)).code is Code.STORE_UNAVAILABLE
    assert files(folder) == before


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_file_of_a_newer_keyhole_is_refused_and_left_as_it_is(open_store: Open, folder: Path, journal: str) -> None:
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


FIRST_SCHEMA = """
CREATE TABLE artifacts (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL, requested_url TEXT NOT NULL,
    title TEXT NOT NULL, text BLOB NOT NULL, chars INTEGER NOT NULL, size INTEGER NOT NULL, media_type TEXT NOT NULL,
    language TEXT NOT NULL, cut INTEGER NOT NULL, fetched_at REAL NOT NULL, last_access REAL NOT NULL
);
CREATE INDEX artifacts_by_access ON artifacts (last_access, size);
CREATE INDEX artifacts_by_fetch ON artifacts (fetched_at);
CREATE INDEX artifacts_by_request ON artifacts (requested_url, fetched_at);
CREATE TABLE dropped (id TEXT PRIMARY KEY, url TEXT NOT NULL, dropped_at REAL NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    stems, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S*'", detail = none
);
PRAGMA user_version = 1;
"""
"""The file of Keyhole 0.1.0."""
FIRST_COLUMNS = "id, url, requested_url, title, text, chars, size, media_type, language, cut, fetched_at, last_access"
INSERT_FIRST = "INSERT INTO artifacts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

COLUMNS_OF_OTHER = FIRST_COLUMNS.replace("id", "'b'", 1)
INSERT_OTHER = f"INSERT INTO artifacts ({FIRST_COLUMNS}) SELECT {COLUMNS_OF_OTHER} FROM artifacts"  # noqa: S608


def write_first_schema(folder: Path) -> None:
    """A file as Keyhole 0.1.0 wrote it, with one artifact."""
    kept = artifact()
    text = kept.text.encode()
    row = [kept.id, kept.url, kept.requested_url, kept.title, text, len(kept.text), len(text), kept.media_type]
    with closing(sqlite3.connect(folder / "artifacts.db")) as old, old:
        old.executescript(FIRST_SCHEMA)
        old.execute(INSERT_FIRST, [*row, kept.language, 0, kept.fetched_at, Clock().now])
        old.execute("INSERT INTO words (rowid, stems) VALUES (1, 'word')")


def test_a_file_of_the_first_schema_keeps_its_artifacts_and_takes_new_ones(open_store: Open, folder: Path) -> None:
    write_first_schema(folder)
    store = open_store()
    assert store.get(artifact().id) == artifact()
    assert store.search(("word",), 10) == (artifact(),)
    renewed = replace(artifact(), etag='"1"', author="A", notes=(("a", "b"),))
    store.put(renewed, "word")
    assert open_store().get(renewed.id) == renewed


def test_an_older_keyhole_that_has_the_file_open_goes_on_writing(open_store: Open, folder: Path) -> None:
    write_first_schema(folder)
    with closing(sqlite3.connect(folder / "artifacts.db")) as old:
        store = open_store()
        assert store.get(artifact().id) == artifact()
        sql = (
            f"INSERT INTO artifacts ({FIRST_COLUMNS}) SELECT {FIRST_COLUMNS.replace('id', chr(39) + 'b' + chr(39), 1)}"
        )
        with old:
            old.execute(sql + " FROM artifacts")
        assert store.get("b") == artifact("b")


def test_a_file_that_cannot_be_brought_up_is_left_as_it_is(open_store: Open, folder: Path) -> None:
    write_first_schema(folder)
    with closing(sqlite3.connect(folder / "artifacts.db")) as old, old:
        old.execute("ALTER TABLE artifacts ADD COLUMN notes TEXT")  # the last step of the migration fails on it
    before = files(folder)["artifacts.db"]
    store = open_store()
    for _ in range(2):
        assert failure(lambda: store.get(artifact().id)).code is Code.STORE_UNAVAILABLE
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        assert next(file.execute("PRAGMA user_version")) == (1,)
        assert "etag" not in {row[1] for row in file.execute("PRAGMA table_info(artifacts)")}
    assert len(files(folder)["artifacts.db"]) == len(before)


def test_a_new_file_and_one_that_was_brought_up_have_the_same_tables(open_store: Open, folder: Path) -> None:
    def tables() -> dict[str, list[object]]:
        open_store().list(1)
        with closing(sqlite3.connect(folder / "artifacts.db")) as file:
            names = [row[0] for row in file.execute("SELECT name FROM sqlite_master ORDER BY name")]
            return {name: [row[1:] for row in file.execute(f"PRAGMA table_info({name})")] for name in names}

    new = tables()
    (folder / "artifacts.db").unlink()
    write_first_schema(folder)
    assert tables() == new


def test_files_of_every_older_schema_are_searched_as_before(open_store: Open, folder: Path) -> None:
    found = []
    for version in range(1, SCHEMA_VERSION + 1):
        write_first_schema(folder)
        with closing(sqlite3.connect(folder / "artifacts.db")) as file, file:
            file.executescript(";\n".join([*_MIGRATIONS[1:version], f"PRAGMA user_version = {version}"]))
            file.execute("INSERT INTO words (rowid, stems) VALUES (2, 'word other')")
            file.execute(INSERT_OTHER)
        store = open_store()
        found.append([each.id for each in store.search(("other", "word"), 10, Filters(("example.org",)))])
        store.close()
        (folder / "artifacts.db").unlink()
    assert found == [["b", artifact().id]] * SCHEMA_VERSION


def test_a_search_reads_lists_and_not_the_words_of_every_artifact(open_store: Open, folder: Path) -> None:
    store = open_store()
    for n in range(30):
        store.put(artifact(f"n{n}"), "word" if n else "word rare")
    with closing(sqlite3.connect(folder / "artifacts.db")) as other, other:
        other.execute("UPDATE words_content SET c0 = 'something else'")
    assert store.search(("rare", "word"), 1)[0].id == "n0"


def test_a_file_that_another_process_holds_locked_is_waited_for_and_then_named(
    open_store: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.BUSY_TIMEOUT", 0.05)
    store = open_store()
    store.put(artifact(), "x")
    with closing(sqlite3.connect(folder / "artifacts.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert failure(lambda: store.put(artifact("b"), "x")).code is Code.STORE_UNAVAILABLE
        other.execute("ROLLBACK")
    store.put(artifact("b"), "x")
    assert store.get("b") == artifact("b")


# The size.


def put_pages(store: Store, clock: Clock, count: int, size: int = 1_000) -> None:
    """Keep pages of a size, one a day; the first is `page0`."""
    for n in range(count):
        store.put(artifact(f"page{n}", "x" * size, url=f"https://example.org/{n}", fetched_at=clock.now), f"word w{n}")
        clock.advance(DAY)


def test_beyond_its_size_the_least_recently_read_go_first_and_name_their_url(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=4_500)
    put_pages(store, clock, 4)
    store.get("page0")
    clock.advance(DAY)
    store.put(artifact("page4", "y" * 2_000, url="https://example.org/4"), "word")
    assert {row.id for row in store.list(10)} == {"page0", "page3", "page4"}
    error = failure(lambda: store.get("page1"))
    assert error.code is Code.EXPIRED_ARTIFACT
    assert error.facts == {"url": "https://example.org/1"}
    assert {found.id for found in store.search(("word",), 10)} == {"page0", "page3", "page4"}
    assert store.search(("w1",), 10) == ()


def test_exactly_its_size_is_kept(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=3_000)
    put_pages(store, clock, 3)
    assert len(store.list(10)) == 3
    put_pages(store, clock, 1, size=1_001)
    assert len(store.list(10)) < 4


def test_the_size_is_counted_in_bytes_and_not_in_characters(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=3_000)
    store.put(artifact("old", "中" * 600), "x")
    clock.advance(DAY)
    store.put(artifact("new", "中" * 600), "x")
    assert [row.id for row in store.list(10)] == ["new"]


def test_a_text_larger_than_the_whole_store_is_not_said_to_be_kept(open_store: Open, clock: Clock) -> None:
    store = open_store(max_bytes=3_000)
    put_pages(store, clock, 2)
    assert failure(lambda: store.put(artifact("huge", "x" * 3_001), "x")).code is Code.STORE_UNAVAILABLE
    assert {row.id for row in store.list(10)} == {"page0", "page1"}, "and nothing else had to go for it"


def test_a_store_whose_limit_was_lowered_shrinks_when_it_collects(open_store: Open, clock: Clock) -> None:
    put_pages(open_store(), clock, 5)
    assert open_store(max_bytes=2_000).collect() == 3
    assert {row.id for row in open_store().list(10)} == {"page3", "page4"}


def row(key: int, size: int, last_access: float) -> dict[str, int | float]:
    return {"key": key, "size": size, "last_access": last_access}


def doomed(rows: list[dict[str, int | float]], expired_before: float, max_bytes: int) -> list[int | float]:
    total = int(sum(row["size"] for row in rows))
    return [row["key"] for row in doomed_rows(rows, total, expired_before, max_bytes)]


def test_all_that_expired_goes_and_then_the_oldest_until_the_rest_fits() -> None:
    rows = [row(1, 10, 1.0), row(2, 10, 2.0), row(3, 10, 3.0), row(4, 10, 4.0)]
    assert doomed(rows, expired_before=0.0, max_bytes=40) == []
    assert doomed(rows, expired_before=2.0, max_bytes=40) == [1]
    assert doomed(rows, expired_before=2.5, max_bytes=40) == [1, 2]
    assert doomed(rows, expired_before=0.0, max_bytes=25) == [1, 2]
    assert doomed(rows, expired_before=3.5, max_bytes=25) == [1, 2, 3]
    assert doomed(rows, expired_before=0.0, max_bytes=0) == [1, 2, 3, 4]
    assert doomed([], expired_before=0.0, max_bytes=0) == []
