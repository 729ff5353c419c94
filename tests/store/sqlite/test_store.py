"""Tests of the SQLite store: the contract, sharing its file, and failures of the disk."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import keyhole
from keyhole.errors import Code
from keyhole.passages.stems import index_terms
from keyhole.store.base import Limits, Store
from keyhole.store.sqlite.store import SqliteStore
from keyhole.store.sqlite.word_index import MAX_REMOVED, unknown_share
from tests.support.fakes import Clock, artifact
from tests.support.store_contract import StoreContract, code_of
from tests.support.stores import Open, failure, files

SOURCE = str(Path(keyhole.__file__).parents[1])


class TestSqliteStore(StoreContract):
    def open_store(self, folder: Path, clock: Clock, limits: Limits) -> Store:
        return SqliteStore(folder, clock, limits)


# The file.


def test_only_the_owner_may_read_the_file(open_store: Open, folder: Path) -> None:
    open_store().put(artifact(), "x")
    assert files(folder)
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_opened_before_the_first_use(open_store: Open, folder: Path) -> None:
    open_store()
    assert files(folder) == {}


def test_one_store_reads_what_another_writes(open_store: Open) -> None:
    writer, reader = open_store(), open_store()
    assert reader.list(10) == ()
    writer.put(artifact(), "x")
    assert reader.get(artifact().id) == artifact()
    reader.remove(artifact().id)
    assert code_of(writer, artifact().id) is Code.UNKNOWN_ARTIFACT


def test_a_search_reads_the_beginning_of_a_long_output_and_all_of_a_page(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.rows.MAX_SEARCHED_CHARS", 10)
    store = open_store()
    store.put(artifact("p" * 16, "a long text"), "word")
    store.put(artifact("o" * 16, "a long text", url="output:log"), "word")
    assert {found.id: found.text for found in store.search(("word",), 5)} == {
        "p" * 16: "a long text",
        "o" * 16: "a long tex",
    }
    assert store.get("o" * 16).text == "a long text"


def test_artifacts_survive_a_restart(open_store: Open) -> None:
    first = open_store()
    first.put(artifact(), "word")
    first.close()
    second = open_store()
    assert second.get(artifact().id) == artifact()
    assert second.search(("word",), 1) == (artifact(),)


def test_a_store_can_be_closed_unused_and_twice(open_store: Open) -> None:
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
from keyhole.store.base import Limits
from keyhole.store.sqlite.store import SqliteStore
folder, name, count = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
store = SqliteStore(folder, lambda: 1_700_000_000.0, Limits(1e9, 10**9))
print("ready", flush=True)
sys.stdin.readline()
for n in range(count):
    url = f"https://{name}.example/{n}"
    text = f"{name} {n} " * 500
    store.put(Artifact(f"{name}{n}", url, url, name, text, "text/plain", "", 1_700_000_000.0 + n), f"{name} w{n}")
    assert store.get(f"{name}{n}").text == text
store.close()
"""


def test_concurrent_writers_lose_nothing(open_store: Open, folder: Path) -> None:
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


def test_an_artifact_and_its_words_are_stored_atomically(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact("first"), "word")
    with closing(sqlite3.connect(folder / "artifacts.db")) as other:
        other.executescript("DROP TABLE words; CREATE TABLE words (stems TEXT CHECK (0));")
    assert failure(lambda: store.put(artifact("second"), "word")).code is Code.STORE_UNAVAILABLE
    with closing(sqlite3.connect(folder / "artifacts.db")) as other:
        assert other.execute("SELECT id FROM entries").fetchall() == [("first",)]


# URL keys.


def test_url_keys_survive_a_restart_and_are_shared(open_store: Open) -> None:
    first, other = open_store(), open_store()
    assert not other.remembers(b"key")
    first.remember([b"key"])
    first.close()
    assert other.remembers(b"key")
    assert open_store().remembers(b"key")


