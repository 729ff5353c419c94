"""Adopting outputs: a store that is already open finds what another process has just written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.outputs.adopt import adopt_all, adopt_outputs
from keyhole.outputs.keep import (
    INDEXED_CHARS,
    IndexWords,
    KeptText,
    artifact_words,
    keep_in_either,
    keep_in_spool,
    output_words,
)
from keyhole.outputs.output import Output
from keyhole.passages.stems import query_words
from keyhole.store.base import LOCAL, Limits, Store
from keyhole.store.open import open_stores
from keyhole.store.spool import spool_folder, write
from keyhole.store.sqlite.store import MemoryStore, SqliteStore
from tests.support.fakes import Clock

if TYPE_CHECKING:
    from keyhole.outputs.keep import Keep

ID = "abcdefghij234567"
TEXT = "compiling\n" * 500 + "error: undeclared identifier frobnicate\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_stores(Config(home=tmp_path), long_running=True, adopt=adopt_all).for_tenant(LOCAL)[0]


def write_output(home: Path) -> None:
    write(spool_folder(home), ID, "output:compiler", TEXT, title="make all", now=5.0, notes={})


def test_an_open_store_reads_an_output_that_was_written_meanwhile(store: Store, tmp_path: Path) -> None:
    with pytest.raises(KeyholeError) as unknown:
        store.get(ID)
    assert unknown.value.code is Code.UNKNOWN_ARTIFACT
    write_output(tmp_path)
    assert store.part(ID, 0, 9).artifact.text == "compiling"
    assert store.get(ID).text == TEXT


def test_an_open_store_finds_an_output_by_its_words_and_its_command(store: Store, tmp_path: Path) -> None:
    write_output(tmp_path)
    assert [artifact.id for artifact in store.search(query_words("frobnicate"), 5)] == [ID]
    assert [artifact.id for artifact in store.search(query_words("make"), 5)] == [ID]


def test_an_open_store_lists_counts_and_removes_an_output(store: Store, tmp_path: Path) -> None:
    write_output(tmp_path)
    assert [row.id for row in store.list(5)] == [ID]
    assert store.stats().artifacts == 1
    assert store.remove(ID)
    write_output(tmp_path)
    assert store.remove(ID)
    assert store.list(5) == ()


def test_an_output_that_was_just_written_can_be_pinned(store: Store, tmp_path: Path) -> None:
    write_output(tmp_path)
    assert store.pin(ID, True)
    assert [row.pinned for row in store.list(5)] == [True]
    assert not store.pin("never", True)


def test_an_output_that_was_removed_and_written_again_is_read(store: Store, tmp_path: Path) -> None:
    write_output(tmp_path)
    store.list(5)
    store.remove(ID)
    write_output(tmp_path)
    assert store.get(ID).text == TEXT


def test_a_long_output_is_indexed_by_its_ends_and_its_marked_lines() -> None:
    noise = "x " * INDEXED_CHARS
    text = f"beginning\n{noise}middle\nfailure\n{noise}end"
    start = text.index("failure")
    output = Output(text, "log", ((start, start + 7, 7.0),))
    words, spans = output_words("make", output, lambda start, end: text[start:end])
    assert spans == [(0, INDEXED_CHARS), (start, start + 7), (len(text) - INDEXED_CHARS, len(text))]
    assert {"begin", "failur", "end", "*make"} <= set(words.split())
    assert "middl" not in words.split()


def test_the_marked_lines_of_a_log_are_indexed_where_they_are_in_the_stored_text() -> None:
    noise = "".join(f"04:08:22 step {number} is done\n" for number in range(5_000))
    text = f"{noise}04:08:23 ERROR: no pump\n{noise}"
    spans = artifact_words(replace(OUTPUT.artifact(), text=text, url="output:log")).spans
    assert "ERROR: no pump\n" in [text[slice(*span)] for span in spans]


def make_store(adopt: Callable[[SqliteStore, str], object]) -> SqliteStore:
    made: SqliteStore = SqliteStore(None, lambda: 5.0, Limits(60.0, 10**9), lambda id: adopt(made, id))
    return made


def spooled(folder: Path, max_bytes: int = 10**6) -> tuple[Keep, SqliteStore]:
    store = make_store(lambda store, id: adopt_outputs(str(folder), store, id))
    return keep_in_either(str(folder), max_bytes, store), store


def words() -> IndexWords:
    return artifact_words(OUTPUT.artifact())


OUTPUT = KeptText(ID, "output:compiler", "make all", TEXT, 5.0, ())


def test_a_spooled_output_can_be_read_at_once_and_is_indexed_later(tmp_path: Path) -> None:
    keep, store = spooled(tmp_path / "spool")
    keep(OUTPUT, words)
    assert store.part(ID, 0, 9).artifact.text == "compiling"
    assert [artifact.id for artifact in store.search(query_words("frobnicate"), 5)] == [ID]


def test_the_oldest_spooled_output_is_indexed_first(tmp_path: Path) -> None:
    keep, memory = keep_in_spool(str(tmp_path)), MemoryStore(lambda: 5.0)
    for number, name in enumerate((ID, ID[::-1])):
        keep(OUTPUT._replace(id=name), words)
        os.utime(tmp_path / f"{name}.output", (number, number))
    assert adopt_outputs(str(tmp_path), memory, most=1) == 1
    assert [row.id for row in memory.list(5)] == [ID]
    assert [adopt_outputs(str(tmp_path), memory, most=1) for _ in range(2)] == [1, 0]


def test_an_output_that_cannot_be_spooled_goes_into_the_store(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for keep, store in (spooled(tmp_path / "file"), spooled(tmp_path, max_bytes=10)):
        keep(OUTPUT, words)
        assert [artifact.id for artifact in store.search(query_words("frobnicate"), 5)] == [ID]


def test_an_output_that_another_process_has_just_adopted_is_read() -> None:
    assert make_store(lambda store, _id: store.put(OUTPUT.artifact(), "")).get(ID).text == TEXT


def test_an_output_that_was_written_twice_is_removed_for_good(tmp_path: Path) -> None:
    keep, store = spooled(tmp_path)
    store.put(OUTPUT.artifact(), "")
    keep(OUTPUT, words)
    assert store.remove(ID)
    assert store.list(5) == ()


def test_an_output_of_a_killed_command_that_is_too_large_for_the_store_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    (folder / "1-2.running").write_bytes(b"{}\n" + bytes(range(256)) * 9)
    store = SqliteStore(tmp_path, Clock(), Limits(60.0, 500))
    assert adopt_all(str(folder), store, b"secret") == 0
    assert list(folder.iterdir()) == []
