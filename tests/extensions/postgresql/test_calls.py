"""Tests of the log of calls in PostgreSQL beyond those of every log: tenants, concurrency, expiry and damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.postgresql.call_tables import CALL_TABLES
from keyhole.extensions.postgresql.calls import PostgresCallLog
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.store.base import Limits
from keyhole.store.calls.base import NO_CALL_FILTERS, CallFilters, list_following
from tests.store.calls.samples import call, calls, page, read_text
from tests.support.fakes import Clock
from tests.support.postgresql import Cluster
from tests.support.store_contract import TTL

Open = Callable[..., PostgresCallLog]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def database(postgresql: Cluster) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(postgresql.database(), 8, prepare)
    yield database
    database.close()


@pytest.fixture
def open_log(database: PostgresDatabase, clock: Clock) -> Open:
    return lambda tenant=None: PostgresCallLog(database, tenant or uuid4(), clock, Limits(TTL, 10**9))


def test_the_log_of_one_tenant_is_invisible_to_another(open_log: Open) -> None:
    one, two = open_log(), open_log()
    text = read_text(page(1), (0, 9))
    one.add(call("a", texts=[text]))
    one.add(call("b", texts=[text], started_at=call().summary.started_at + 9))
    assert (two.get("a"), two.latest(), two.size_bytes()) == (None, 0, 0)
    assert (two.calls(9), two.sessions(9), list_following(two, "a")) == ((), (), ())
    for filters in (CallFilters(session="session"), CallFilters(text=text.id), CallFilters(follows="a")):
        assert (two.calls(9, filters), two.sessions(9, filters)) == ((), ())
    assert two.choices() == ((), (), ())
    assert two.figures(0).calls == 0
    assert not two.remove_call("a")
    assert two.remove_session("session") == 0
    two.add(call("a", query="of two"))
    assert (one.calls(9)[-1].query, two.calls(9)[0].query) == ("", "of two")
    assert len(one.calls(9)) == 2


def test_a_statement_without_the_tenant_sees_no_row_of_a_log(open_log: Open, database: PostgresDatabase) -> None:
    open_log().add(call(texts=[read_text(page(1), (0, 9))], stages=[("rank", 0.5)]))
    with database.transaction(uuid4()) as connection:
        for table in CALL_TABLES:
            row = connection.execute(f"SELECT count(*) AS rows FROM keyhole.{table}").fetchone()  # noqa: S608
            assert row == {"rows": 0}, table


def test_servers_that_add_at_once_keep_every_call_and_correct_totals(open_log: Open) -> None:
    tenant = uuid4()
    records = [replace(each, summary=replace(each.summary, session="one")) for each in calls(48)]

    def add(part: int) -> None:
        for record in records[part::4]:
            open_log(tenant).add(record)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(4)))
    log = open_log(tenant)
    listed = log.calls(99)
    (session,) = log.sessions(9)
    assert [each.id for each in listed] == [each.summary.id for each in reversed(records)]
    assert session.calls == 48
    assert session.misses == sum(each.miss != "" for each in listed)
    assert session.tokens == sum(each.tokens for each in listed)
    assert log.remove_session("one") == 48
    assert log.size_bytes() == 0


def test_the_calls_of_an_inactive_tenant_expire_when_another_uses_its_log(
    open_log: Open, clock: Clock, database: PostgresDatabase
) -> None:
    inactive = uuid4()
    open_log(inactive).add(call())
    clock.advance(TTL + 1)
    for _ in range(20):  # each sweeps one tenant, and other tests have left some
        open_log().calls(1)
    with database.transaction(inactive) as connection:
        assert connection.execute("SELECT FROM keyhole.calls").rowcount == 0


def test_a_damaged_record_is_an_error_and_stays_in_lists(open_log: Open, database: PostgresDatabase) -> None:
    tenant = uuid4()
    log = open_log(tenant)
    log.add(call())
    with database.transaction(tenant) as connection:
        connection.execute("UPDATE keyhole.calls SET body = 'x'")
    with pytest.raises(KeyholeError) as caught:
        log.get("call")
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert [each.id for each in log.calls(9, NO_CALL_FILTERS)] == ["call"]
