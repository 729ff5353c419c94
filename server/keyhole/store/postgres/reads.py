"""Texts of one tenant read from PostgreSQL, whole or in part, and set aside where they are not what was kept. Keeps and
drops nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal
from uuid import UUID

from keyhole.errors import KeyholeError
from keyhole.records import Artifact
from keyhole.store.base import REFRESH_AFTER, Clock
from keyhole.store.postgres.database import Connection, Database, unreadable
from keyhole.store.postgres.rows import artifact_of, damaged, plain, refusal, url_of
from keyhole.store.postgres.texts import damaged_texts, read_text, set_aside

log = logging.getLogger(__name__)

VERIFY_SECONDS: Final = 60.0

HEAD: Final = "a.key, a.id, a.content, a.chars, a.damaged, a.fetched_at, a.last_access, a.record"
WHOLE: Final = (
    f"{HEAD}, c.digest, ARRAY(SELECT data FROM keyhole.chunks p WHERE p.content = c.key AND p.tenant = c.tenant "
    "ORDER BY first) AS pieces"
)
_FROM: Final = "FROM keyhole.artifacts a JOIN keyhole.contents c ON c.key = a.content AND c.tenant = a.tenant"
Reading = Callable[[Connection, dict[str, Any]], str | None]
"""What is wanted of the text of an artifact's row; None when it is not what was kept."""


class Reads:
    """Reading for one tenant. A text that is not what was kept is set aside by whoever finds it so."""

    def __init__(self, database: Database, tenant: UUID, clock: Clock, ttl: float) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._ttl = ttl

    def read(self, id: str, columns: str, reading: Reading) -> tuple[dict[str, Any], str]:
        """The row of an artifact and what is read of its text, its last access renewed. Raises as `get` does."""
        try:
            return self._read_now(id, columns, reading)
        except KeyholeError as error:
            if not unreadable(error):
                raise
            _, url = self._set_aside_unread("id", plain(id))
            raise damaged(id, url) from error

    def _read_now(self, id: str, columns: str, reading: Reading) -> tuple[dict[str, Any], str]:
        now, text = self._clock(), None
        with self._database.transaction(self._tenant) as connection:
            sql = f"SELECT {columns} {_FROM} WHERE a.tenant = %s AND a.id = %s"
            row = connection.execute(sql, [self._tenant, plain(id)], binary=True).fetchone()
            url = self._dropped_url(connection, id) if row is None else url_of(row["record"])
            failure = refusal(id, row, url, now - self._ttl)
            if row is not None and failure is None:
                text = self._checked(connection, row, reading)
                if row["last_access"] + REFRESH_AFTER < now:
                    sql = "UPDATE keyhole.artifacts SET last_access = %s WHERE tenant = %s AND key = %s"
                    connection.execute(sql, [now, self._tenant, row["key"]])
        if failure is not None:
            raise failure
        if row is None or text is None:
            raise damaged(id, url)
        return row, text

    def _dropped_url(self, connection: Connection, id: str) -> str:
        sql = "SELECT url FROM keyhole.dropped WHERE tenant = %s AND id = %s"
        row = connection.execute(sql, [self._tenant, plain(id)], binary=True).fetchone()
        return bytes(row["url"]).decode("utf-8", "surrogatepass") if row else ""

    def of_keys(self, keys: Sequence[int]) -> dict[int, Artifact]:
        """The artifacts of these keys that are whole; those that are not are set aside."""
        try:
            return self._whole_of(keys)
        except KeyholeError as error:
            if not unreadable(error):
                raise
            if len(keys) > 1:  # one of them spoils the statement: each by itself
                return {key: found for key in keys for found in self.of_keys([key]).values()}
            self._set_aside_unread("key", keys[0])
            return {}

    def _whole_of(self, keys: Sequence[int]) -> dict[int, Artifact]:
        sql = f"SELECT {WHOLE} {_FROM} WHERE a.tenant = %s AND a.key = ANY(%s)"
        found = {}
        with self._database.transaction(self._tenant) as connection:
            for row in connection.execute(sql, [self._tenant, list(keys)], binary=True).fetchall():
                text = self._checked(connection, row, lambda _, row: read_text(row["pieces"], row["digest"]))
                if text is not None:
                    found[row["key"]] = artifact_of(row, text)
        return found

    def _set_aside_unread(self, column: Literal["id", "key"], value: str | int) -> tuple[str, str]:
        """Set aside an artifact whose text the database itself cannot read; its id and URL."""
        sql = f"SELECT id, content, record FROM keyhole.artifacts WHERE tenant = %s AND {column} = %s"
        with self._database.transaction(self._tenant) as connection:
            row = connection.execute(sql, [self._tenant, value]).fetchone()
            if row is None:
                return "", ""
            log.warning("the database cannot read the text of artifact %s: it is set aside", row["id"])
            set_aside(connection, self._tenant, row["content"])
            return row["id"], url_of(row["record"])

    def verified(self, keys: Sequence[int]) -> tuple[int, Sequence[str]]:
        """How many artifacts have these texts, and the ids of those that are set aside now."""
        ids: list[str] = []
        try:
            with self._database.transaction(self._tenant, seconds=VERIFY_SECONDS) as connection:
                count, bad = damaged_texts(connection, self._tenant, keys)
                for content in bad:
                    ids += set_aside(connection, self._tenant, content)
            return count, ids
        except KeyholeError as error:
            if not unreadable(error):
                raise
        if len(keys) > 1:
            each = [self.verified([key]) for key in keys]
            return sum(count for count, _ in each), [id for _, some in each for id in some]
        with self._database.transaction(self._tenant) as connection:
            ids = set_aside(connection, self._tenant, keys[0])
        return len(ids), ids

    def _checked(self, connection: Connection, row: dict[str, Any], reading: Reading) -> str | None:
        text = reading(connection, row)
        if text is None:
            log.warning("the text of artifact %s is not what was kept: it is set aside", row["id"])
            set_aside(connection, self._tenant, row["content"])
        return text
