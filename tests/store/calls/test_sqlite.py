"""Tests of the log's file: damage, other processes, another version, a missing folder, and the plans of its queries."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.store.base import LOCAL
from keyhole.store.calls.base import CallFilters
from keyhole.store.calls.queries import CALLS, calls_where, sessions_where
from keyhole.store.calls.sqlite import FILE_NAME, SqliteCallLog, open_log
from keyhole.store.open import LocalStores, MemoryStores
from tests.store.calls.samples import START, call, calls
from tests.support.fakes import Clock

TTL = 30 * 86_400.0


@pytest.fixture
def log(tmp_path: Path) -> SqliteCallLog:
    return SqliteCallLog(tmp_path, Clock(), TTL)


@pytest.mark.parametrize("content", [b"no database at all" * 400, b"SQLite format 3\0" + b"\xff" * 8_000])
def test_a_file_that_is_no_log_is_set_aside_and_a_log_begins(
    log: SqliteCallLog, tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    log.add(call())
    assert len(log.calls(9)) == 1
    assert (tmp_path / f"{FILE_NAME}.damaged-1").read_bytes() == content
    assert "begins anew" in caplog.text


def test_a_log_whose_pages_are_damaged_is_set_aside_while_it_is_in_use(log: SqliteCallLog, tmp_path: Path) -> None:
    for record in calls(60):
        log.add(record)
    before = log.latest()
    log.close()
    path = tmp_path / FILE_NAME
    content = bytearray(path.read_bytes())
    content[4_096:] = b"\xff" * (len(content) - 4_096)
    path.write_bytes(content)
    log.add(call())
    assert [each.id for each in log.calls(99)] == ["call"]
    assert (tmp_path / f"{FILE_NAME}.damaged-1").exists()
    assert log.latest() != before


def test_a_log_that_another_process_replaced_is_opened_again(log: SqliteCallLog, tmp_path: Path) -> None:
    other = SqliteCallLog(tmp_path, Clock(), TTL)
    log.add(call("lost"))
    other.calls(1)
    for path in list(tmp_path.glob(f"{FILE_NAME}*")):
        path.rename(tmp_path / f"moved-{path.name}")
    log.add(call("kept"))
    assert [each.id for each in other.calls(9)] == ["kept"]
    other.close()


def test_the_log_of_another_version_is_refused_and_not_changed(log: SqliteCallLog, tmp_path: Path) -> None:
    log.add(call())
    log.close()
    path = tmp_path / FILE_NAME
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(KeyholeError) as caught:
        log.calls(9)
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert "a newer version" in caught.value.message
    assert not list(tmp_path.glob("*.damaged-*"))


def test_a_log_works_as_soon_as_its_folder_exists(tmp_path: Path) -> None:
    log = SqliteCallLog(tmp_path / "missing", Clock(), TTL)
    with pytest.raises(KeyholeError) as caught:
        log.add(call())
    assert caught.value.code is Code.STORE_UNAVAILABLE
    (tmp_path / "missing").mkdir()
    log.add(call())
    assert len(log.calls(9)) == 1
    log.close()


def test_a_damaged_body_is_an_error_and_the_lists_still_work(log: SqliteCallLog, tmp_path: Path) -> None:
    log.add(call())
    log.close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as file, file:
        file.execute("UPDATE bodies SET data = x'00'")
    with pytest.raises(KeyholeError) as caught:
        log.get("call")
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert len(log.calls(9)) == 1


def test_logs_in_several_processes_lose_no_call(tmp_path: Path) -> None:
    logs = [SqliteCallLog(tmp_path, Clock(), TTL) for _ in range(4)]
    records = list(calls(120))

    def add(number: int) -> None:
        for record in records[number::4]:
            logs[number].add(record)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(4)))
    assert {each.id for each in logs[0].calls(999)} == {record.summary.id for record in records}
    assert sum(each.calls for each in logs[1].sessions(999)) == 120
    for log in logs:
        log.close()


def test_a_deleted_session_is_overwritten_in_the_file(log: SqliteCallLog, tmp_path: Path) -> None:
    log.add(call("kept", "other"))
    for number in range(20):
        log.add(call(str(number), "private", started_at=START + number, query=f"confidential{number}"))
    assert log.remove_session("private") == 20
    log.close()
    content = (tmp_path / FILE_NAME).read_bytes()
    assert b"confidential" not in content
    assert b"docs.python.org" in content


def test_dropped_calls_give_their_space_back(log: SqliteCallLog, tmp_path: Path) -> None:
    for number in range(60):
        log.add(replace(call(str(number), started_at=START + number), result="".join(map(str, range(6_000)))))
    log.close()
    before = (tmp_path / FILE_NAME).stat().st_size
    small = SqliteCallLog(tmp_path, Clock(), TTL, max_calls=5)
    assert small.collect() == 55
    small.close()
    assert (tmp_path / FILE_NAME).stat().st_size < before / 2


FILTERS = [
    CallFilters(),
    CallFilters(session="s"),
    CallFilters(client="c"),
    CallFilters(tool="search"),
    CallFilters(outcome="timeout"),
    CallFilters(outcome="error"),
    CallFilters(misses_only=True),
    CallFilters(words="one two", site="python.org"),
]


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("after", [None, (START, "id")])
def test_every_list_is_read_from_an_index_in_its_order(
    tmp_path: Path, filters: CallFilters, after: tuple[float, str] | None
) -> None:
    where, values = calls_where(filters, after)
    sql = f"SELECT {CALLS} FROM calls {where} ORDER BY calls.started_at DESC, calls.id DESC LIMIT 50"  # noqa: S608 - constants
    where, of_sessions = sessions_where(filters, after)
    sessions = f"SELECT * FROM sessions {where} ORDER BY last_at DESC, id DESC LIMIT 50"  # noqa: S608 - constants
    with closing(open_log(tmp_path / FILE_NAME)) as connection:
        for query, parameters in ((sql, values), (sessions, of_sessions)):
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", parameters)]
            assert not [step for step in plan if "TEMP B-TREE" in step], plan
            assert all("USING" in step for step in plan if step.startswith(("SCAN", "SEARCH"))), plan


# The file


def test_each_tenant_has_a_log_of_its_own(tmp_path: Path) -> None:
    for stores in (LocalStores(Config(home=tmp_path), clock=Clock()), MemoryStores(Clock())):
        one, two = stores.calls_for("one"), stores.calls_for("two")
        one.add(call(started_at=START))
        assert len(one.calls(9)) == 1
        assert two.calls(9) == stores.calls_for(LOCAL).calls(9) == ()
        assert stores.calls_for("one") is one
        stores.close()


def test_a_log_is_in_the_folder_of_its_tenant_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    stores = LocalStores(Config(home=tmp_path / "home"), clock=Clock())
    stores.calls_for(LOCAL).add(call())
    stores.calls_for("one").add(call())
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob(FILE_NAME))
    assert len(files) == 2
    assert files[0] == f"home/{FILE_NAME}"
    assert files[1].startswith("home/tenants/")
    assert (tmp_path / files[0]).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    stores.close()


def test_a_log_expires_with_the_setting_of_the_store(tmp_path: Path) -> None:
    clock = Clock()
    stores = LocalStores(Config(home=tmp_path, ttl_days=1), clock=clock)
    stores.calls_for(LOCAL).add(call())
    clock.advance(86_400 + 3_700)
    assert stores.calls_for(LOCAL).calls(9, CallFilters()) == ()
    stores.close()


def test_a_log_is_kept_when_its_store_is_closed_and_opened_again(tmp_path: Path) -> None:
    for count in (1, 2):
        stores = LocalStores(Config(home=tmp_path), clock=Clock())
        stores.calls_for(LOCAL).add(call(str(count)))
        assert len(stores.calls_for(LOCAL).calls(9)) == count
        stores.close()
