"""Create the tables of an SQLite file, migrate those of an earlier version, and check the columns.

A file says its version in `PRAGMA user_version`; `sqlite_utils.Migrations` records the names of the applied steps. A
file that has more tables or columns than this version uses is in order: another program may have added them.
"""

from __future__ import annotations

import re
from sqlite3 import Connection
from typing import TYPE_CHECKING, Final, NamedTuple

from keyhole.errors import Code, KeyholeError
from keyhole.runtime.lazy_imports import hidden_modules
from keyhole.store.base import version_error
from keyhole.store.sqlite.damage import check_integrity, corruption_error

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

MAX_VERSION: Final = 1 << 16
"""Upper bound of a plausible version; a larger number is damage rather than another version of Keyhole."""
_CREATE: Final = re.compile(r"CREATE (?:VIRTUAL )?(?:TABLE|INDEX) (\w+)")
_COLUMN: Final = re.compile(r"[(,]\s*(\w+) (?:INTEGER|TEXT|REAL|BLOB)\b")
_ADD: Final = re.compile(r"ALTER TABLE (\w+) ADD COLUMN (\w+)")


class Step(NamedTuple):
    """A change of the tables, with the SQL statements that make it. A step that was released never changes."""

    name: str
    statements: tuple[str, ...]


class Tables(NamedTuple):
    """The tables of one kind of file: the first step creates them, and each further one makes the next version."""

    name: str
    """What messages call the file."""
    first_version: int
    steps: tuple[Step, ...]

    @property
    def version(self) -> int:
        """Return the version after all steps."""
        return self.first_version + len(self.steps) - 1

    def names(self, version: int) -> set[tuple[str, str]]:
        """Return `(name, "")` for each table and index of a version, and `(table, column)` for each column."""
        statements = [sql for step in self.steps[: version - self.first_version + 1] for sql in step.statements]
        found = set(_ADD.findall("\n".join(statements)))
        for sql in statements:
            if match := _CREATE.match(sql):
                columns = _COLUMN.findall(sql) if sql.startswith("CREATE TABLE") else []
                found |= {(match[1], name) for name in ("", *columns)}
        return found


def read_version(connection: Connection, tables: Tables) -> int:
    """Return the version of a file, 0 for an empty one.

    Raises KeyholeError (store_unavailable) for a file of a newer version, of one before the first, or without tables or
    columns of its version. Raises sqlite3.DatabaseError if the file is damaged.
    """
    if connection.in_transaction:
        return _read_version(connection, tables)
    # In one transaction, because another process may create the tables between two reads.
    connection.execute("BEGIN")
    try:
        return _read_version(connection, tables)
    finally:
        connection.rollback()


def migrate(connection: Connection, tables: Tables) -> None:
    """Apply the steps that a file lacks. Must be called in a transaction; does nothing if another process did it."""
    version = _read_version(connection, tables)
    if version == tables.version:
        return
    with hidden_modules("numpy", "pandas"):  # it would import them if they are installed
        from sqlite_utils import Database, Migrations  # takes 20 ms, and most files have their tables

    migrations = Migrations(f"keyhole {tables.name}")
    applied = 0 if version == 0 else version - tables.first_version + 1
    for number, step in enumerate(tables.steps):
        _register(migrations, step, is_applied=number < applied)
    migrations.apply(Database(connection, execute_plugins=False))
    connection.execute(f"PRAGMA user_version = {tables.version}")


def _register(migrations: Migrations, step: Step, *, is_applied: bool) -> None:
    """Register a step. `is_applied`: True if the file has its tables already, so that only its name is recorded."""

    @migrations(name=step.name)
    def apply(db: Database) -> None:
        for statement in () if is_applied else step.statements:
            db.execute(statement)


def _read_version(connection: Connection, tables: Tables) -> int:
    version = int(next(connection.execute("PRAGMA user_version"))[0])
    if not 0 <= version <= MAX_VERSION:
        raise corruption_error("the schema version is invalid")
    if version > tables.version or 0 < version < tables.first_version:
        raise version_error(tables.name, version, tables.version)
    existing = {
        (name, column)
        for name, column in connection.execute(
            "SELECT name, '' FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' UNION ALL SELECT m.name, c.name "
            "FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%'"
        )
    }
    if (existing and not version) or not tables.names(version) <= existing:
        check_integrity(connection)
        raise KeyholeError(
            Code.STORE_UNAVAILABLE,
            f"the {tables.name} has other tables than format {version}: another program or version changed it",
        )
    return version
