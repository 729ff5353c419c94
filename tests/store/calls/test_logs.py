"""Tests that every log of calls passes; those that a database adds are beside its own tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.extensions.postgresql.call_tables import LogBounds
from keyhole.extensions.postgresql.calls import PostgresCallLog
from keyhole.extensions.postgresql.database import PostgresDatabase
from keyhole.extensions.postgresql.schema import prepare
from keyhole.store.base import Limits
from keyhole.store.calls.base import (
    PLAIN_CHARS,
    CallFilters,
    CallLog,
    CallMatch,
    CallRecord,
    CallSummary,
    ReadText,
    find_session,
    list_following,
)
from keyhole.store.calls.sqlite import SqliteCallLog
from keyhole.store.filters import ALL, Scope
from tests.store.calls.samples import START, call, calls, page, read_text
from tests.support.fakes import Clock, MemoryCallLog
from tests.support.postgresql import Cluster

DAY = 86_400.0
AnyLog = SqliteCallLog | PostgresCallLog
OpenLog = Callable[..., AnyLog]


def open_memory(folder: Path, clock: Clock, **bounds: int) -> AnyLog:
    del folder  # this log has no file
    return MemoryCallLog(clock, 30 * DAY, **bounds)


def open_sqlite(folder: Path, clock: Clock, **bounds: Any) -> AnyLog:
    return SqliteCallLog(folder, clock, 30 * DAY, **bounds)


@pytest.fixture(scope="module")
def database(postgresql: Cluster) -> Iterator[PostgresDatabase]:
    """A PostgreSQL database. Each log is that of another tenant in it."""
    database = PostgresDatabase(postgresql.database(), 4, prepare)
    yield database
    database.close()


def open_postgres(database: PostgresDatabase, clock: Clock, **bounds: int) -> AnyLog:
    return PostgresCallLog(database, uuid4(), clock, Limits(30 * DAY, 10**9), LogBounds(**bounds))


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def open_at(request: pytest.FixtureRequest, tmp_path: Path) -> OpenLog:
    """Open a log that uses a clock."""
    if request.param == "postgresql":
        return partial(open_postgres, request.getfixturevalue("database"))
    return partial(open_memory if request.param == "memory" else open_sqlite, tmp_path)


@pytest.fixture
def open_log(open_at: OpenLog) -> OpenLog:
    return lambda **bounds: open_at(Clock(), **bounds)


@pytest.fixture
def log(open_log: OpenLog) -> Iterator[CallLog]:
    log = open_log()
    yield log
    log.close()


def test_get_returns_every_field_of_a_call(log: CallLog) -> None:
    texts = [read_text(page(1), (0, 10), (20, 30)), read_text(page(2), state="timed out")]
    record = call(tool="search", query="größe 中", texts=texts, result="lone \ud800 and \x00", stages=[("rank", 0.5)])
    record = replace(record, notes=(("exit", "1"), ("command", "make\x00")))
    log.add(record)
    assert log.get("call") == replace(record, summary=replace(record.summary, run="session"))


def test_an_unknown_call_is_none_and_an_unknown_session_too(log: CallLog) -> None:
    assert log.get("call") is None
    assert find_session(log, "session") is None


def test_a_call_is_added_once(log: CallLog) -> None:
    log.add(call())
    log.add(call(query="another"))
    assert [each.query for each in log.calls(9)] == [""]
    session = find_session(log, "session")
    assert session is not None
    assert session.calls == 1


def test_a_text_with_lone_surrogates_can_be_listed_and_filtered(log: CallLog) -> None:
    log.add(call(query="lone \ud800 surrogate"))
    assert [each.id for each in log.calls(9, CallFilters(words="SURROGATE"))] == ["call"]


def test_calls_are_listed_newest_first_in_pages_that_neither_repeat_nor_omit_any(log: CallLog) -> None:
    added = list(calls(57))
    for record in added:
        log.add(record)
    listed: list[CallSummary] = []
    while batch := log.calls(10, after=(listed[-1].started_at, listed[-1].id) if listed else None):
        listed += batch
    assert [each.id for each in listed] == [each.summary.id for each in reversed(added)]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (CallFilters(), "abcd"),
        (CallFilters(client="codex 1"), "c"),
        (CallFilters(session="other"), "c"),
        (CallFilters(tool="search"), "b"),
        (CallFilters(outcome="error"), "d"),
        (CallFilters(outcome="timeout"), "d"),
        (CallFilters(outcome="ok"), "abc"),
        (CallFilters(misses_only=True), "d"),
        (CallFilters(miss="error"), "d"),
        (CallFilters(miss="same_page"), ""),
        (CallFilters(site="python.org"), "a"),
        (CallFilters(site="thon.org"), ""),
        (CallFilters(site="https://WWW.sqlite.org/wal.html"), "b"),
        (CallFilters(words="abort SIGNAL"), "b"),
        (CallFilters(words="signal abort"), "b"),
        (CallFilters(words="abort cancel"), ""),
        (CallFilters(words="docs.python"), "a"),
        (CallFilters(words="%"), ""),
        (CallFilters(tool="web_fetch", outcome="ok"), "ac"),
    ],
)
def test_calls_are_filtered(log: CallLog, filters: CallFilters, expected: str) -> None:
    log.add(call("a", target="https://docs.python.org/asyncio"))
    text = replace(read_text(page(2), (0, 9)), url="https://sqlite.org/wal.html")
    log.add(call("b", tool="search", query="Abort signal", texts=[text], started_at=START + 1))
    log.add(call("c", "other", client="codex 1", target="https://a.example/", started_at=START + 2))
    log.add(call("d", target="https://b.example/", outcome="timeout", started_at=START + 3))
    assert "".join(sorted(each.id for each in log.calls(9, filters))) == expected


def test_a_session_is_not_about_the_id_of_a_stored_text(log: CallLog) -> None:
    log.add(call("a", "one", target="https://b.example/"))
    log.add(call("b", "one", tool="read_artifact", target="r6uvigrrrulxtpdj", started_at=START + 1))
    assert [session.about for session in log.sessions(9)] == ["https://b.example/"]


def test_sessions_are_listed_by_their_latest_call_with_the_totals_of_all_their_calls(log: CallLog) -> None:
    text = read_text(page(1), (100, 400))
    log.add(call("a", "one", texts=[text], result="x" * 40))
    log.add(call("b", "two", started_at=START + 1, outcome="timeout"))
    log.add(call("c", "one", started_at=START + 2, target="https://b.example/", texts=[text], result="x" * 40))
    first, second = log.sessions(9)
    assert (first.id, first.calls, first.first_at, first.last_at) == ("one", 2, START, START + 2)
    assert (first.about, second.about) == ("https://docs.python.org/asyncio/0",) * 2
    assert (first.read_chars, first.shown_chars, first.result_bytes, first.tokens) == (2 * text.chars, 600, 80, 20)
    assert (second.id, second.calls, second.errors, second.misses) == ("two", 1, 1, 1)
    assert log.sessions(9, after=(first.last_at, first.id)) == (second,)
    assert log.sessions(9, CallFilters(outcome="error")) == (second,)
    assert find_session(log, "one") == first


HOUR = 3_600.0
SHOP = "/home/ann/shop"


def joined(log: CallLog, *records: CallRecord) -> list[str]:
    """Add calls and return the session of each."""
    for record in records:
        log.add(record)
    return [found.summary.session if (found := log.get(record.summary.id)) else "" for record in records]


def test_the_server_and_the_hooks_of_one_client_run_are_one_session(log: CallLog) -> None:
    hook = call("1", "hook-id", client="codex", origin="hook", tool="make", folder=SHOP)
    server = call("2", "server-id", client="codex-mcp-client 0.169", started_at=START + 60, folder=SHOP, query="why")
    proxy = call("3", "proxy-id", client="codex-mcp-client 0.169", origin="proxy", started_at=START + 90, folder=SHOP)
    later = call("4", "server-id", client="codex-mcp-client 0.169", started_at=START + 9 * HOUR, folder=SHOP)

    assert joined(log, hook, server, proxy, later) == ["hook-id"] * 4
    (session,) = log.sessions(9)
    assert (session.calls, session.folder, session.about) == (4, SHOP, hook.summary.target)


def test_an_output_that_is_adopted_late_joins_the_session_of_its_time(log: CallLog) -> None:
    server = call("1", "server-id", client="claude-code 2.1.197", started_at=START + 60, folder=SHOP)
    hook = call("2", "hook-id", client="claude-code", origin="hook", tool="make", folder=SHOP)

    assert joined(log, server, hook) == ["server-id"] * 2


def test_two_runs_of_a_client_in_one_folder_are_two_sessions(log: CallLog) -> None:
    hooks = [call(id, id, client="claude-code", origin="hook", tool="make", folder=SHOP) for id in "ab"]
    servers = [call(f"server-{id}", f"server-{id}", client="claude-code 2.1.197", folder=SHOP) for id in "ab"]

    sessions = joined(log, *hooks, *servers)
    assert sessions[:2] == ["a", "b"]
    assert set(sessions[2:]) == {"a", "b"}


@pytest.mark.parametrize(
    "other",
    [
        {"folder": "/home/ann/blog"},
        {"folder": ""},
        {"client": "codex-mcp-client 0.169", "folder": SHOP},
        {"started_at": START + HOUR, "folder": SHOP},
        {"started_at": START - HOUR, "folder": SHOP},
    ],
    ids=["another folder", "no folder", "another client", "an hour later", "an hour earlier"],
)
def test_other_work_is_another_session(log: CallLog, other: dict[str, Any]) -> None:
    hook = call("1", "hook-id", client="claude-code", origin="hook", tool="make", folder=SHOP)
    server = call("2", "server-id", **{"client": "claude-code 2.1.197", **other})

    assert joined(log, hook, server) == ["hook-id", "server-id"]


def test_commands_in_one_folder_are_one_session_until_a_long_pause(log: CallLog) -> None:
    times = [0, 600, 1_200, 1_200 + HOUR]
    commands = [
        call(str(number), "", client="keyhole 0.1.0", origin="run", tool="make", started_at=START + at, folder=SHOP)
        for number, at in enumerate(times)
    ]

    assert joined(log, *commands) == ["0", "0", "0", "3"]


def test_a_session_is_about_its_first_question(log: CallLog) -> None:
    for number, query in enumerate(("", "first", "second")):
        log.add(call(str(number), tool="search", started_at=START + number, query=query))

    assert log.sessions(1)[0].about == "first"


def test_the_calls_that_follow_and_those_on_a_text_are_found(log: CallLog) -> None:
    text = read_text(page(1), (0, 9))
    log.add(call("a", target=text.url, query="one", texts=[text]))
    log.add(call("b", target=text.url, query="two", texts=[text], started_at=START + 9))
    log.add(call("c", target=text.url, query="two", texts=[text], started_at=START + 18))
    assert [each.id for each in list_following(log, "a")] == ["b"]
    assert [each.id for each in log.calls(2, CallFilters(text=text.id))] == ["c", "b"]
    assert [(each.id, each.relation, each.miss) for each in log.calls(9)] == [
        ("c", "same_call", ""),
        ("b", "same_page", "same_page"),
        ("a", "", "same_page"),
    ]


def test_reading_on_in_an_output_that_another_session_kept_is_a_miss_of_that_session(log: CallLog) -> None:
    output = replace(read_text(page(7), (0, 90)), url="output:test")
    log.add(call("hook", "client's", origin="hook", tool="make", target="make test", texts=[output]))
    read = call("read", "server's", tool="read_artifact", target=output.id, texts=[output], started_at=START + 9)
    log.add(read)
    log.add(replace(call("page", "server's", target=page(7).url, started_at=START + 20), texts=read.texts))
    assert [(each.id, each.follows, each.relation, each.miss) for each in log.calls(9)][1:] == [
        ("read", "hook", "read_on", ""),
        ("hook", "", "", "read_on"),
    ]
    sessions = {each.id: each.misses for each in log.sessions(9)}
    assert sessions == {"client's": 1, "server's": 0}
    assert [each.id for each in list_following(log, "hook")] == ["read"]


def test_choices_are_the_clients_the_tools_and_the_error_codes_that_occur(log: CallLog) -> None:
    assert log.choices() == ((), (), ())
    log.add(call("a", client="b 1"))
    log.add(call("b", client="a 1", tool="search", outcome="timeout"))
    assert log.choices() == (("a 1", "b 1"), ("search", "web_fetch"), ("timeout",))


def test_every_change_gives_a_larger_number(log: CallLog) -> None:
    numbers = [log.latest()]
    for change in (
        lambda: log.add(call("a")),
        lambda: log.add(call("b", "other", started_at=START + 1)),
        lambda: log.remove_call("a"),
        lambda: log.remove_session("other"),
    ):
        change()
        numbers.append(log.latest())
    assert numbers == sorted(set(numbers))
    log.remove_call("unknown")
    assert log.latest() == numbers[-1]


def test_removed_calls_leave_no_trace_in_lists_and_totals(log: CallLog) -> None:
    for record in calls(40):
        log.add(record)
    before = {each.id: each for each in log.sessions(99)}
    removed = log.calls(1)[0]
    assert log.remove_call(removed.id)
    assert not log.remove_call(removed.id)
    assert log.get(removed.id) is None
    session = find_session(log, removed.session)
    assert (session.calls if session else 0) == before[removed.session].calls - 1
    for id in before:
        count = len(log.calls(99, CallFilters(session=id)))
        assert log.remove_session(id) == count
    assert (log.calls(9), log.sessions(9), log.figures(0).calls) == ((), (), 0)


def test_the_oldest_calls_beyond_the_bounds_are_dropped(open_log: OpenLog) -> None:
    log = open_log(max_calls=10)
    added = list(calls(25))
    for record in added:
        log.add(record)
    log.collect()
    assert [each.id for each in log.calls(99)] == [each.summary.id for each in added[:-11:-1]]
    assert sum(each.calls for each in log.sessions(99)) == 10
    log.close()


def test_calls_are_dropped_while_their_bytes_exceed_the_bound(open_log: OpenLog) -> None:
    log = open_log(max_bytes=400_000)
    for record in calls(60):
        log.add(replace(record, result=record.result * 1 + "".join(map(str, range(5_000)))))
    log.collect()
    assert 0 < len(log.calls(99)) < 60
    assert log.size_bytes() <= 400_000
    log.close()


def test_expired_calls_are_dropped(open_at: OpenLog) -> None:
    clock = Clock()
    log = open_at(clock)
    log.add(call("old"))
    clock.advance(20 * DAY)
    log.add(call("new", started_at=clock.now))
    clock.advance(11 * DAY)
    assert [each.id for each in log.calls(9)] == ["new"]
    clock.advance(20 * DAY)
    assert log.sessions(9) == ()
    log.close()


SMALL = list(calls(60, page_count=5))
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "add", "call", "session"]), st.sampled_from(SMALL)), max_size=25
)
FILTERS = st.builds(
    CallFilters,
    client=st.sampled_from(["", "", SMALL[0].summary.client]),
    tool=st.sampled_from(["", "", "search", "web_fetch"]),
    site=st.sampled_from(["", "", "python.org", "sqlite.org"]),
    outcome=st.sampled_from(["", "ok", "error", "timeout"]),
    words=st.sampled_from(["", "", "task", "url http", "tests"]),
    misses_only=st.booleans(),
    miss=st.sampled_from(["", "", "error", "same_page"]),
)


@settings(max_examples=20, deadline=None)
@given(steps=STEPS, filters=FILTERS, limit=st.integers(0, 9), since=st.sampled_from([0.0, START + 400.0]))
def test_all_logs_behave_alike(
    database: PostgresDatabase,
    steps: list[tuple[str, CallRecord]],
    filters: CallFilters,
    limit: int,
    since: float,
) -> None:
    clock = Clock()
    logs = [open_memory(Path(), clock), open_postgres(database, clock)]
    for step, record in steps:
        for log in logs:
            if step == "add":
                log.add(record)
            elif step == "call":
                log.remove_call(record.summary.id)
            else:
                log.remove_session(record.summary.session)
    views = [everything(log, filters, limit, since) for log in logs]
    for log in logs:
        log.close()
    assert views[0] == views[1]


def everything(log: CallLog, filters: CallFilters, limit: int, since: float) -> list[object]:
    """Return what a log shows of its calls."""
    listed = log.calls(limit, filters)
    after = (listed[-1].started_at, listed[-1].id) if listed else None
    ids = [each.id for each in log.calls(99)]
    records = [record for id in ids if (record := log.get(id))]
    return [
        listed,
        log.calls(limit, filters, after),
        log.sessions(limit, filters),
        log.sessions(99),
        log.figures(since),
        log.choices(),
        records,
        [list_following(log, id) for id in ids],
        [log.calls(limit, CallFilters(text=text.id)) for record in records for text in record.texts if text.id],
    ]


def test_a_plain_fetch_sends_each_text_once_a_session_and_at_most_so_much_of_it(open_log: OpenLog) -> None:
    log = open_log()
    book, page = (
        ReadText("t1", "https://a.example/book", chars=9_000_000),
        ReadText("t2", "https://a.example/", chars=70),
    )
    log.add(call("a", session="one", texts=[book, page]))
    log.add(call("b", session="one", texts=[book], started_at=START + 1))
    log.add(call("c", session="two", texts=[page], started_at=START + 2))
    (hour,) = log.figures(0).hours
    assert hour.plain_chars == PLAIN_CHARS + 2 * 70
    log.close()


@pytest.mark.parametrize("code", ["robots_disallowed", "blocked_address", "invalid_url"])
def test_a_correct_refusal_is_no_miss(open_log: OpenLog, code: str) -> None:
    log = open_log()
    log.add(call("a", outcome=code))
    log.add(call("b", outcome="timeout", started_at=START + 90_000))
    assert [each.miss for each in log.calls(9)] == ["error", ""]
    log.close()


def test_a_scope_is_compared_with_the_client_the_addresses_and_the_time_of_a_call(open_log: OpenLog) -> None:
    log = open_log()
    shared, own = ReadText("t1", "https://one.example/a"), ReadText("t2", "https://docs.two.example/b")
    log.add(call("a", client="Visual Studio 1.0", texts=[shared]))
    log.add(call("b", client="Visual Studio 2.0", texts=[shared, own], started_at=START + 1))
    log.add(call("c", client="codex", texts=[shared], started_at=START + 2, target="https://three.example/"))
    for scope, ids, texts in (
        (ALL, "abc", {"t1", "t2"}),
        (Scope(clients=("Visual Studio",)), "ab", {"t2"}),
        (Scope(clients=("Visual Studio 1.0", "codex")), "ac", set()),
        (Scope(sites=("two.example",)), "b", {"t2"}),
        (Scope(urls=("https://three.example",)), "c", set()),
        (Scope(before=START + 1), "a", set()),
        (Scope(clients=("codex",), before=START), "", set()),
    ):
        assert log.match(scope) == CallMatch(frozenset(ids), frozenset(texts))
    assert log.remove_call("a", "b", "unknown") == 2
    log.erase()
    assert [each.id for each in log.calls(10)] == ["c"]
