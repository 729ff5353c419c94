"""The home folder and the store in it: there, writable, with room, and whole. Reads; sets nothing aside.

`keyhole artifacts verify` reads every text and sets damaged ones aside; here a sample is read through a connection
that cannot write, so that the look changes neither the texts nor the order in which they will be dropped.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from keyhole.cli.doctor.report import Finding, Level
from keyhole.cli.table import size_of
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.store.base import LOCAL
from keyhole.store.home import home_folder

if TYPE_CHECKING:
    from sqlite_utils import Database

AREA: Final = "Store"
SAMPLE: Final = 50
"""Texts that are read: those fetched last, which are asked for next."""
SAMPLE_SECONDS: Final = 2.0
"""For the sample, and as long for the file."""
LITTLE, TOO_LITTLE = 1_000_000_000, 50_000_000
"""Bytes of free disk below which it is worth a word, and below which a few pages fill it."""


def look(config: Config) -> list[Finding]:
    """Where artifacts are kept, and how they are."""
    if config.store == "memory":
        return [Finding(AREA, "kind", Level.OK, "in memory, as KEYHOLE_STORE says: nothing is kept")]
    if config.store.startswith("postgres"):
        return [_postgres(config)]
    folder = home_folder(config.home)
    found = _folder(folder)
    return (
        found if any(each.level is Level.FAIL for each in found) else [*found, *_file(folder / "artifacts.db", config)]
    )


def _postgres(config: Config) -> Finding:
    from keyhole.store.open import open_stores

    stores = open_stores(config)
    try:
        stats = stores.of(LOCAL)[0].stats()
    except KeyholeError as error:
        fix = "See whether the server that KEYHOLE_STORE names runs and lets you in."
        return Finding(AREA, "PostgreSQL", Level.FAIL, error.message, fix)
    finally:
        stores.close()
    return Finding(AREA, "PostgreSQL", Level.OK, f"{stats.artifacts:,} artifacts of the local user")


def _folder(folder: Path) -> list[Finding]:
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
        free = shutil.disk_usage(there).free
    except OSError as error:
        fix = "Give yourself the right to write there, or set KEYHOLE_HOME to a folder of your own."
        return [Finding(AREA, "home folder", Level.FAIL, f"{folder} cannot be written: {error.strerror}", fix)]
    new = "" if there == folder else ", which the first call makes"
    return [_rights(folder, f"{folder}{new}"), _room(free)]


def _rights(folder: Path, said: str) -> Finding:
    mode = stat.S_IMODE(folder.stat().st_mode) if os.name == "posix" and folder.exists() else 0
    if mode & 0o077:
        said = f"{said}; others can look into it (mode {mode:o})"
        return Finding(AREA, "home folder", Level.WARN, said, f"chmod 700 {folder}")
    return Finding(AREA, "home folder", Level.OK, said)


def _room(free: int) -> Finding:
    level = Level.FAIL if free < TOO_LITTLE else Level.WARN if free < LITTLE else Level.OK
    fix = "" if level is Level.OK else "Make room, or set KEYHOLE_HOME to a folder on another disk."
    return Finding(AREA, "free disk", level, size_of(free), fix)


def _file(path: Path, config: Config) -> list[Finding]:
    if not path.exists():
        return [Finding(AREA, "artifacts", Level.OK, "none yet")]
    try:
        with _reading(path) as database:
            return _whole(database, path, config)
    except KeyholeError as error:
        return [
            Finding(AREA, "artifacts", Level.FAIL, error.message, "Use the Keyhole that wrote the file, or a newer.")
        ]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        fix = "keyhole artifacts verify sets the file aside and saves what can be read of it."
        return [Finding(AREA, "artifacts", Level.FAIL, f"the file is damaged or locked: {error}", fix)]


def _whole(database: Database, path: Path, config: Config) -> list[Finding]:
    from keyhole.store.sqlite.damage import look_through
    from keyhole.store.sqlite.schema import SCHEMA_VERSION, checked_version

    if (version := checked_version(database.conn)) < SCHEMA_VERSION:
        said = f"written by an older Keyhole (version {version} of the tables); the next call brings it up"
        return [Finding(AREA, "artifacts", Level.OK, said)]
    count, aside = next(database.execute("SELECT count(*), coalesce(sum(damaged), 0) FROM entries"))
    size = path.stat().st_size
    said = f"{count - aside:,} in {size_of(size)} of at most {size_of(config.store_max_bytes)}"
    found = [Finding(AREA, "artifacts", Level.OK, said)]
    if aside:
        fix = "Fetch those pages again; `keyhole artifacts verify` names what else is damaged."
        found.append(Finding(AREA, "set aside", Level.WARN, f"{aside:,} were damaged", fix))
    finished = look_through(database, SAMPLE_SECONDS)
    return [*found, _sampled(database, "" if finished else "; too large to look through whole at once")]


def _sampled(database: Database, more: str) -> Finding:
    from keyhole.store.sqlite import rows

    until = time.monotonic() + SAMPLE_SECONDS
    sql = "SELECT key FROM entries WHERE NOT damaged ORDER BY fetched_at DESC LIMIT ?"
    read = damaged = 0
    for (key,) in database.execute(sql, [SAMPLE]).fetchall():
        if time.monotonic() > until:
            break
        found = rows.by_keys(database, [key])
        read, damaged = read + len(found), damaged + sum(each.damaged for each in found)
    if damaged:
        fix = "keyhole artifacts verify sets them aside and names them; fetch their pages again."
        return Finding(AREA, "texts", Level.FAIL, f"{damaged} of {read} that were read are damaged", fix)
    return Finding(AREA, "texts", Level.OK, f"{read} read, all as they were kept{more}")


@contextmanager
def _reading(path: Path) -> Iterator[Database]:
    import sqlite_utils

    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0, check_same_thread=False)
    try:
        yield sqlite_utils.Database(connection, execute_plugins=False)
    finally:
        connection.close()
