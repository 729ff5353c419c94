"""Connect to PostgreSQL: a bounded pool, transactions with time limits, and one error for all failures.

A connection keeps no state between transactions, so a pooler may be used (see docs/storage/postgresql.md): each
transaction sets its own settings, and no statement is prepared.
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

TIMEOUT: Final = 2.0
"""Seconds to wait for a connection, a lock or a statement. Statements take milliseconds; a longer wait means a server
that is overloaded, stopped or gone, and calls can continue without the store."""
GRACE: Final = 0.5
"""Additional seconds to wait for an answer. A working server ends the statement itself before that."""
RETRY_AFTER: Final = 1.0
"""Seconds without attempts after a server could not be reached, so that calls continue without it at once."""
NO_TENANT: Final = UUID(int=0)
"""The tenant number for data of the installation. Numbers of tenants are hashes, so none equals it."""


OnFailure = Callable[[psycopg.Error], None]


class PostgresConnection(psycopg.Connection[dict[str, Any]]):
    """A connection with a time limit for every answer, because a stopped server does not close its sockets."""

    answer_timeout: float = TIMEOUT + GRACE

    @classmethod
    def connect(cls, conninfo: str = "", *, on_failure: OnFailure | None = None, **kwargs: Any) -> Self:  # type: ignore[override]
        """Connect, and report an error to `on_failure`, because the pool does not pass it on."""
        try:
            return super().connect(conninfo, **kwargs)
        except psycopg.Error as error:
            if on_failure:
                on_failure(error)
            raise

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        return super().wait(gen, interval, self.answer_timeout if timeout is None else timeout)


class PostgresDatabase:
    """A pool of connections shared by all threads and tenants. It is opened by the first use, also after `close`.

    `prepare` creates the tables; it is called with the first connection.
    """

    def __init__(self, url: str, connections: int, prepare: Callable[[PostgresConnection], None]) -> None:
        self._parameters = parse_url(url)
        self._connections = connections
        self._prepare = prepare
        self._lock = Lock()
        self._preparing = Lock()
        self._pool: ConnectionPool[PostgresConnection] | None = None
        self._prepared = False
        self._away_until = 0.0
        self._is_failure_logged = False
        self._connect_error: psycopg.Error | None = None

    @contextmanager
    def transaction(
        self, tenant: UUID, *, seconds: float = TIMEOUT, settings: str = ""
    ) -> Iterator[PostgresConnection]:
        """Run a transaction that sees one tenant's rows. It is committed durably if the block ends without an error.

        `settings`: SQL to run first. Raises KeyholeError (store_unavailable) for any failure of the server or network.
        """
        with self._translate_errors(), self._connection() as connection:
            connection.answer_timeout = seconds + GRACE
            connection.execute(_begin_sql(tenant, seconds) + settings)
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                _end_transaction(connection)

    def close(self) -> None:
        """Close all connections; the next use opens them again."""
        with self._lock:
            pool, self._pool, self._prepared = self._pool, None, False
        if pool is not None:
            pool.close()

    @contextmanager
    def _connection(self) -> Iterator[PostgresConnection]:
        if monotonic() < self._away_until:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store cannot be reached")
        pool = self._open_pool()
        errors = pool.get_stats().get("connections_errors", 0)
        try:
            connection = pool.getconn()
        except PoolTimeout as error:
            # Without a failed attempt the pool is only busy, and the next call may succeed.
            if pool.get_stats().get("connections_errors", 0) > errors:
                self._away_until = monotonic() + RETRY_AFTER
                raise self._connect_error or error from None
            raise
        try:
            if not self._prepared:
                self._prepare_once(connection)
            yield connection
        finally:
            pool.putconn(connection)

    def _open_pool(self) -> ConnectionPool[PostgresConnection]:
        with self._lock:
            if self._pool is None:
                # The pool logs every attempt; Keyhole logs a failure once.
                logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
                self._pool = ConnectionPool(
                    kwargs={**self._parameters, "on_failure": self._record_connect_error},
                    connection_class=PostgresConnection,
                    min_size=0, max_size=self._connections,
                    timeout=TIMEOUT, reconnect_timeout=RETRY_AFTER, check=self._check, open=True, name="keyhole",
                )  # fmt: skip
            return self._pool

    def _record_connect_error(self, error: psycopg.Error) -> None:
        self._connect_error = error

    def _check(self, connection: PostgresConnection) -> None:
        """Raise psycopg.Error if the server has closed a connection.

        A closed connection has unsolicited data to read. Notices and TLS tickets are such data too. So a statement is
        sent as a test if there are data.
        """
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        if not poll.poll(0):
            return
        try:
            connection.execute("")
        except psycopg.Error:
            connection.close()
            if pool := self._pool:
                pool.drain()  # most likely, all were closed
            raise

    def _prepare_once(self, connection: PostgresConnection) -> None:
        with self._preparing:
            if not self._prepared:
                self._prepare(connection)
                self._prepared = True

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, OSError) as error:
            if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
                self._prepared = False  # the tables were dropped: the next use creates them again
            if not self._is_failure_logged:
                # The message contains the server and user, but never a password or stored data.
                log.warning("the artifact store failed: %s", _describe_error(error))
                self._is_failure_logged = True
            raise KeyholeError(Code.STORE_UNAVAILABLE, f"the artifact store failed: {type(error).__name__}") from error
        else:
            self._is_failure_logged = False


def is_unreadable(error: KeyholeError) -> bool:
    """Return whether PostgreSQL could not read a page of its files: the rows are damaged, not the server."""
    return isinstance(error.__cause__, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted)


def parse_url(url: str) -> dict[str, Any]:
    """Return the connection parameters of a URL. Raises KeyholeError (invalid_argument) for a malformed URL."""
    try:
        parsed: dict[str, Any] = dict(conninfo_to_dict(url))
    except (psycopg.Error, UnicodeError):
        # The library's message would repeat a part of the URL, possibly of the password.
        raise KeyholeError(
            Code.INVALID_ARGUMENT,
            "KEYHOLE_STORE is not an address such as postgresql://user:password@host:5432/database",
        ) from None
    defaults = {"connect_timeout": int(TIMEOUT), "application_name": "keyhole", "tcp_user_timeout": int(TIMEOUT * 1000)}
    fixed = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
    return {**defaults, **parsed, **fixed}


def _begin_sql(tenant: UUID, seconds: float) -> str:
    """Return the SQL that begins a transaction in one exchange with the server. It contains no user input."""
    milliseconds = int(seconds * 1000)
    return (
        f"BEGIN; SET LOCAL keyhole.tenant = '{tenant}'; SET LOCAL statement_timeout = {milliseconds}; "
        f"SET LOCAL lock_timeout = {milliseconds}; SET LOCAL idle_in_transaction_session_timeout = {5 * milliseconds}; "
        "SET LOCAL synchronous_commit = on; "
    )


def _end_transaction(connection: PostgresConnection) -> None:
    """Roll back a failed transaction, and close the connection if the server has stopped answering."""
    status = connection.info.transaction_status
    if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        try:
            connection.rollback()
        except psycopg.Error:
            connection.close()
    elif status != TransactionStatus.IDLE:
        connection.close()


def _describe_error(error: BaseException) -> str:
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return " ".join(str(error).split())[:300]
    return f"{type(error).__name__} {getattr(error, 'sqlstate', None) or ''}".strip()
