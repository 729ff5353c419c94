"""Tests of texts in SQLite: any range of a text is returned unchanged, or not at all."""

from __future__ import annotations

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from keyhole.store.chunks import PackedText, pack
from keyhole.store.sqlite.schema import STORE, connect
from keyhole.store.sqlite.texts import Content, read_range, read_text, store_text
from tests.support.store_contract import TEXTS


def database() -> sqlite3.Connection:
    db = connect(None)
    for statement in STORE.steps[0].statements[:2]:  # contents and chunks
        db.execute(statement)
    return db


def store_packed(db: sqlite3.Connection, packed: PackedText) -> Content:
    return Content(store_text(db, packed), packed.digest, packed.chunk_chars)


@given(text=TEXTS, chunk=st.integers(1, 9), start=st.integers(0, 60), length=st.integers(0, 60))
def test_any_range_of_any_text_is_returned(text: str, chunk: int, start: int, length: int) -> None:
    db, packed = database(), pack(text, chunk)
    content = store_packed(db, packed)
    assert read_text(db, content) == text
    start, end = min(start, len(text)), min(start + length, len(text))
    assert read_range(db, content, start, end) == text[start:end]
    assert (packed.chars, packed.size) == (len(text), len(text.encode("utf-8", "surrogatepass")))
    assert len(packed.chunks) == -(-len(text) // chunk)
    db.close()


@given(text=st.text(min_size=30, max_size=90), chunk=st.integers(1, 9), data=st.data())
def test_a_changed_byte_is_never_returned(text: str, chunk: int, data: st.DataObject) -> None:
    db = database()
    content = store_packed(db, pack(text, chunk))
    other = store_packed(db, pack(text[::-1] + "x", chunk))
    rows = db.execute("SELECT key, data FROM chunks WHERE key < ?", [other.key << 24]).fetchall()
    key, packed = data.draw(st.sampled_from(rows))
    place = data.draw(st.integers(0, len(packed) - 1))
    changed = bytearray(packed)
    changed[place] ^= data.draw(st.integers(1, 255))
    db.execute("UPDATE chunks SET data = ? WHERE key = ?", [bytes(changed), key])
    assert read_text(db, content) is None
    number = key & 0xFFFFFF
    assert read_range(db, content, number * chunk, number * chunk + 1) is None
    assert read_text(db, other) == text[::-1] + "x"
    db.close()


def test_a_range_reads_only_its_chunks() -> None:
    db = database()
    content = store_packed(db, pack("0123456789" * 100, 10))
    db.execute("DELETE FROM chunks WHERE key NOT IN (?, ?)", [(content.key << 24) + 50, (content.key << 24) + 51])
    assert read_range(db, content, 505, 515) == "5678901234"
    assert read_range(db, content, 495, 505) is None
    assert read_text(db, content) is None
    db.close()
