"""Limits on calls through a real PostgreSQL: two links act as servers, a third connection reads the tables."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import psycopg
import pytest

from keyhole.serve.http.limits.shared import tables
from keyhole.serve.http.limits.shared.calls import SharedCalls, Verdict
from keyhole.serve.http.limits.shared.leases import Leases
from keyhole.serve.http.limits.shared.link import SWEEP_INTERVAL, Link
from tests.support.loopback import unused_port
from tests.support.postgresql import Database
from tests.support.waiting import wait_for_async

SOON = 0.25
"""Seconds: shorter than the default timeout, so that tests without a database are quick."""


def servers(
    database: Database,
    work: Callable[[SharedCalls, SharedCalls], Awaitable[Any]],
    *,
    per_minute: int = 6_000,
    at_once: int = 3,
    seconds: float = 30.0,
) -> Any:
    """Run work with two servers."""

    async def main() -> Any:
        links = [Link(database.url, 5.0, 0.05) for _ in range(2)]
        one, two = (SharedCalls(Leases(link, seconds, seconds / 4), per_minute, at_once) for link in links)
        try:
            return await work(one, two)
        finally:
            await one.aclose()
            await two.aclose()

    return asyncio.run(main())


def test_calls_at_once_are_counted_over_all_servers(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        verdicts = [await server.begin("a") for server in (one, two, one)]
        assert [verdict.refused for verdict in verdicts] == ["", "", ""]
        assert len({verdict.lease for verdict in verdicts}) == 3
        assert (await two.begin("a")).refused == "calls_at_once"
        assert (await two.begin("b")).refused == ""
        one.end("a", verdicts[0].lease)

        async def free() -> bool:
            return not (await two.begin("a")).refused

        await wait_for_async(free)
        assert (await one.begin("a")).refused == "calls_at_once"

    servers(database, work)


def test_a_call_waits_a_moment_for_a_lease_that_is_being_released(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        verdicts = [await one.begin("a") for _ in range(3)]

        async def free() -> bool:
            held = "SELECT cardinality(holders) FROM keyhole_leases"
            return await asyncio.to_thread(database.query, held) == [(2,)]

        async def release_lease(_seconds: float) -> None:
            one.end("a", verdicts[0].lease)
            await wait_for_async(free)

        two.sleep = release_lease
        assert (await two.begin("a")).lease

    servers(database, work)


def test_exactly_the_allowed_number_of_concurrent_calls_is_admitted(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> list[Verdict]:
        return await asyncio.gather(*((one, two)[n % 2].begin("a") for n in range(40)))

    verdicts = servers(database, work, at_once=7)
    assert sorted(verdict.refused for verdict in verdicts) == [""] * 7 + ["calls_at_once"] * 33


def test_the_rate_is_counted_over_all_servers_and_refusals_have_the_wait(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        for n in range(4):
            verdict = await (one, two)[n % 2].begin("a")
            assert verdict.refused == ""
        verdict = await one.begin("a")
        assert (verdict.refused, verdict.lease) == ("calls_per_minute", "")
        assert 13 < verdict.wait <= 15
        assert (await two.begin("b")).refused == ""

    servers(database, work, per_minute=4, at_once=10)


def test_a_call_refused_by_the_rate_holds_no_lease(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        first = await one.begin("a")
        assert (await one.begin("a")).refused == "calls_per_minute"
        one.end("a", first.lease)

        async def has_no_lease() -> bool:
            held = await asyncio.to_thread(database.query, "SELECT sum(cardinality(holders)) FROM keyhole_leases")
            return held == [(0,)]

        await wait_for_async(has_no_lease)

    servers(database, work, per_minute=1, at_once=10)


def test_leases_of_a_live_server_are_renewed_and_those_of_a_dead_one_expire(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        kept = [await one.begin("a"), await one.begin("b"), await two.begin("a")]
        assert {verdict.refused for verdict in kept} == {""}
        began = time.monotonic()
        while time.monotonic() < began + 1.5 * 0.8:
            assert (await two.begin("a")).refused == "calls_at_once"
            await asyncio.sleep(0.05)
        one._leases._held.clear()  # like a dead server, it renews nothing

        async def free() -> bool:
            return not (await two.begin("a")).refused

        await wait_for_async(free)
        assert (await two.begin("a")).refused == "calls_at_once"  # since `two` still renews its own lease

    servers(database, work, at_once=2, seconds=0.8)


def test_a_cancelled_call_leaves_no_lease(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        await two.begin("b")  # creates the tables
        async with await psycopg.AsyncConnection.connect(database.url) as other:
            await other.execute("LOCK TABLE keyhole_leases IN EXCLUSIVE MODE")
            task = asyncio.create_task(one.begin("a"))
            await wait_for_async(_waits)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await wait_for_async(_free)

    async def _waits() -> bool:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return await asyncio.to_thread(database.query, waiting) == [(1,)]

    async def _free() -> bool:
        found = await asyncio.to_thread(
            database.query, "SELECT cardinality(holders) FROM keyhole_leases ORDER BY cardinality(holders)"
        )
        return found == [(0,), (1,)]

    servers(database, work)


def test_calls_cancelled_at_any_moment_leave_no_lease(database: Database) -> None:
    random = Random(7)

    async def one_call(server: SharedCalls, tenant: str) -> None:
        verdict = await server.begin(tenant)
        try:
            await asyncio.sleep(random.random() / 50)
        finally:
            if verdict.lease:
                server.end(tenant, verdict.lease)

    async def work(one: SharedCalls, two: SharedCalls) -> None:
        await one.begin("active")
        for _ in range(10):
            tasks = [asyncio.create_task(one_call((one, two)[n % 2], f"t{n % 3}")) for n in range(30)]
            for task in tasks:
                asyncio.get_running_loop().call_later(random.random() / 30, task.cancel)
            await asyncio.gather(*tasks, return_exceptions=True)

        async def only_one_is_held() -> bool:
            held = "SELECT sum(cardinality(holders)) FROM keyhole_leases"
            return await asyncio.to_thread(database.query, held) == [(1,)]

        await wait_for_async(only_one_is_held)
        assert len(one._leases._held) + len(two._leases._held) == 1

    servers(database, work, at_once=5)


def test_any_text_can_be_a_tenant_name(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        for name in ("", "'; DROP TABLE keyhole_leases; --", "a\x00b", "\ud800", "%s", "x" * 100_000):
            assert (await one.begin(name)).lease

    servers(database, work)
    assert database.query("SELECT count(*) FROM keyhole_leases") == [(6,)]


def test_a_sweep_deletes_only_expired_rows(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        await one.begin("a")
        await asyncio.to_thread(
            database.query,
            """WITH old AS (SELECT n::text AS name, now() - interval '1 s' AS at FROM generate_series(1, 30) AS n),
            leases AS (INSERT INTO keyhole_leases SELECT name, ARRAY['x'], ARRAY[at] FROM old),
            rates AS (INSERT INTO keyhole_rates SELECT * FROM old),
            waits AS (INSERT INTO keyhole_waits SELECT * FROM old) SELECT 1""",
        )

    servers(database, work, per_minute=1)
    counts = "SELECT (SELECT count(*) FROM keyhole_leases), (SELECT count(*) FROM keyhole_rates)"
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(tables.SWEEP.encode(), {"batch": 20})
        assert database.query(counts) == [(11, 11)]
        connection.execute(tables.SWEEP.encode(), {"batch": 20})
    assert database.query(counts) == [(1, 1)]
    assert database.query("SELECT count(*) FROM keyhole_waits") == [(0,)]


def test_a_server_sweeps_at_intervals(database: Database) -> None:
    async def work(one: SharedCalls, two: SharedCalls) -> None:
        await one.begin("a")
        await asyncio.to_thread(database.query, "INSERT INTO keyhole_waits VALUES ('old.example', now()) RETURNING 1")
        await one.begin("a")

        async def gone() -> bool:
            return not await asyncio.to_thread(database.query, "SELECT 1 FROM keyhole_waits")

        assert not await gone()
        one._leases.link._swept_at -= SWEEP_INTERVAL
        await one.begin("a")
        await wait_for_async(gone)

    servers(database, work)


# The database is unavailable.


@asynccontextmanager
async def a_link(url: str) -> Any:
    link = Link(url, timeout=SOON, reconnect_interval=0.05)
    try:
        yield link
    finally:
        await link.aclose()


def test_without_a_database_calls_are_admitted_and_only_the_first_waits(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with a_link(f"postgresql://keyhole@127.0.0.1:{unused_port()}/postgres") as link:
            calls = SharedCalls(Leases(link), 60, 1)
            begin = time.monotonic()
            assert await calls.begin("a") == Verdict()
            assert time.monotonic() - begin < SOON + 1
            begin = time.monotonic()
            for _ in range(100):
                assert await calls.begin("a") == Verdict()
            calls.end("a", "")
            assert time.monotonic() - begin < SOON

    asyncio.run(main())
    assert "limits are not shared for now" in caplog.text


@pytest.mark.parametrize(
    "address", ["u:secret@[::1/x", "u:secret@h:secret/x", "u:secret@h/x?secret=secret", "%s:secret"]
)
def test_an_invalid_address_is_logged_without_its_password(address: str, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with a_link(f"postgresql://{address}") as link:
            assert await SharedCalls(Leases(link), 60, 1).begin("a") == Verdict()

    with caplog.at_level("DEBUG"):
        asyncio.run(main())
    assert "limits are not shared for now" in caplog.text
    assert "secret" not in caplog.text


def test_no_statement_is_prepared_so_that_poolers_work(database: Database) -> None:
    async def main() -> None:
        async with a_link(database.url) as link:
            for _ in range(20):  # the driver prepares a statement after five executions by default
                await link.query("SELECT 1", {})
            assert await link.query("SELECT count(*) FROM pg_prepared_statements", {}) == [(0,)]

    asyncio.run(main())


def test_a_hanging_database_delays_a_call_only_by_the_timeout(database: Database) -> None:
    async def main() -> None:
        async with a_link(database.url) as link:
            calls = SharedCalls(Leases(link), 60, 5)
            assert (await calls.begin("a")).lease
            async with await psycopg.AsyncConnection.connect(database.url) as other:
                await other.execute("LOCK TABLE keyhole_rates IN ACCESS EXCLUSIVE MODE")
                begin = time.monotonic()
                assert await calls.begin("a") == Verdict()
                assert time.monotonic() - begin < SOON + 1
            await wait_for_async(lambda: _shared(calls))

    asyncio.run(main())


def test_a_database_is_used_again_after_a_crash(database: Database) -> None:
    async def main() -> None:
        async with a_link(database.url) as link:
            calls = SharedCalls(Leases(link), 60, 5)
            assert (await calls.begin("a")).lease
            await asyncio.to_thread(database.cluster.stop, "immediate")
            try:
                assert await calls.begin("a") == Verdict()
            finally:
                database.cluster.start()  # from this thread: PostgreSQL ends with the thread that started it
            await wait_for_async(lambda: _shared(calls))

    asyncio.run(main())


async def _shared(calls: SharedCalls) -> bool:
    return bool((await calls.begin("b")).lease)


def test_a_server_suspended_while_it_creates_the_tables_does_not_block_others(database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection, connection.transaction():
        for statement in tables.CREATE:
            connection.execute(statement.encode(), {"lock": tables.LOCK_ID})
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("10s",)
