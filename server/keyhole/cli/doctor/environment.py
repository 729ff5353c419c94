"""What Keyhole stands on: Python, its own package, SQLite, the libraries that are optional. Looks, changes nothing."""

from __future__ import annotations

import platform
import sqlite3
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from keyhole._version import __version__
from keyhole.cli.doctor.report import Finding, Level
from keyhole.cli.install.discover import this_installation
from keyhole.cli.install.launch import is_passing
from keyhole.store.sqlite.schema import SAFE_WAL, journal_mode

AREA: Final = "Program"
_OPTIONAL: Final = {
    "office": ("mammoth", "pptx", "openpyxl"),
    "hosted": ("psycopg", "psycopg_pool", "prometheus_client"),
}
_FOR: Final = {
    "office": "Word, PowerPoint and Excel files are not read",
    "hosted": "PostgreSQL and metrics are not there",
}


def look() -> list[Finding]:
    """Python, package, SQLite and extras."""
    return [_python(), _package(), _sqlite(), _fts5(), *_extras()]


def _python() -> Finding:
    said = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"
    return Finding(AREA, "Python", Level.OK, said)


def _package() -> Finding:
    said = f"{__version__} in {Path(__file__).resolve().parents[2]}"
    if is_passing(this_installation()):
        fix = "Install it for good, as with `uv tool install` or pipx: pruning uv's cache takes this one away."
        return Finding(AREA, "Keyhole", Level.WARN, f"{said}, put together by uvx for one run", fix)
    return Finding(AREA, "Keyhole", Level.OK, said)


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if journal_mode(sqlite3.sqlite_version_info) == "WAL":
        return Finding(AREA, "SQLite", Level.OK, f"{version}, with a write-ahead log")
    safe = ".".join(map(str, SAFE_WAL))
    said = f"{version}; before {safe} a write-ahead log is not safe, so a journal is kept, which is slower"
    return Finding(
        AREA, "SQLite", Level.NOTE, said, f"Nothing need be done; a Python with SQLite {safe} writes faster."
    )


def _fts5() -> Finding:
    """By trying: a build may have the extension without naming it among its options."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.OperationalError:
        fix = "Use a Python whose SQLite has FTS5, such as the one of python.org or of uv."
        return Finding(AREA, "full-text search", Level.FAIL, "this SQLite is built without FTS5", fix)
    finally:
        connection.close()
    return Finding(AREA, "full-text search", Level.OK, "FTS5 is there")


def _extras() -> list[Finding]:
    findings = []
    for extra, modules in _OPTIONAL.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            said = f"without {', '.join(missing)}: {_FOR[extra]}"
            fix = f"If you need it, install the package with its extra [{extra}]."
            findings.append(Finding(AREA, f"extra {extra}", Level.NOTE, said, fix))
        else:
            findings.append(Finding(AREA, f"extra {extra}", Level.OK, "installed"))
    return findings
