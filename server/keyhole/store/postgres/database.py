"""Connections to PostgreSQL: a bounded pool, transactions that end in time, failures under one name. Knows no table.

Nothing is kept on a connection between transactions, so that a pooler may stand between (see docs/storage/postgresql.md): what
a transaction needs is set within it, and no statement is prepared.
"""

from __future__ import annotations

import logging
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any, Final, Self
from uuid import UUID

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from keyhole.errors import Code, KeyholeError

log = logging.getLogger(__name__)

PATIENCE: Final = 2.0
"""Seconds that a connection, a lock or a statement is waited for. Statements take milliseconds: longer is a server that
is overloaded, stopped or gone, and a call can go on without the store."""
GRACE: Final = 0.5
"""Seconds more until an answer is no longer waited for: a server that lives ends the statement itself before."""
AWAY: Final = 1.0
"""Seconds for which a server that could not be reached is not asked again, so that calls go on at once without it."""
NO_TENANT: Final = UUID(int=0)
"""For what belongs to the installation. No tenant's number: theirs are hashes."""


Failed = Callable[[psycopg.Error], None]


class Connection(psycopg.Connection[dict[str, Any]]):
    """A connection on which no answer is waited for without end: a server that is stopped still keeps its sockets."""

    patience: float = PATIENCE + GRACE

    @classmethod
    def connect(cls, conninfo: str = "", *, failed: Failed | None = None, **kwargs: Any) -> Self:  # type: ignore[override]
        """Tells `failed` why there is no connection: the pool that asks keeps that to itself."""
        try:
            return super().connect(conninfo, **kwargs)
        except psycopg.Error as error:
            if failed:
                failed(error)
            raise

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        return super().wait(gen, interval, self.patience if timeout is None else timeout)


class Database:
    """One server's connections, shared by all its threads and tenants. Opened by the first use, and again after it was
    closed. `prepare` is given a connection before any other use, to bring the tables up."""

    def __init__(self, url: str, connections: int, prepare: Callable[[Connection], None]) -> None:
        self._parameters = parameters(url)
        self._connections = connections
        self._prepare = prepare
        self._lock = Lock()
        self._preparing = Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._prepared = False
        self._away_until = 0.0
        self._told = False
        self._unreachable: psycopg.Error | None = None

    @contextmanager
    def transaction(self, tenant: UUID, *, seconds: float = PATIENCE, plan: str = "") -> Iterator[Connection]:
        """A transaction that sees one tenant's rows, committed durably when the block ends without an error.

        Raises KeyholeError (store_unavailable) for whatever goes wrong with the server or on the way to it.
        """
        with self._named_failures(), self._connection() as connection:
            connection.patience = seconds + GRACE
            connection.execute(_begin(tenant, seconds) + plan)
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                _clear(connection)

    def close(self) -> None:
        """Close all connections; the next use opens them again."""
        with self._lock:
            pool, self._pool, self._prepared = self._pool, None, False
        if pool is not None:
            pool.close()

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        if monotonic() < self._away_until:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store cannot be reached")
        pool = self._opened()
        failed = pool.get_stats().get("connections_errors", 0)
        try:
            connection = pool.getconn()
        except PoolTimeout as error:
            # Without a failed attempt the pool is only busy: then the next call may have more luck.
            if pool.get_stats().get("connections_errors", 0) > failed:
                self._away_until = monotonic() + AWAY
                raise self._unreachable or error from None
            raise
        try:
            if not self._prepared:
                self._prepare_once(connection)
            yield connection
        finally:
            pool.putconn(connection)

    def _opened(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None:
                # It tells of every attempt; we tell once.
                logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
                self._pool = ConnectionPool(
                    kwargs={**self._parameters, "failed": self._failed}, connection_class=Connection,
                    min_size=0, max_size=self._connections,
                    timeout=PATIENCE, reconnect_timeout=AWAY, check=self._check, open=True, name="keyhole",
                )  # fmt: skip
            return self._pool

    def _failed(self, error: psycopg.Error) -> None:
        self._unreachable = error

    def _check(self, connection: Connection) -> None:
        """Refuse a connection that the server has ended. Then there is something to read on it though nobody asked, and
        only then is the server asked: a notice, or a ticket of TLS, is no end."""
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if not poll.poll(0):
            return
        try:
            connection.execute("")
        except psycopg.Error:
            connection.close()
            if pool := self._pool:
                pool.drain()  # the others ended with it, most likely
            raise

    def _prepare_once(self, connection: Connection) -> None:
        with self._preparing:
            if not self._prepared:
                self._prepare(connection)
                self._prepared = True

    @contextmanager
    def _named_failures(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, OSError) as error:
            if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
                self._prepared = False  # the tables were taken away under us: the next use makes them again
            if not self._told:
                # The message of a failure names server and user; never a password, nor what was stored.
                log.warning("the artifact store failed: %s", _reason(error))
                self._told = True
            raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {type(error).__name__}") from error
        else:
            self._told = False


def unreadable(error: KeyholeError) -> bool:
    """Whether the server failed to read a page of its own files: the statement's rows are damaged, not the server."""
    return isinstance(error.__cause__, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted)


def parameters(url: str) -> dict[str, Any]:
    """How to connect. Raises KeyholeError (invalid_argument) for an address that the client library cannot read."""
    try:
        given: dict[str, Any] = dict(conninfo_to_dict(url))
    except (psycopg.Error, UnicodeError):
        # Its message would repeat a part of the address, which may be one of the password.
        raise KeyholeError(
            Code.INVALID_ARGUMENT,
            "KEYHOLE_STORE is not an address such as postgresql://user:password@host:5432/database",
        ) from None
    ours = {"connect_timeout": int(PATIENCE), "application_name": "keyhole", "tcp_user_timeout": int(PATIENCE * 1000)}
    fixed = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
    return {**ours, **given, **fixed}


def _begin(tenant: UUID, seconds: float) -> str:
    """All in one exchange with the server; nothing in it is anyone's text."""
    milliseconds = int(seconds * 1000)
    return (
        f"BEGIN; SET LOCAL keyhole.tenant = '{tenant}'; SET LOCAL statement_timeout = {milliseconds}; "
        f"SET LOCAL lock_timeout = {milliseconds}; SET LOCAL idle_in_transaction_session_timeout = {5 * milliseconds}; "
        "SET LOCAL synchronous_commit = on; "
    )


def _clear(connection: Connection) -> None:
    """Leave nothing of a transaction that did not end well, and wait for no server that has stopped answering."""
    status = connection.info.transaction_status
    if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            connection.rollback()
        except psycopg.Error:
            connection.close()
    elif status != TransactionStatus.IDLE:
        connection.close()


def _reason(error: BaseException) -> str:
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return " ".join(str(error).split())[:300]
    return f"{type(error).__name__} {getattr(error, 'sqlstate', None) or ''}".strip()
