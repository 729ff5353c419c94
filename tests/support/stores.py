"""What the tests of the SQLite store share: how it fails, what is in its folder, files of older versions. No tests."""

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
    """What a call fails with."""
    with pytest.raises(KeyholeError) as caught:
        call()
    return caught.value


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def noise(chars: int, seed: int = 0) -> str:
    """A text that hardly gets smaller when it is compressed: 100,000 characters take 120,000 bytes of the file."""
    return Random(seed).randbytes(chars).decode("latin-1").translate({code: code + 256 for code in range(128, 256)})


def write_older(folder: Path, version: int, *, beside: bool = False, count: int = 1) -> None:
    """A file as a Keyhole with this version of the schema wrote it; the first of its artifacts is `artifact()`."""
    kept = artifact()
    text = kept.text.encode()
    with closing(sqlite3.connect(folder / "artifacts.db")) as old, old:
        old.executescript(";\n".join([*OLDER_MIGRATIONS[:version], f"PRAGMA user_version = {version}"]))
        for n in range(count):
            id = kept.id if n == 0 else f"id{n}"
            row = [n + 1, id, kept.url, kept.requested_url, kept.title, text, len(kept.text), len(text)]
            row += [kept.media_type, kept.language, 0, kept.fetched_at, Clock().now - n]
            old.execute(f"INSERT INTO artifacts ({OLDEST}) VALUES ({', '.join('?' * 13)})", row)  # noqa: S608
            old.execute("INSERT INTO words (rowid, stems) VALUES (?, ?)", [n + 1, f"word w{n}"])
        if version > 1:
            old.execute("UPDATE artifacts SET etag = '\"1\"', author = 'A', notes = '{\"a\": \"b\"}' WHERE key = 1")
        old.execute("INSERT INTO dropped VALUES ('gone', 'https://example.org/gone', 1.0)")
        if beside:
            old.executescript(
                "CREATE TABLE IF NOT EXISTS known_urls (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE);"
                "CREATE TABLE IF NOT EXISTS vectors "
                "(number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL);"
            )
            old.execute("INSERT INTO known_urls (key) VALUES (x'6b6579')")
            old.execute("INSERT INTO vectors (key, vector) VALUES (x'6b6579', x'76')")


OLDEST = "key, id, url, requested_url, title, text, chars, size, media_type, language, cut, fetched_at, last_access"
"""The columns of Keyhole 0.1.0."""
