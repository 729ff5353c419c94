"""Check the home folder and the store: permissions, free disk space, and damage.

A sample of the texts is read through a read-only connection, so that the check changes neither the texts nor the order
in which they are evicted. `keyhole artifacts verify` reads all texts and sets damaged ones aside.
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

from keyhole.cli.report import Finding, Level, has_failures
from keyhole.cli.table import format_size
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.store.base import LOCAL
from keyhole.store.home import home_folder

if TYPE_CHECKING:
    from sqlite3 import Connection

AREA: Final = "Store"
SAMPLE: Final = 50
"""Number of texts read: the most recently fetched, which are the most likely to be read next."""
SAMPLE_SECONDS: Final = 2.0
"""Time limit for reading the sample, and for SQLite's check of the file."""
LOW_DISK, FULL_DISK = 1_000_000_000, 50_000_000
"""Bytes of free disk space. Less than LOW_DISK is a warning. Less than FULL_DISK, a few pages, is a failure."""


def check(config: Config) -> list[Finding]:
    """Return findings on the place where artifacts are stored, and on the artifacts."""
    if config.store == "memory":
        message = "in memory, because KEYHOLE_STORE=memory: pages are lost when the server stops"
        return [Finding(AREA, "kind", Level.OK, message)]
    if config.store.startswith("postgres"):
        return [_check_postgres(config)]
    folder = home_folder(config.home)
    findings = _check_folder(folder)
    if has_failures(findings):
        return findings
    return [*findings, *_check_file(folder / "artifacts.db", config)]


def _check_postgres(config: Config) -> Finding:
    from keyhole.store.open import open_stores

    stores = open_stores(config)
    try:
        stats = stores.for_tenant(LOCAL)[0].stats()
    except KeyholeError as error:
        fix = "Check that the server in KEYHOLE_STORE runs and accepts the login."
        return Finding(AREA, "PostgreSQL", Level.FAIL, error.message, fix)
    finally:
        stores.close()
    return Finding(AREA, "PostgreSQL", Level.OK, f"{stats.artifacts:,} artifacts of the local user")


def _check_folder(folder: Path) -> list[Finding]:
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
        free = shutil.disk_usage(existing).free
    except OSError as error:
        fix = "Allow your user to write there, or set KEYHOLE_HOME to a folder of your own."
        return [Finding(AREA, "home folder", Level.FAIL, f"cannot write {folder}: {error.strerror}", fix)]
    new = "" if existing == folder else ", which the first call creates"
    return [_check_permissions(folder, f"{folder}{new}"), _check_space(free)]


def _check_permissions(folder: Path, message: str) -> Finding:
    mode = stat.S_IMODE(folder.stat().st_mode) if os.name == "posix" and folder.exists() else 0
    if mode & 0o077:
        message = f"{message}; other users can access it (mode {mode:o})"
        return Finding(AREA, "home folder", Level.WARN, message, f"chmod 700 {folder}")
    return Finding(AREA, "home folder", Level.OK, message)


def _check_space(free: int) -> Finding:
    level = Level.FAIL if free < FULL_DISK else Level.WARN if free < LOW_DISK else Level.OK
    fix = "" if level is Level.OK else "Free some space, or set KEYHOLE_HOME to a folder on another disk."
    return Finding(AREA, "free disk", level, format_size(free), fix)


def _check_file(path: Path, config: Config) -> list[Finding]:
    if not path.exists():
        return [Finding(AREA, "artifacts", Level.OK, "none yet")]
    try:
        with _open_read_only(path) as database:
            return _check_database(database, path, config)
    except KeyholeError as error:
        fix = f"Use the version of Keyhole that wrote the file, or move {path} away: a new one is created."
        return [Finding(AREA, "artifacts", Level.FAIL, error.message, fix)]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        fix = "keyhole artifacts verify sets the file aside and recovers the readable artifacts."
        return [Finding(AREA, "artifacts", Level.FAIL, f"the file is damaged or locked: {error}", fix)]


def _check_database(database: Connection, path: Path, config: Config) -> list[Finding]:
    from keyhole.store.sqlite.damage import check_integrity
    from keyhole.store.sqlite.schema import STORE, read_version

    if not read_version(database, STORE):
        return [Finding(AREA, "artifacts", Level.OK, "none yet")]
    count, damaged = next(database.execute("SELECT count(*), coalesce(sum(damaged), 0) FROM entries"))
    size = path.stat().st_size
    message = f"{count - damaged:,} in {format_size(size)}; the limit is {format_size(config.store_max_bytes)}"
    findings = [Finding(AREA, "artifacts", Level.OK, message)]
    if damaged:
        fix = "Fetch those pages again; `keyhole artifacts verify` checks all texts."
        findings.append(Finding(AREA, "set aside", Level.WARN, f"{damaged:,} damaged", fix))
    finished = check_integrity(database, SAMPLE_SECONDS)
    return [*findings, _check_sample(database, "" if finished else "; the file is too large to check completely")]


def _check_sample(database: Connection, suffix: str) -> Finding:
    """Read the most recently fetched texts and report damaged ones. `suffix`: text to add to the message."""
    from keyhole.store.sqlite import rows

    deadline = time.monotonic() + SAMPLE_SECONDS
    sql = "SELECT key FROM entries WHERE NOT damaged ORDER BY fetched_at DESC LIMIT ?"
    read = damaged = 0
    for (key,) in database.execute(sql, [SAMPLE]).fetchall():
        if time.monotonic() > deadline:
            break
        found = rows.read_many(database, [key])
        read, damaged = read + len(found), damaged + sum(each.is_damaged for each in found)
    if damaged:
        fix = "keyhole artifacts verify sets them aside and lists them; fetch their pages again."
        return Finding(AREA, "texts", Level.FAIL, f"{damaged} of {read} checked are damaged", fix)
    return Finding(AREA, "texts", Level.OK, f"{read} checked, none damaged{suffix}")


@contextmanager
def _open_read_only(path: Path) -> Iterator[Connection]:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        yield connection
    finally:
        connection.close()
