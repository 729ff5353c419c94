"""Helpers of the SQLite store's tests: errors, files, incompressible texts, and files of older versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from keyhole.errors import KeyholeError
from keyhole.store.sqlite.schema import OLDER_MIGRATIONS
from keyhole.store.sqlite.store import SqliteStore
from tests.support.fakes import Clock, artifact

Open = Callable[..., SqliteStore]


def failure(call: Callable[[], object]) -> KeyholeError:
    """Return the KeyholeError that a call raises."""
    with pytest.raises(KeyholeError) as caught:
        call()
    return caught.value


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def noise(chars: int, seed: int = 0) -> str:
    """Return a text that hardly compresses: 100,000 characters take 120,000 bytes of the file."""
    return Random(seed).randbytes(chars).decode("latin-1").translate({code: code + 256 for code in range(128, 256)})


def write_older(folder: Path, version: int, *, with_keys: bool = False, count: int = 1) -> None:
    """Write a file of an older schema version with `count` artifacts; the first is `artifact()`.

    `with_keys`: True to add the tables of URL keys and vectors, which a file since version 4 always has.
    """
    if version >= 4:
        write_older(folder, 3, with_keys=with_keys, count=count)
        _undo_added_columns(folder, version)
        return
    first = artifact()
    text = first.text.encode()
    with closing(sqlite3.connect(folder / "artifacts.db")) as old, old:
        old.executescript(";\n".join([*OLDER_MIGRATIONS[:version], f"PRAGMA user_version = {version}"]))
        for n in range(count):
            id = first.id if n == 0 else f"id{n}"
            row = [n + 1, id, first.url, first.requested_url, first.title, text, len(first.text), len(text)]
            row += [first.media_type, first.language, 0, first.fetched_at, Clock().now - n]
            old.execute(f"INSERT INTO artifacts ({OLDEST_COLUMNS}) VALUES ({', '.join('?' * 13)})", row)  # noqa: S608
            old.execute("INSERT INTO words (rowid, stems) VALUES (?, ?)", [n + 1, f"word w{n}"])
        if version > 1:
            old.execute("UPDATE artifacts SET etag = '\"1\"', author = 'A', notes = '{\"a\": \"b\"}' WHERE key = 1")
        old.execute("INSERT INTO dropped VALUES ('gone', 'https://example.org/gone', 1.0)")
        if with_keys:
            old.executescript(
                "CREATE TABLE IF NOT EXISTS known_urls (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE);"
                "CREATE TABLE IF NOT EXISTS vectors "
                "(number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);"
            )
            old.execute("INSERT INTO known_urls (key) VALUES (x'6b6579')")
            old.execute("INSERT INTO vectors (key, vector) VALUES (x'6b6579', x'76')")


def _undo_added_columns(folder: Path, version: int) -> None:
    """Migrate a file to the current version, and from there back to version 4 or 5."""
    store = SqliteStore(folder, Clock(), 1e9, 10**9)
    store.list(1)
    store.close()
    with closing(sqlite3.connect(folder / "artifacts.db")) as file:
        file.executescript("DROP INDEX entries_pinned; ALTER TABLE entries DROP COLUMN pinned")
        if version == 4:
            file.execute("ALTER TABLE entries DROP COLUMN main_end")
        file.execute(f"PRAGMA user_version = {version}")


OLDEST_COLUMNS = (
    "key, id, url, requested_url, title, text, chars, size, media_type, language, cut, fetched_at, last_access"
)
"""The columns of the table `artifacts` in Keyhole 0.1.0."""
