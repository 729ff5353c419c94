"""Check this machine: Python and SQLite, the settings, the store, and the shared server."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import keyhole
from keyhole._version import __version__
from keyhole.cli.terminal import Finding, Level, format_size, has_failures
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.runtime.installation import install_command, is_temporary, missing_modules
from keyhole.serve.shared.address import shared_folder
from keyhole.serve.shared.link import ask_servers, describe_server
from keyhole.store.base import LOCAL
from keyhole.store.home import home_folder
from keyhole.store.sqlite.schema import SAFE_WAL_VERSION, journal_mode

if TYPE_CHECKING:
    from sqlite3 import Connection

# The program: Python, the package of Keyhole, SQLite, and optional libraries.

PROGRAM_AREA: Final = "Program"
_EXTRAS: Final = {
    "office": "Word, PowerPoint, Excel and RTF files cannot be read",
    "images": "pictures are described by their size, not shown",
    "hosted": "PostgreSQL, metrics and traces are not available",
}
"""The consequence if an extra is missing. The area of models tells about `semantic`."""


def check_program() -> list[Finding]:
    """Return findings on Python, the package, SQLite and the extras."""
    return [_check_python(), _check_package(), _check_sqlite(), _check_fts5(), *_check_extras()]


def _check_python() -> Finding:
    message = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"
    return Finding(PROGRAM_AREA, "Python", Level.OK, message)


def _check_package() -> Finding:
    message = f"{__version__} in {Path(keyhole.__file__).resolve().parents[1]}"
    if is_temporary(sys.prefix):
        fix = f"Install it permanently, since pruning uv's cache removes this copy: {install_command()}"
        return Finding(PROGRAM_AREA, "Keyhole", Level.WARN, f"{message}, in uvx's temporary environment", fix)
    return Finding(PROGRAM_AREA, "Keyhole", Level.OK, message)


def _check_sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if journal_mode(sqlite3.sqlite_version_info) == "WAL":
        return Finding(PROGRAM_AREA, "SQLite", Level.OK, f"{version}, with a write-ahead log")
    safe = ".".join(map(str, SAFE_WAL_VERSION))
    message = f"{version}; write-ahead logs are unsafe before {safe}, so a slower rollback journal is used"
    fix = f"No action is needed; a Python with SQLite {safe} or newer writes faster."
    return Finding(PROGRAM_AREA, "SQLite", Level.NOTE, message, fix)


def _check_fts5() -> Finding:
    """Check that SQLite can create an FTS5 table. A build may have the extension without listing it in its options."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.OperationalError:
        fix = "Use a Python whose SQLite has FTS5, such as the builds of python.org or uv."
        return Finding(PROGRAM_AREA, "full-text search", Level.FAIL, "this SQLite is built without FTS5", fix)
    finally:
        connection.close()
    return Finding(PROGRAM_AREA, "full-text search", Level.OK, "FTS5 is available")


def _check_extras() -> list[Finding]:
    findings = []
    for extra, consequence in _EXTRAS.items():
        if missing := missing_modules(extra):
            fix = f"If you need it: {install_command(extra)}"
            message = f"without {', '.join(missing)}: {consequence}"
            findings.append(Finding(PROGRAM_AREA, f"extra {extra}", Level.NOTE, message, fix))
        else:
            findings.append(Finding(PROGRAM_AREA, f"extra {extra}", Level.OK, "installed"))
    return findings


# The settings: those that are wrong, and those that are risky with the reason.

SETTINGS_AREA: Final = "Settings"
COMMON_TIMEOUT: Final = 60.0
"""Seconds after which many clients cancel a call: the default of the TypeScript SDK."""
COMMON_CAP: Final = 10_000
"""Bytes at which the strictest clients cut off a result."""


