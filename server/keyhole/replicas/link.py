"""A link to PostgreSQL that nobody ever waits for long: what it cannot say soon it does not say. No limits here."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from keyhole.replicas import tables

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg.rows import TupleRow
    from psycopg_pool import AsyncConnectionPool

log = logging.getLogger(__name__)

CONNECTIONS: Final = 2
"""Of one link: a statement takes well under a millisecond, so that two serve over a thousand calls a second."""
ANSWER: Final = 0.5
"""Seconds that a statement is waited for, the first connection included: a hundred times what it takes, and short
enough not to be noticed in a call that fetches."""
AGAIN: Final = 2.0
"""Seconds between tries to reach a database that is away; nobody waits for them."""
SWEEP_EVERY: Final = 300.0
"""Seconds between two sweeps by one server."""
SWEEP_BATCH: Final = 1_000
"""Rows of a table that one sweep removes at most: some milliseconds."""
MAX_TOLD: Final = 1_000
"""Statements under way in the background; more are dropped, and leases run out by themselves."""
GOODBYE: Final = 1.0
"""Seconds that closing leaves for what is still to be told."""

OPTIONS: Final[Mapping[str, Any]] = MappingProxyType(
    {"autocommit": True, "connect_timeout": 2, "application_name": "keyhole limits"}
)

Values = Mapping[str, object]
Rows = Sequence[tuple[Any, ...]]


class Link:
    """A few connections of its own. Belongs to the event loop of its first use."""

    def __init__(self, address: str, answer: float = ANSWER, again: float = AGAIN) -> None:
        self._address = address
        self._answer = answer
        self._again = again
        self._pool: AsyncConnectionPool[AsyncConnection[TupleRow]] | None = None
        self._made = False
        self._away = False
        self._swept_at = time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._finding: asyncio.Task[Any] | None = None

    async def ask(self, statement: str, values: Values, undo: tuple[str, Values] | None = None) -> Rows | None:
        """The rows of a statement, or None where the database is away. `undo` is told where nobody waits any more for
        what the statement did: the call was cancelled, or it took too long."""
        if self._away:
            return None
        self._sweep_in_time()
        task = self._start(self._run(statement, values))
        left = True
        try:
            done, _ = await asyncio.wait({task}, timeout=self._answer)
            left = not done
        finally:
            if left and undo is not None:
                task.add_done_callback(lambda _: self.tell(*undo))
        if not done:
            task.cancel()
            self._lose("did not answer in time")
            return None
        if task.cancelled():  # by closing
            return None
        if error := task.exception():
            self._lose(str(error))
            return None
        rows: Rows = task.result()
        return rows

    def tell(self, statement: str, values: Values) -> None:
        """Run a statement in the background; where it fails, nothing is told of it."""
        if not self._away and len(self._tasks) < MAX_TOLD:
            self._start(self._quietly(self._run(statement, values)))

    async def aclose(self) -> None:
        """Let what is under way end, soon, and close the connections."""
        self._away = True
        if self._finding is not None:
            self._finding.cancel()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GOODBYE)
            for task in late:
                task.cancel()
        if self._pool is not None:
            await self._pool.close(GOODBYE)

    async def _run(self, statement: str, values: Values) -> Rows:
        pool = await self._opened()
        async with pool.connection(timeout=self._answer) as connection:
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else ()

    async def _opened(self) -> AsyncConnectionPool[AsyncConnection[TupleRow]]:
        if self._pool is None:
            from psycopg import AsyncConnection
            from psycopg_pool import AsyncConnectionPool

            self._pool = AsyncConnectionPool(
                self._address,
                connection_class=AsyncConnection,
                kwargs=dict(OPTIONS),
                min_size=1,
                max_size=CONNECTIONS,
                configure=self._prepare,
                open=False,
            )
        await self._pool.open()  # nothing where it is open
        return self._pool

    async def _prepare(self, connection: AsyncConnection[TupleRow]) -> None:
        if self._made:
            return
        async with connection.transaction():
            for statement in tables.CREATE:
                await connection.execute(statement.encode(), {"lock": tables.LOCK})
        self._made = True

    def _lose(self, why: str) -> None:
        """Leave the database alone, and look for it in the background."""
        if self._away:
            return
        log.warning("limits are this server's own for now: PostgreSQL: %s", why.strip().partition("\n")[0])
        self._away, self._made = True, False
        # The pool would look for it at ever longer intervals.
        pool, self._pool = self._pool, None
        if pool is not None:
            self._start(pool.close(GOODBYE))
        self._finding = self._start(self._find())

    async def _find(self) -> None:
        from psycopg import AsyncConnection, Error

        while True:
            await asyncio.sleep(self._again)
            try:
                connection = await AsyncConnection.connect(self._address, **OPTIONS)
            except Error as error:
                log.debug("PostgreSQL: %s", error)
                continue
            await connection.close()
            self._away = False
            log.warning("limits are shared again")
            return

    def _sweep_in_time(self) -> None:
        now = time.monotonic()
        if now - self._swept_at > SWEEP_EVERY:
            self._swept_at = now
            self.tell(tables.SWEEP, {"batch": SWEEP_BATCH})

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that nobody is told of one that nobody waited for

    async def _quietly(self, work: Coroutine[Any, Any, Rows]) -> None:
        from psycopg import Error

        try:
            await work
        except Error as error:
            log.debug("PostgreSQL: %s", error)