def test_the_least_recently_seen_urls_are_forgotten(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.store.MAX_KNOWN_URLS", 3)
    store = open_store()
    for key in (b"a", b"b", b"c", b"a", b"d"):
        store.remember([key])
    assert [store.remembers(key) for key in (b"a", b"b", b"c", b"d")] == [True, False, True, True]


# Vectors of passages.


def test_vectors_survive_a_restart(open_store: Open) -> None:
    first = open_store()
    first.keep_vectors({b"key": b"vector"})
    first.close()
    assert open_store().vectors([b"key"]) == {b"key": b"vector"}


# The disk.


def test_every_call_fails_while_the_folder_is_missing(open_store: Open, folder: Path) -> None:
    store = open_store()
    folder.rmdir()
    calls: list[Callable[[], object]] = [
        lambda: store.put(artifact(), "x"),
        lambda: store.get("id"),
        lambda: store.part("id", 0, 1),
        lambda: store.recent("url", 0),
        lambda: store.search(("x",), 1),
        lambda: store.contains_words(("x",)),
        lambda: store.list(1),
        lambda: store.remove("id"),
        lambda: store.collect(),
        lambda: store.stats(),
        lambda: store.verify(),
        lambda: store.renew("id", 0.0),
        lambda: store.keep_vectors({b"key": b""}),
        lambda: store.vectors([b"key"]),
        lambda: store.remember([b"key"]),
        lambda: store.remembers(b"key"),
    ]
    assert {failure(call).code for call in calls} == {Code.STORE_UNAVAILABLE}
    folder.mkdir()
    store.put(artifact(), "x")
    assert store.get(artifact().id) == artifact()


def test_a_file_in_place_of_the_folder_makes_a_call_fail(open_store: Open, folder: Path) -> None:
    folder.rmdir()
    folder.write_text("not a folder")
    assert failure(lambda: open_store().put(artifact(), "x")).code is Code.STORE_UNAVAILABLE


def test_an_open_store_works_again_on_a_disk_that_returns_empty(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact("before"), "x")
    shutil.rmtree(folder)
    assert failure(lambda: store.put(artifact("during"), "x")).code is Code.STORE_UNAVAILABLE
    folder.mkdir()
    store.put(artifact("after"), "x")
    assert store.get("after") == artifact("after")
    assert open_store().get("after") == artifact("after"), "it is in the new file, not in the removed one"
    assert code_of(store, "before") is Code.UNKNOWN_ARTIFACT


def test_an_open_store_reads_a_disk_that_returns_with_its_file(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact("before"), "x")
    away = folder.rename(folder.with_name("unmounted"))
    assert failure(lambda: store.put(artifact("during"), "x")).code is Code.STORE_UNAVAILABLE
    away.rename(folder)
    store.put(artifact("after"), "x")
    assert {row.id for row in store.list(10)} == {"before", "after"}


def test_a_file_that_cannot_be_written_makes_a_call_fail(open_store: Open, folder: Path) -> None:
    (folder / "artifacts.db").mkdir()
    store = open_store()
    assert failure(lambda: store.put(artifact(), "x")).code is Code.STORE_UNAVAILABLE
    (folder / "artifacts.db").rmdir()
    store.put(artifact(), "x")


def test_the_words_of_a_removed_artifact_are_removed(open_store: Open, folder: Path) -> None:
    store = open_store()
    pages = [artifact(f"n{n}", f"The zebras of page {n} are striped.", url=f"https://{n}.example/") for n in range(3)]
    for page in pages:
        store.put(page, " ".join(index_terms(page.title, page.text)))
    store.remove("n1")
    with closing(sqlite3.connect(folder / "artifacts.db")) as other:
        assert next(other.execute("SELECT count(*) FROM words WHERE words MATCH 'zebra'")) == (2,)
        assert unknown_share(other) == 0


def test_the_words_of_many_removed_artifacts_are_removed_when_space_is_collected(
    open_store: Open, folder: Path
) -> None:
    store = open_store()
    for n in range(MAX_REMOVED + 2):
        page = artifact(f"n{n}", f"The zebras of page {n}.", url=f"https://{n}.example/")
        store.put(page, " ".join(index_terms(page.title, page.text)))
    assert len(store.remove(*(f"n{n}" for n in range(MAX_REMOVED + 1)))) == MAX_REMOVED + 1
    assert [each.id for each in store.search(("zebra",), 5)] == [f"n{MAX_REMOVED + 1}"]
    store.collect()
    with closing(sqlite3.connect(folder / "artifacts.db")) as other:
        assert unknown_share(other) == 0
    assert [each.id for each in store.search(("zebra",), 5)] == [f"n{MAX_REMOVED + 1}"]


def test_words_that_cannot_be_made_again_find_nothing_and_are_erased(open_store: Open, folder: Path) -> None:
    store = open_store()
    store.put(artifact("old", "The text of the page."), "words of nowhere")
    store.put(artifact("old", "The text of the page."), "other words")
    store.put(artifact("new", "Some zebras."), " ".join(index_terms("", "Some zebras.")))
    assert store.search(("nowhere",), 5) == ()
    assert [each.id for each in store.search(("other",), 5)] == ["old"]
    store.remove("old")
    assert store.search(("other",), 5) == ()
    store.erase()
    assert b"nowhere" not in (folder / "artifacts.db").read_bytes()
    assert [each.id for each in store.search(("zebra",), 5)] == ["new"]


def test_a_locked_file_makes_a_call_fail_after_a_wait(
    open_store: Open, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keyhole.store.sqlite.schema.BUSY_TIMEOUT", 0.05)
    store = open_store()
    store.put(artifact(), "x")
    with closing(sqlite3.connect(folder / "artifacts.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert failure(lambda: store.put(artifact("b"), "x")).code is Code.STORE_UNAVAILABLE
        other.execute("ROLLBACK")
    store.put(artifact("b"), "x")
    assert store.get("b") == artifact("b")
