"""Tests of damage in the SQLite store: damaged texts are marked, and a damaged file is moved aside and replaced."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from threading import Barrier, Thread

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.store.sqlite.damage import MAX_DAMAGED_FILES, check_integrity, is_damage
from keyhole.store.sqlite.store import SqliteStore
from tests.support.fakes import Clock, artifact
from tests.support.store_contract import TTL, code_of
from tests.support.stores import Open, failure, files, noise

LONG = noise(100_000)


def spoil(folder: Path, sql: str, *values: object) -> None:
    """Change the file by SQL, in a way that SQLite does not detect as damage."""
    with closing(sqlite3.connect(folder / "artifacts.db")) as file, file:
        assert file.execute(sql, values).rowcount


FLIPPED = (
    "UPDATE chunks SET data = CAST(substr(data, 1, 99) || x'00ff' || substr(data, 102) AS BLOB) WHERE key & 255 = ?"
)
HARM = {
    "a chunk that is not the first": (FLIPPED, 2),
    "a missing chunk": ("DELETE FROM chunks WHERE key & 255 = ?", 3),
    "a chunk of another type": ("UPDATE chunks SET data = 5 WHERE key & 255 = ?", 1),
    "a chunk in another's place": ("UPDATE chunks SET key = key + 1 WHERE key & 255 = ?", 3),
    "a missing text": ("DELETE FROM contents WHERE chunk_chars > ?", 0),
    "another size of chunks": ("UPDATE contents SET chunk_chars = ?", 1_000),
    "an invalid size of chunks": ("UPDATE contents SET chunk_chars = ?", -1),
    "another length": ("UPDATE entries SET chars = ?", 99),
    "another title": ("UPDATE entries SET title = ?", "Another"),
    "another URL": ("UPDATE entries SET url = ?", "https://evil.example/"),
    "invalid notes": ("UPDATE entries SET notes = ?", "{"),
    "a main part that ends after the text": ("UPDATE entries SET main_end = ?", len(LONG) + 1),
    "a main part that ends nowhere": ("UPDATE entries SET main_end = ?", "end"),
    "an invalid time": ("UPDATE entries SET fetched_at = ?", "then"),
}


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("read", ["get", "part", "verify", "search", "recent"])
def test_a_damaged_artifact_is_marked_and_repaired_by_putting_it_again(
    open_store: Open, folder: Path, harm: str, read: str
) -> None:
    original, other = (
        artifact(text=LONG),
        artifact("other", text="Another text", requested_url="https://other.example/"),
    )
    store = open_store()
    store.put(original, "word")
    spoil(folder, *HARM[harm])
    store.put(other, "word")
    reads: dict[str, Callable[[], object]] = {
        "get": lambda: code_of(store, original.id),
        "part": lambda: [failure(lambda: store.part(original.id, 70_000, 99_000))],
        "verify": store.verify,
        "search": lambda: store.search(("word",), 10),
        "recent": lambda: store.recent(original.requested_url, 0.0),
    }
    if read == "part" and harm in ("a chunk of another type",):
        reads["part"] = lambda: failure(lambda: store.part(original.id, 30_000, 40_000))
    reads[read]()
    error = failure(lambda: store.get(original.id))
    assert error.code is Code.DAMAGED_ARTIFACT
    assert "example" in str(error.facts["url"])
    assert failure(lambda: store.part(original.id, 0, 5)).code is Code.DAMAGED_ARTIFACT
    assert store.search(("word",), 10) == (other,)
    assert store.recent(original.requested_url, 0.0) is None
    assert not store.renew(original.id, 5.0)
    assert [row.id for row in store.list(10)] == ["other"]
    assert (store.stats().artifacts, store.stats().damaged) == (1, 1)
    assert store.verify().damaged == (original.id,)
    assert store.warning() == ""
    store.put(original, "word")
    assert store.get(original.id) == original
    assert set(store.search(("word",), 10)) == {original, other}
    assert (store.verify().damaged, store.stats().damaged) == ((), 0)


def test_an_undamaged_part_of_a_damaged_text_is_returned(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact(text=LONG), "word")
    spoil(folder, FLIPPED, 2)
    assert store.part(artifact().id, 10, 20).artifact.text == LONG[10:20]
    assert failure(lambda: store.part(artifact().id, 70_000, 70_001)).code is Code.DAMAGED_ARTIFACT


def test_a_damaged_text_damages_all_artifacts_that_share_it(open_store: Open, folder: Path) -> None:
    store = open_store()
    for name in ("a", "b"):
        store.put(artifact(name, text=LONG), "word")
    spoil(folder, FLIPPED, 0)
    assert code_of(store, "a") is Code.DAMAGED_ARTIFACT
    assert store.list(10) == ()
    store.put(artifact("a", text=LONG), "word")
    assert store.get("a").text == LONG
    store.put(artifact("b", text=LONG), "word")
    assert store.get("b").text == LONG
    assert store.stats().contents == 1


def test_a_damaged_artifact_can_be_removed_and_expires(open_store: Open, folder: Path, clock: Clock) -> None:
    store = open_store()
    for name in ("a", "b"):
        store.put(artifact(name, text=LONG + name), "word")
    spoil(folder, FLIPPED, 0)
    assert store.verify().damaged == ("a", "b")
    assert store.remove("a")
    assert code_of(store, "a") is Code.UNKNOWN_ARTIFACT
    clock.advance(TTL + 1)
    assert store.collect() == 1
    assert code_of(store, "b") is Code.EXPIRED_ARTIFACT


# The file.

Harm = Callable[[bytearray], None]


def overwrite(start: int, end: int) -> Harm:
    def harm(data: bytearray) -> None:
        data[start : min(end, len(data))] = Random(start).randbytes(min(end, len(data)) - start)

    return harm


def cut(size: int) -> Harm:
    def harm(data: bytearray) -> None:
        del data[size:]

    return harm


RUINS = {
    "text": lambda data: data.__setitem__(slice(None), b"my only copy of something else\n" * 100),
    "header": overwrite(0, 16),
    "first page": overwrite(0, 4_096),
    "schema": overwrite(100, 4_096),
    "all but the first page": overwrite(4_096, 10**9),
    "version": overwrite(60, 62),
    "cut in half": cut(200_000),
    "cut to a page": cut(4_096),
    "cut within the header": cut(50),
}


@pytest.fixture
def full(open_store: Open, folder: Path) -> SqliteStore:
    """Return a closed store with thirty artifacts."""
    store = open_store()
    for n in range(30):
        store.put(artifact(f"id{n}", text=f"zebra{n} {noise(12_000, n)}", url=f"https://example.org/{n}"), f"word w{n}")
    store.remember([b"key"])
    store.close()
    return store


@pytest.mark.parametrize("ruin", RUINS)
def test_a_corrupt_file_is_moved_aside_and_replaced(
    full: SqliteStore, folder: Path, ruin: str, caplog: pytest.LogCaptureFixture
) -> None:
    data = bytearray((folder / "artifacts.db").read_bytes())
    RUINS[ruin](data)
    (folder / "artifacts.db").write_bytes(data)
    with caplog.at_level(logging.WARNING):
        full.put(artifact("new"), "word")
        full.verify()
        full.put(artifact("newer"), "word")
    assert full.get("new") == artifact("new")
    assert full.warning() == "store_replaced"
    assert sum("artifacts saved" in record.message for record in caplog.records) == 1
    assert (folder / "artifacts.db.damaged-1").read_bytes() == bytes(data)
    for row in full.list(100):
        if row.id.startswith("id"):
            number = int(row.id[2:])
            assert full.get(row.id).text == f"zebra{number} {noise(12_000, number)}"
    full.close()
    assert full.warning() == ""
    assert full.get("newer") == artifact("newer")


def test_readable_artifacts_of_a_damaged_file_are_salvaged(full: SqliteStore, folder: Path) -> None:
    path = folder / "artifacts.db"
    with closing(sqlite3.connect(path)) as file:
        (page,) = next(file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entries_by_request'"))
    pinned = full.list(1)[0].id
    full.pin(pinned, True)
    data = bytearray(path.read_bytes())
    overwrite((page - 1) * 4_096, page * 4_096)(data)
    path.write_bytes(data)
    assert full.recent("https://example.org/5", 0.0) is not None
    assert [row.id for row in full.list(100) if row.pinned] == [pinned]
    assert full.warning() == "store_replaced"
    assert len(full.list(100)) == 30
    assert full.search(("zebra7",), 10)[0].text == f"zebra7 {noise(12_000, 7)}"
    assert full.remembers(b"key")
    assert full.verify().damaged == ()


def test_only_the_newest_damaged_files_are_kept(open_store: Open, folder: Path) -> None:
    store = open_store()
    for n in range(MAX_DAMAGED_FILES + 3):
        store.close()
        (folder / "artifacts.db").write_bytes(b"not a database " * 100 + bytes([n]))
        store.put(artifact(), "x")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["artifacts.db", *(f"artifacts.db.damaged-{n}" for n in (4, 5, 6))]


def test_the_journal_of_a_damaged_file_is_not_applied_to_the_new_file(full: SqliteStore, folder: Path) -> None:
    (folder / "artifacts.db").write_bytes(b"not a database " * 1_000)
    journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + Random(1).randbytes(9_000)
    (folder / "artifacts.db-journal").write_bytes(journal)
    full.put(artifact("new"), "x")
    assert full.get("new") == artifact("new")
    assert not (folder / "artifacts.db-journal").exists()


def test_stores_that_detect_damage_concurrently_share_the_new_file(
    open_store: Open, folder: Path, full: SqliteStore
) -> None:
    for attempt in range(5):
        stores = [open_store() for _ in range(4)]
        for store in stores[:2]:
            store.list(1)
        data = bytearray((folder / "artifacts.db").read_bytes())
        overwrite(0, len(data))(data)
        (folder / "artifacts.db").write_bytes(data)
        start = Barrier(len(stores))

        def put(number: int, store: SqliteStore, attempt: int = attempt, start: Barrier = start) -> None:
            start.wait()
            store.put(artifact(f"try{attempt}by{number}"), "x")

        threads = [Thread(target=put, args=each) for each in enumerate(stores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {row.id for row in open_store().list(100)} >= {f"try{attempt}by{n}" for n in range(4)}
        assert {store.warning() for store in stores[:2]} == {"store_replaced"}
    assert len(list(folder.glob("*.damaged-*"))) == MAX_DAMAGED_FILES


def test_flipped_bytes_cause_neither_foreign_exceptions_nor_wrong_text(
    full: SqliteStore, folder: Path, tmp_path: Path
) -> None:
    whole = (folder / "artifacts.db").read_bytes()
    random = Random(3)
    for attempt in range(40):
        shutil.rmtree(folder)
        folder.mkdir()
        data = bytearray(whole)
        for _ in range(random.choice((1, 10, 300))):
            data[random.randrange(len(data))] = random.randrange(256)
        (folder / "artifacts.db").write_bytes(data)
        full.close()
        for n in range(30):
            with suppress(KeyholeError):
                found = full.get(f"id{n}")
                assert found.text == f"zebra{n} {noise(12_000, n)}", attempt
                assert found.url == f"https://example.org/{n}", attempt
        for call in (full.verify, full.stats, full.collect, lambda: full.list(50), lambda: full.search(("word",), 9)):
            with suppress(KeyholeError):
                call()
        if "newer" not in failure_of(lambda: full.put(artifact(), "x")):
            assert full.get(artifact().id) == artifact(), attempt


def failure_of(call: Callable[[], object]) -> str:
    """Return the message of the KeyholeError that a call raises, or ""."""
    try:
        call()
    except KeyholeError as error:
        return error.message
    return ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_not_damage(full: SqliteStore, folder: Path) -> None:
    (folder / "artifacts.db").chmod(0)
    assert failure(lambda: full.list(1)).code is Code.STORE_UNAVAILABLE
    (folder / "artifacts.db").chmod(0o600)
    assert len(full.list(100)) == 30


def test_only_corruption_codes_are_damage() -> None:
    codes = {code: code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) for code in range(1, 27)}
    for code, damaged in codes.items():
        error = sqlite3.DatabaseError("so")
        error.sqlite_errorcode = code | 1 << 8
        assert is_damage(error) is damaged
    assert not is_damage(sqlite3.OperationalError("no code"))


def words_of_another_format(path: Path) -> None:
    spoil(path.parent, "UPDATE words_config SET v = ? WHERE k = 'version'", 99)


def words_without_an_index(path: Path) -> None:
    spoil(path.parent, "DELETE FROM words_data WHERE id = ?", 10)


def tables_of_another_format(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[44:48] = (99).to_bytes(4, "big")
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [words_of_another_format, words_without_an_index, tables_of_another_format])
def test_damage_without_an_error_code_is_detected_by_its_message(
    full: SqliteStore, folder: Path, harm: Callable[[Path], None]
) -> None:
    harm(folder / "artifacts.db")
    full.put(artifact("new"), "word")
    assert full.search(("word",), 50)
    assert (full.get("new"), full.warning()) == (artifact("new"), "store_replaced")


def test_an_invalid_statement_is_not_damage(full: SqliteStore, folder: Path) -> None:
    full.list(1)
    with closing(sqlite3.connect(folder / "artifacts.db")) as file, pytest.raises(sqlite3.Error) as raised:
        file.execute("SELECT nothing FROM nowhere")
    assert not is_damage(raised.value)


def test_verify_also_checks_the_file(full: SqliteStore, folder: Path) -> None:
    assert (full.verify().checked, full.verify().file) == (30, "whole")
    full.close()
    data = bytearray((folder / "artifacts.db").read_bytes())
    data[36:40] = (9).to_bytes(4, "big")  # a wrong number of free pages
    (folder / "artifacts.db").write_bytes(data)
    found = full.verify()
    assert (found.checked, found.damaged, found.file) == (30, (), "replaced")
    assert (full.verify().file, full.warning()) == ("whole", "store_replaced")


def test_an_interrupted_integrity_check_is_unfinished(full: SqliteStore, folder: Path) -> None:
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        assert check_integrity(file)
        file.set_trace_callback(lambda _: file.interrupt())
        assert not check_integrity(file)
        file.set_trace_callback(None)
        assert next(file.execute("SELECT count(*) FROM entries")) == (30,)


def test_an_empty_file_is_treated_as_new(open_store: Open, folder: Path) -> None:
    (folder / "artifacts.db").touch()
    store = open_store()
    store.put(artifact(), "x")
    assert store.warning() == ""
    assert list(files(folder)) == ["artifacts.db"]


def test_a_file_without_the_version_of_its_words_is_replaced(full: SqliteStore, folder: Path) -> None:
    spoil(folder, "DELETE FROM words_version WHERE version > ?", 0)
    assert len(full.list(100)) == 30
    assert full.warning() == "store_replaced"
