"""A link to PostgreSQL that nobody ever waits for long: what it cannot say soon it does not say. No limits here.

The store has connections of its own (store/postgres_database.py), by the same settings, for another purpose: there a
failure is told and threads wait seconds in transactions; here the event loop waits for single statements, and a
failure only means that limits are this server's own for a while. What the one waits for must not hold up the other.
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
"""Of one link: a statement takes well under a millisecond, so that two serve over a thousand calls a second."""
ANSWER: Final = 1.0
"""Seconds that a statement is waited for: a thousand times what it takes, for a busy machine, and little beside what a
call may take. Only those who wait at the moment when the database falls silent wait so long."""
PARTS: Final = 4
"""Of that wait."""
FIRST: Final = 2.0
"""Seconds that the first connection is waited for, once: a server that began without it would not share its limits."""
LOOK: Final = 10.0
"""Seconds of one try to connect and to make the tables, while nobody waits."""
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

Values = Mapping[str, object]
Rows = Sequence[tuple[Any, ...]]


class Link:
    """A few connections of its own. Belongs to the event loop of its first use."""

    def __init__(self, address: str, answer: float = ANSWER, again: float = AGAIN) -> None:
        self._address = address
        self._answer = answer
        self._again = again
        self._pool: AsyncConnectionPool[AsyncConnection[TupleRow]] | None = None
        """None while the database is away."""
        self._looking: asyncio.Task[Any] | None = None
        self._tried = asyncio.Event()
        self._swept_at = time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def open(self) -> None:
        """Connect, if that was not tried yet. A database that does not answer is looked for while nobody waits."""
        if self._looking is None:
            self._looking = self._start(self._look(0.0))
        if not self._tried.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._tried.wait(), FIRST)
            self._tried.set()

    async def ask(self, statement: str, values: Values, undo: tuple[str, Values] | None = None) -> Rows | None:
        """The rows of a statement, or None where the database is away. `undo` is told where nobody waits any more for
        what the statement did: the call was cancelled, or it took too long."""
        if not self._closed:
            await self.open()
        pool = self._pool
        if pool is None or self._closed:
            return None
        self._sweep_in_time()
        task = self._start(self._run(pool, statement, values))
        left = True
        try:
            # In parts: a moment in which this server itself was too busy to listen takes one of them, not all.
            for _ in range(PARTS):
                done, _rest = await asyncio.wait({task}, timeout=self._answer / PARTS)
                if done:
                    break
            left = not done
        finally:
            if left and undo is not None:
                task.add_done_callback(lambda _: self.tell(*undo))
        if not done:
            task.cancel()
            self._lose(pool, TimeoutError("it did not answer in time"))
            return None
        if task.cancelled():  # by closing
            return None
        if error := task.exception():
            self._lose(pool, error)
            return None
        rows: Rows = task.result()
        return rows

    def tell(self, statement: str, values: Values) -> None:
        """Run a statement in the background; where it fails, nothing is told of it."""
        if self._pool is not None and not self._closed and len(self._tasks) < MAX_TOLD:
            self._start(self._run(self._pool, statement, values))

    async def aclose(self) -> None:
        """Let what is under way end, soon, and close the connections."""
        self._closed = True
        if self._looking is not None:
            self._looking.cancel()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GOODBYE)
            for task in late:
                task.cancel()
        if self._pool is not None:
            await self._pool.close(GOODBYE)

    async def _run(self, pool: AsyncConnectionPool[AsyncConnection[TupleRow]], statement: str, values: Values) -> Rows:
        async with pool.connection(timeout=self._answer) as connection:
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else ()

    def _lose(self, pool: AsyncConnectionPool[AsyncConnection[TupleRow]], why: BaseException) -> None:
        """Leave the database alone, and look for it in the background; once for all who asked through one pool."""
        if self._pool is not pool or self._closed:
            return
        log.warning("limits are this server's own for now: PostgreSQL: %s", _line(why))
        # A pool looks for a lost database by itself, but at ever longer intervals.
        self._start(pool.close(GOODBYE))
        self._pool = None
        self._looking = self._start(self._look(self._again))

    async def _look(self, pause: float) -> None:
        """Try until the database answers."""
        from psycopg import Error

        while self._pool is None:
            await asyncio.sleep(pause)
            try:
                self._pool = await self._connected()
            except (Error, TimeoutError, KeyholeError) as error:
                # Told the first time of all; later it is only what was told when it was lost.
                told = logging.DEBUG if self._tried.is_set() else logging.WARNING
                log.log(told, "limits are this server's own for now: PostgreSQL: %s", _line(error))
            else:
                log.log(logging.WARNING if self._tried.is_set() else logging.INFO, "limits are shared")
            self._tried.set()
            pause = self._again

    async def _connected(self) -> AsyncConnectionPool[AsyncConnection[TupleRow]]:
        """A pool with a connection in it, the tables being there."""
        from psycopg import AsyncConnection
        from psycopg.rows import tuple_row
        from psycopg_pool import AsyncConnectionPool

        from keyhole.store.postgres.database import parameters

        ours = {"row_factory": tuple_row, "application_name": "keyhole limits"}
        options = {**parameters(self._address), **ours}
        async with asyncio.timeout(LOOK):
            # By itself first: a pool does not say why it has no connection.
            async with await AsyncConnection.connect(**options) as connection, connection.transaction():
                for statement in tables.CREATE:
                    await connection.execute(statement.encode(), {"lock": tables.LOCK})
            pool = AsyncConnectionPool(
                connection_class=AsyncConnection,
                kwargs=options,
                min_size=1,
                max_size=CONNECTIONS,
                open=False,
            )
            async with AsyncExitStack() as stack:
                stack.push_async_callback(pool.close, 0)
                await pool.open(wait=True, timeout=LOOK)
                stack.pop_all()
            return pool

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
        if not task.cancelled() and (error := task.exception()):  # looked at: nobody else may have waited for it
            log.debug("PostgreSQL: %s", _line(error))


def _line(error: BaseException) -> str:
    """What the driver says, in one line, without the password: it says back an address that it cannot take apart."""
    from psycopg import ProgrammingError

    if isinstance(error, ProgrammingError) and error.sqlstate is None:
        return "its address cannot be read"
    return str(error).strip().partition("\n")[0] or type(error).__name__
