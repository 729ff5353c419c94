"""The record of a bounded output names its program, its session and the ranges that the result shows."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.outputs.record import make_output_record, read_call

FACTS: dict[str, Any] = {
    "id": "c1",
    "origin": "hook",
    "session": "s1",
    "client": "codex 1",
    "command": "make -j",
    "budget": 4_000,
    "started_at": 5.0,
    "seconds": 0.5,
    "result": "error",
    "outputs": [["abcdefghij234567", "compiler", 100, [[10, 90]]]],
}


def test_a_call_has_the_name_of_its_program_or_file() -> None:
    assert make_output_record(read_call({**FACTS, "command": "cd repo\ngit diff"})).summary.tool == "git diff"
    named = make_output_record(read_call({**FACTS, "command": "", "name": "/var/log/a.log"}))
    assert named.summary.tool == "a.log"


def test_the_ranges_that_are_not_left_out_are_shown() -> None:
    (text,) = make_output_record(read_call(FACTS)).texts
    assert (text.id, text.chars, text.spans) == ("abcdefghij234567", 100, ((0, 10), (90, 100)))


def test_an_odd_session_of_a_client_is_replaced_by_its_digest() -> None:
    (plain, odd) = (make_output_record(read_call({**FACTS, "session": name})).summary.session for name in ("s1", "a/b"))
    assert plain == "s1"
    assert len(odd) == 16
    assert "/" not in odd


def test_secrets_in_the_command_the_query_and_the_name_of_a_file_are_masked() -> None:
    for fact in ("command", "query", "name"):
        call = make_output_record(read_call({**FACTS, "command": "", fact: "token=hunter2"}))
        assert "token=***" in call.arguments
        assert "hunter2" not in repr(call)


@pytest.mark.parametrize("wrong", [{"origin": "tool"}, {"outputs": [1]}, {"budget": "many"}])
def test_facts_that_are_no_call_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        read_call({**FACTS, **wrong})
