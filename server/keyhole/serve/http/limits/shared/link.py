"""Connect to PostgreSQL with short timeouts, for shared limits.

store/postgres/database.py has separate connections to the same database, so that neither delays the other. There,
threads wait seconds in transactions, and failures are reported. Here, the event loop waits for single statements, and
after a failure each server applies its own limits until it has reconnected.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

from keyhole.errors import KeyholeError
from keyhole.serve.http.limits.shared import tables

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg.rows import TupleRow
    from psycopg_pool import AsyncConnectionPool

log = logging.getLogger(__name__)

CONNECTIONS: Final = 2
"""Connections of a link. A statement takes well under a millisecond, so two serve over a thousand calls a second."""
QUERY_TIMEOUT: Final = 1.0
"""Seconds for a statement: a thousand times its usual time, for a busy machine, and little compared to a call. Only
calls that are waiting when the database stops answering wait this long."""
WAIT_PARTS: Final = 4
"""Number of waits into which `query` splits its timeout."""
FIRST_CONNECT_TIMEOUT: Final = 2.0
"""Seconds for which the first call waits for a connection. Otherwise, a new server would not share its limits."""
CONNECT_TIMEOUT: Final = 10.0
"""Seconds for one attempt to connect and to create the tables, in the background."""
RECONNECT_INTERVAL: Final = 2.0
"""Seconds between attempts to reach an unavailable database, in the background."""
SWEEP_INTERVAL: Final = 300.0
"""Seconds between two deletions of expired rows by one server."""
SWEEP_BATCH: Final = 1_000
"""Maximum rows of each table that one sweep deletes, which takes some milliseconds."""
MAX_BACKGROUND: Final = 1_000
"""Maximum statements running in the background. Further statements are dropped; their leases expire by themselves."""
CLOSE_TIMEOUT: Final = 1.0
"""Seconds for which closing waits for running statements."""

Values = Mapping[str, object]
Rows = Sequence[tuple[Any, ...]]


class Link:
    """A small pool of connections. It belongs to the event loop that first uses it."""

    def __init__(
        self, address: str, timeout: float = QUERY_TIMEOUT, reconnect_interval: float = RECONNECT_INTERVAL
    ) -> None:
        self._address = address
        self._timeout = timeout
        self._reconnect_interval = reconnect_interval
        self._pool: AsyncConnectionPool[AsyncConnection[TupleRow]] | None = None
        """None while the database is unavailable."""
        self._connecting: asyncio.Task[Any] | None = None
        self._has_tried = asyncio.Event()
        self._swept_at = time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def open(self) -> None:
        """Wait at most FIRST_CONNECT_TIMEOUT for the first attempt to connect; later attempts run in the background."""
        if self._connecting is None:
            self._connecting = self._start(self._connect(0.0))
        if not self._has_tried.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._has_tried.wait(), FIRST_CONNECT_TIMEOUT)
            self._has_tried.set()

    async def query(self, statement: str, values: Values, undo: tuple[str, Values] | None = None) -> Rows | None:
        """Return the rows of a statement, or None if the database is unavailable.

        If the caller is cancelled or the statement times out, `undo` is run afterwards.
        """
        if not self._is_closed:
            await self.open()
        pool = self._pool
        if pool is None or self._is_closed:
            return None
        self._sweep_if_due()
        task = self._start(self._run(pool, statement, values))
        is_abandoned = True
        try:
            # In parts: if this server is too busy to read the answer, only one part of the timeout passes.
            for _ in range(WAIT_PARTS):
                done, _rest = await asyncio.wait({task}, timeout=self._timeout / WAIT_PARTS)
                if done:
                    break
            is_abandoned = not done
        finally:
            if is_abandoned and undo is not None:
                task.add_done_callback(lambda _: self.execute_later(*undo))
        if not done:
            task.cancel()
            self._disconnect(pool, TimeoutError("it did not answer in time"))
            return None
        if task.cancelled():  # by aclose
            return None
        if error := task.exception():
            self._disconnect(pool, error)
            return None
        rows: Rows = task.result()
        return rows

    def execute_later(self, statement: str, values: Values) -> None:
        """Run a statement in the background; a failure is only logged."""
        if self._pool is not None and not self._is_closed and len(self._tasks) < MAX_BACKGROUND:
            self._start(self._run(self._pool, statement, values))

    async def aclose(self) -> None:
        """Wait CLOSE_TIMEOUT for running statements, then close the connections."""
        self._is_closed = True
        if self._connecting is not None:
            self._connecting.cancel()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=CLOSE_TIMEOUT)
            for task in late:
                task.cancel()
        if self._pool is not None:
            await self._pool.close(CLOSE_TIMEOUT)

    async def _run(self, pool: AsyncConnectionPool[AsyncConnection[TupleRow]], statement: str, values: Values) -> Rows:
        async with pool.connection(timeout=self._timeout) as connection:
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else ()

    def _disconnect(self, pool: AsyncConnectionPool[AsyncConnection[TupleRow]], reason: BaseException) -> None:
        """Close a failed pool and reconnect in the background, once however many of its statements failed."""
        if self._pool is not pool or self._is_closed:
            return
        log.warning("limits are not shared for now: PostgreSQL: %s", _error_line(reason))
        # A pool reconnects by itself, but at ever longer intervals.
        self._start(pool.close(CLOSE_TIMEOUT))
        self._pool = None
        self._connecting = self._start(self._connect(self._reconnect_interval))

    async def _connect(self, pause: float) -> None:
        """Try to connect until the database answers."""
        from psycopg import Error

        while self._pool is None:
            await asyncio.sleep(pause)
            try:
                self._pool = await self._create_pool()
            except (Error, TimeoutError, KeyholeError) as error:
                # Only the first attempt warns; when a connection is lost later, _disconnect has warned.
                level = logging.DEBUG if self._has_tried.is_set() else logging.WARNING
                log.log(level, "limits are not shared for now: PostgreSQL: %s", _error_line(error))
            else:
                log.log(logging.WARNING if self._has_tried.is_set() else logging.INFO, "limits are shared")
            self._has_tried.set()
            pause = self._reconnect_interval

    async def _create_pool(self) -> AsyncConnectionPool[AsyncConnection[TupleRow]]:
        """Create the tables if needed, and return a pool with an open connection."""
        from psycopg import AsyncConnection
        from psycopg.rows import tuple_row
        from psycopg_pool import AsyncConnectionPool

        from keyhole.store.postgres.database import parse_url

        options = {**parse_url(self._address), "row_factory": tuple_row, "application_name": "keyhole limits"}
        async with asyncio.timeout(CONNECT_TIMEOUT):
            # A single connection first: a pool does not report why it cannot connect.
            async with await AsyncConnection.connect(**options) as connection, connection.transaction():
                for statement in tables.CREATE:
                    await connection.execute(statement.encode(), {"lock": tables.LOCK_ID})
            pool = AsyncConnectionPool(
                connection_class=AsyncConnection,
                kwargs=options,
                min_size=1,
                max_size=CONNECTIONS,
                open=False,
            )
            async with AsyncExitStack() as stack:
                stack.push_async_callback(pool.close, 0)
                await pool.open(wait=True, timeout=CONNECT_TIMEOUT)
                stack.pop_all()
            return pool

    def _sweep_if_due(self) -> None:
        now = time.monotonic()
        if now - self._swept_at > SWEEP_INTERVAL:
            self._swept_at = now
            self.execute_later(tables.SWEEP, {"batch": SWEEP_BATCH})

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):  # retrieved here, since nobody may await the task
            log.debug("PostgreSQL: %s", _error_line(error))


def _error_line(error: BaseException) -> str:
    """Return the first line of the driver's message, or a fixed text if the message may quote the password."""
    from psycopg import ProgrammingError

    if isinstance(error, ProgrammingError) and error.sqlstate is None:
        return "its address cannot be read"
    return str(error).strip().partition("\n")[0] or type(error).__name__
