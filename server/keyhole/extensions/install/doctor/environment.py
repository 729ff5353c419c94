"""Check what Keyhole runs on: Python, its own package, SQLite, and optional libraries."""

from __future__ import annotations

import platform
import sqlite3
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from keyhole._version import __version__
from keyhole.cli.report import Finding, Level
from keyhole.extensions.install.discover import this_installation
from keyhole.extensions.install.launch import is_temporary
from keyhole.store.sqlite.schema import SAFE_WAL_VERSION, journal_mode

AREA: Final = "Program"
_EXTRAS: Final = {
    "office": (("mammoth", "pptx", "openpyxl"), "Word, PowerPoint and Excel files cannot be read"),
    "hosted": (("psycopg", "psycopg_pool", "prometheus_client"), "PostgreSQL and metrics are not available"),
}
"""The modules of each extra, and the consequence if they are missing."""


def check() -> list[Finding]:
    """Return findings on Python, the package, SQLite and the extras."""
    return [_check_python(), _check_package(), _check_sqlite(), _check_fts5(), *_check_extras()]


def _check_python() -> Finding:
    message = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"
    return Finding(AREA, "Python", Level.OK, message)


def _check_package() -> Finding:
    message = f"{__version__} in {Path(__file__).resolve().parents[2]}"
    if is_temporary(this_installation()):
        fix = "Install it permanently, with `uv tool install` or pipx: pruning uv's cache removes this copy."
        return Finding(AREA, "Keyhole", Level.WARN, f"{message}, in uvx's temporary environment", fix)
    return Finding(AREA, "Keyhole", Level.OK, message)


def _check_sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if journal_mode(sqlite3.sqlite_version_info) == "WAL":
        return Finding(AREA, "SQLite", Level.OK, f"{version}, with a write-ahead log")
    safe = ".".join(map(str, SAFE_WAL_VERSION))
    message = f"{version}; write-ahead logs are unsafe before {safe}, so a slower rollback journal is used"
    fix = f"No action is needed; a Python with SQLite {safe} or newer writes faster."
    return Finding(AREA, "SQLite", Level.NOTE, message, fix)


def _check_fts5() -> Finding:
    """Check that SQLite can create an FTS5 table. A build may have the extension without listing it in its options."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.OperationalError:
        fix = "Use a Python whose SQLite has FTS5, such as the builds of python.org or uv."
        return Finding(AREA, "full-text search", Level.FAIL, "this SQLite is built without FTS5", fix)
    finally:
        connection.close()
    return Finding(AREA, "full-text search", Level.OK, "FTS5 is available")


def _check_extras() -> list[Finding]:
    findings = []
    for extra, (modules, consequence) in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            fix = f"If you need it, install the package with its extra [{extra}]."
            message = f"without {', '.join(missing)}: {consequence}"
            findings.append(Finding(AREA, f"extra {extra}", Level.NOTE, message, fix))
        else:
            findings.append(Finding(AREA, f"extra {extra}", Level.OK, "installed"))
    return findings