def check_settings(config: Config, faults: Sequence[str]) -> list[Finding]:
    """Return one finding for all settings together, and one for each that is wrong or risky."""
    fix = "Correct or remove it; until then every command stops with this error."
    wrong = [Finding(SETTINGS_AREA, "settings", Level.FAIL, fault, fix) for fault in faults]
    origins = sorted(set(config.origins.values()))
    message = f"{len(origins)} set: {', '.join(origins)}" if origins else "all at their defaults"
    correct = [] if wrong else [Finding(SETTINGS_AREA, "values", Level.OK, message)]
    removed = [Finding(SETTINGS_AREA, "settings", Level.WARN, warning, "Remove it.") for warning in config.warnings]
    return [*correct, *wrong, *removed, *_check_risks(config)]


def _check_risks(config: Config) -> list[Finding]:
    risks = [
        ("allow_private", bool(config.allow_private),
         f"private addresses can be fetched: {', '.join(sorted(config.allow_private))}",
         "Remove the addresses that agents do not need from KEYHOLE_ALLOW_PRIVATE."),
        ("robots", config.robots == "off", "robots.txt of public sites is ignored",
         "Unset KEYHOLE_ROBOTS unless the sites' owners agree."),
        ("max_chars", "max_chars" in config.origins and config.max_chars > COMMON_CAP,
         f"results may be {config.max_chars:,} bytes; the strictest clients cut them off at {COMMON_CAP:,}",
         "Unset KEYHOLE_MAX_CHARS unless the client accepts such results."),
        ("timeout", config.search_timeout >= COMMON_TIMEOUT,
         f"a search may take {config.search_timeout:g} s; many clients cancel them after {COMMON_TIMEOUT:g} s",
         "Lower KEYHOLE_TIMEOUT."),
        ("log_level", config.log_level == "DEBUG", "the log contains every detail, including questions and addresses",
         "Unset KEYHOLE_LOG_LEVEL when you no longer need it."),
        ("store", config.store == "memory", "stored pages are lost when the server stops",
         "Unset KEYHOLE_STORE to keep them."),
    ]  # fmt: skip
    return [
        Finding(SETTINGS_AREA, name, Level.WARN, message, fix) for name, is_risky, message, fix in risks if is_risky
    ]


# The home folder and the store: permissions, free disk space, and damage. A sample of the texts is read through a
# read-only connection, so that the check changes neither the texts nor the order in which they are evicted. `keyhole
# artifacts verify` reads all texts and sets damaged ones aside.

STORE_AREA: Final = "Store"
SAMPLE: Final = 50
"""Number of texts read: the most recently fetched, which are the most likely to be read next."""
SAMPLE_SECONDS: Final = 2.0
"""Time limit for reading the sample, and for SQLite's check of the file."""
LOW_DISK, FULL_DISK = 1_000_000_000, 50_000_000
"""Bytes of free disk space. Less than LOW_DISK is a warning. Less than FULL_DISK, a few pages, is a failure."""


def check_store(config: Config) -> list[Finding]:
    """Return findings on the home folder or database, and on the artifacts in it."""
    if config.store == "memory":
        message = "in memory, because KEYHOLE_STORE=memory: pages are lost when the server stops"
        return [Finding(STORE_AREA, "kind", Level.OK, message)]
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
        return Finding(STORE_AREA, "PostgreSQL", Level.FAIL, error.message, fix)
    finally:
        stores.close()
    return Finding(STORE_AREA, "PostgreSQL", Level.OK, f"{stats.artifacts:,} artifacts of the local user")


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
        return [Finding(STORE_AREA, "home folder", Level.FAIL, f"cannot write {folder}: {error.strerror}", fix)]
    new = "" if existing == folder else ", which the first call creates"
    return [_check_permissions(folder, f"{folder}{new}"), _check_space(free)]


def _check_permissions(folder: Path, message: str) -> Finding:
    mode = stat.S_IMODE(folder.stat().st_mode) if os.name == "posix" and folder.exists() else 0
    if mode & 0o077:
        message = f"{message}; other users can access it (mode {mode:o})"
        return Finding(STORE_AREA, "home folder", Level.WARN, message, f"chmod 700 {folder}")
    return Finding(STORE_AREA, "home folder", Level.OK, message)


