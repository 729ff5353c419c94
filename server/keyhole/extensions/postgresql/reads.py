"""Read one tenant's texts from PostgreSQL, and mark damaged texts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal
from uuid import UUID

from keyhole.errors import KeyholeError
from keyhole.extensions.postgresql.database import Connection, Database, is_unreadable
from keyhole.extensions.postgresql.rows import access_error, damaged_error, decode_artifact, decode_url, to_storable
from keyhole.extensions.postgresql.texts import find_damaged_texts, mark_damaged, read_text
from keyhole.records import Artifact
from keyhole.store.base import Clock

log = logging.getLogger(__name__)

VERIFY_SECONDS: Final = 60.0
TOUCH_AFTER: Final = 3_600.0
"""Seconds between two recorded reads of an artifact, so that not every read is a write."""

ROW_COLUMNS: Final = (
    "a.key, a.id, a.content, a.chars, a.damaged, a.fetched_at, a.last_access, a.main_end, a.pinned, a.record"
)
TEXT_COLUMNS: Final = (
    f"{ROW_COLUMNS}, c.digest, ARRAY(SELECT data FROM keyhole.chunks p WHERE p.content = c.key AND p.tenant = c.tenant "
    "ORDER BY first) AS pieces"
)
_FROM: Final = "FROM keyhole.artifacts a JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant"
ReadText = Callable[[Connection, dict[str, Any]], str | None]
"""Reads the text of an artifact's row, or a part of it; returns None if the text is damaged."""


class Reader:
    """Reads the artifacts of one tenant, and marks those that turn out to be damaged."""

    def __init__(self, database: Database, tenant: UUID, clock: Clock, ttl: float) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._ttl = ttl

    def read(self, id: str, columns: str, read: ReadText) -> tuple[dict[str, Any], str]:
        """Return the row of an artifact and its text, and update its last access. Raises as `Store.get` does."""
        try:
            return self._read(id, columns, read)
        except KeyholeError as error:
            if not is_unreadable(error):
                raise
            _, url = self._mark_unreadable("id", to_storable(id))
            raise damaged_error(id, url) from error

    def _read(self, id: str, columns: str, read: ReadText) -> tuple[dict[str, Any], str]:
        now, text = self._clock(), None
        with self._database.transaction(self._tenant) as connection:
            sql = f"SELECT {columns} {_FROM} WHERE a.tenant = %s AND a.id = %s"
            row = connection.execute(sql, [self._tenant, to_storable(id)], binary=True).fetchone()
            url = self._find_tombstone(connection, id) if row is None else decode_url(row["record"])
            failure = access_error(id, row, url, now - self._ttl)
            if row is not None and failure is None:
                text = self._read_checked(connection, row, read)
                if row["last_access"] + TOUCH_AFTER < now:
                    sql = "UPDATE keyhole.artifacts SET last_access = %s WHERE tenant = %s AND key = %s"
                    connection.execute(sql, [now, self._tenant, row["key"]])
        if failure is not None:
            raise failure
        if row is None or text is None:
            raise damaged_error(id, url)
        return row, text

    def _find_tombstone(self, connection: Connection, id: str) -> str:
        """Return the URL of a dropped artifact, or ""."""
        sql = "SELECT url FROM keyhole.dropped WHERE tenant = %s AND id = %s"
        row = connection.execute(sql, [self._tenant, to_storable(id)], binary=True).fetchone()
        return bytes(row["url"]).decode("utf-8", "surrogatepass") if row else ""

    def read_many(self, keys: Sequence[int]) -> dict[int, Artifact]:
        """Return the undamaged artifacts with these keys, and mark the others as damaged."""
        try:
            return self._read_many(keys)
        except KeyholeError as error:
            if not is_unreadable(error):
                raise
            if len(keys) > 1:  # one unreadable artifact fails the whole statement, so read each separately
                return {key: artifact for key in keys for artifact in self.read_many([key]).values()}
            self._mark_unreadable("key", keys[0])
            return {}

    def _read_many(self, keys: Sequence[int]) -> dict[int, Artifact]:
        sql = f"SELECT {TEXT_COLUMNS} {_FROM} WHERE a.tenant = %s AND a.key = ANY(%s)"
        artifacts = {}
        with self._database.transaction(self._tenant) as connection:
            for row in connection.execute(sql, [self._tenant, list(keys)], binary=True).fetchall():
                text = self._read_checked(connection, row, lambda _, row: read_text(row["pieces"], row["digest"]))
                if text is not None:
                    artifacts[row["key"]] = decode_artifact(row, text)
        return artifacts

    def _mark_unreadable(self, column: Literal["id", "key"], value: str | int) -> tuple[str, str]:
        """Mark an artifact whose text PostgreSQL itself cannot read as damaged; return its id and URL."""
        sql = f"SELECT id, content, record FROM keyhole.artifacts WHERE tenant = %s AND {column} = %s"
        with self._database.transaction(self._tenant) as connection:
            row = connection.execute(sql, [self._tenant, value]).fetchone()
            if row is None:
                return "", ""
            log.warning("PostgreSQL cannot read the text of artifact %s, which was set aside", row["id"])
            mark_damaged(connection, self._tenant, row["content"])
            return row["id"], decode_url(row["record"])

    def verify_texts(self, keys: Sequence[int]) -> tuple[int, Sequence[str]]:
        """Verify texts; return the number of their artifacts and the ids of artifacts now marked as damaged."""
        ids: list[str] = []
        try:
            with self._database.transaction(self._tenant, seconds=VERIFY_SECONDS) as connection:
                count, damaged_keys = find_damaged_texts(connection, self._tenant, keys)
                for content in damaged_keys:
                    ids += mark_damaged(connection, self._tenant, content)
            return count, ids
        except KeyholeError as error:
            if not is_unreadable(error):
                raise
        if len(keys) > 1:
            results = [self.verify_texts([key]) for key in keys]
            return sum(count for count, _ in results), [id for _, damaged_ids in results for id in damaged_ids]
        with self._database.transaction(self._tenant) as connection:
            ids = mark_damaged(connection, self._tenant, keys[0])
        return len(ids), ids

    def _read_checked(self, connection: Connection, row: dict[str, Any], read: ReadText) -> str | None:
        """Return the text of a row, or mark it as damaged and return None."""
        text = read(connection, row)
        if text is None:
            log.warning("stored artifact %s is damaged and was set aside", row["id"])
            mark_damaged(connection, self._tenant, row["content"])
        return text
