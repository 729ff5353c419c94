"""Adopting outputs: a store that is already open finds what another process has just written."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.passages.stems import query_words
from keyhole.retrieval.adopt import INDEXED_CHARS, output_words
from keyhole.retrieval.adopt_running import adopt_all
from keyhole.store.base import LOCAL, Store
from keyhole.store.open import open_stores
from keyhole.store.spool import spool_folder, write

ID = "abcdefghij234567"
TEXT = "compiling\n" * 500 + "error: undeclared identifier frobnicate\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_stores(Config(home=tmp_path), long_running=True, adopt=adopt_all).for_tenant(LOCAL)[0]


def keep(home: Path) -> None:
    write(spool_folder(home), ID, "output:compiler", TEXT, title="make all", now=5.0, notes={})


def test_an_open_store_reads_an_output_that_was_written_meanwhile(store: Store, tmp_path: Path) -> None:
    with pytest.raises(KeyholeError) as unknown:
        store.get(ID)
    assert unknown.value.code is Code.UNKNOWN_ARTIFACT
    keep(tmp_path)
    assert store.part(ID, 0, 9).artifact.text == "compiling"
    assert store.get(ID).text == TEXT


def test_an_open_store_finds_an_output_by_its_words_and_its_command(store: Store, tmp_path: Path) -> None:
    keep(tmp_path)
    assert [artifact.id for artifact in store.search(query_words("frobnicate"), 5)] == [ID]
    assert [artifact.id for artifact in store.search(query_words("make"), 5)] == [ID]


def test_an_open_store_lists_counts_and_removes_an_output(store: Store, tmp_path: Path) -> None:
    keep(tmp_path)
    assert [row.id for row in store.list(5)] == [ID]
    assert store.stats().artifacts == 1
    assert store.remove(ID)
    keep(tmp_path)
    assert store.remove(ID)
    assert store.list(5) == ()


def test_an_output_that_was_removed_and_written_again_is_read(store: Store, tmp_path: Path) -> None:
    keep(tmp_path)
    store.list(5)
    store.remove(ID)
    keep(tmp_path)
    assert store.get(ID).text == TEXT


def test_a_long_output_is_indexed_by_its_ends_and_its_marked_lines() -> None:
    noise = "x " * INDEXED_CHARS
    text = f"beginning\n{noise}middle\nfailure\n{noise}end"
    start = text.index("failure")
    words = output_words("make", text, [(start, start + 7, 7.0)]).split()
    assert {"begin", "failur", "end", "make", "*make"} <= set(words)
    assert "middl" not in words