def _check_space(free: int) -> Finding:
    level = Level.FAIL if free < FULL_DISK else Level.WARN if free < LOW_DISK else Level.OK
    fix = "" if level is Level.OK else "Free some space, or set KEYHOLE_HOME to a folder on another disk."
    return Finding(STORE_AREA, "free disk", level, format_size(free), fix)


def _check_file(path: Path, config: Config) -> list[Finding]:
    if not path.exists():
        return [Finding(STORE_AREA, "artifacts", Level.OK, "none yet")]
    try:
        with _open_read_only(path) as database:
            return _check_database(database, path, config)
    except KeyholeError as error:
        fix = f"Use the version of Keyhole that wrote the file, or move {path} away: a new one is created."
        return [Finding(STORE_AREA, "artifacts", Level.FAIL, error.message, fix)]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        fix = "keyhole artifacts verify sets the file aside and recovers the readable artifacts."
        return [Finding(STORE_AREA, "artifacts", Level.FAIL, f"the file is damaged or locked: {error}", fix)]


def _check_database(database: Connection, path: Path, config: Config) -> list[Finding]:
    from keyhole.store.sqlite.damage import check_integrity
    from keyhole.store.sqlite.schema import STORE, read_version

    if not read_version(database, STORE):
        return [Finding(STORE_AREA, "artifacts", Level.OK, "none yet")]
    count, damaged = next(database.execute("SELECT count(*), coalesce(sum(damaged), 0) FROM entries"))
    size = path.stat().st_size
    message = f"{count - damaged:,} in {format_size(size)}; the limit is {format_size(config.store_max_bytes)}"
    findings = [Finding(STORE_AREA, "artifacts", Level.OK, message)]
    if damaged:
        fix = "Fetch those pages again; `keyhole artifacts verify` checks all texts."
        findings.append(Finding(STORE_AREA, "set aside", Level.WARN, f"{damaged:,} damaged", fix))
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
        return Finding(STORE_AREA, "texts", Level.FAIL, f"{damaged} of {read} checked are damaged", fix)
    return Finding(STORE_AREA, "texts", Level.OK, f"{read} checked, none damaged{suffix}")


@contextmanager
def _open_read_only(path: Path) -> Iterator[Connection]:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0, check_same_thread=False)
    try:
        connection.row_factory = sqlite3.Row
        yield connection
    finally:
        connection.close()


# The servers that the clients of this user share: which ones run, and whether they answer.

SHARED_AREA: Final = "Shared server"
SHARED_NAME: Final = "server"


def check_shared_servers(config: Config) -> list[Finding]:
    """Return a finding for each shared server, or why there is none."""
    if config.shared == "off":
        return [Finding(SHARED_AREA, SHARED_NAME, Level.NOTE, "off; each client starts a server of its own")]
    if sys.platform == "win32":
        return [Finding(SHARED_AREA, SHARED_NAME, Level.NOTE, "not on Windows; each client starts a server of its own")]
    servers = ask_servers(shared_folder(os.environ), "status")
    if not servers:
        return [Finding(SHARED_AREA, SHARED_NAME, Level.NOTE, "none is running; the next client starts one")]
    return [_describe(path, server) for path, server in servers.items()]


def _describe(path: str, server: Mapping[str, Any] | None) -> Finding:
    if server is None:
        return Finding(
            SHARED_AREA,
            SHARED_NAME,
            Level.FAIL,
            f"the server at {path} {describe_server(server)}",
            "End it: keyhole server stop.",
        )
    message = describe_server(server)
    if server["version"] == __version__:
        return Finding(SHARED_AREA, SHARED_NAME, Level.OK, message)
    message += f", of version {server['version']}"
    return Finding(SHARED_AREA, SHARED_NAME, Level.NOTE, message, "Restart its clients, or run: keyhole server stop.")
