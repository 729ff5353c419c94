"""Benchmarks take any file of rows: each row is run, or it is named and counted."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.budget import agent_text
from benchmarks.fetch import hostile, known_urls
from benchmarks.rows import Check, Row, find_fault, load_rows, one_of, parse_rows
from benchmarks.server import artifact_args, http_cases, stdio_frames
from tests.support.http_server import Server

VALUES: tuple[Any, ...] = (None, True, 0, -1.5, 10**400, "", "a", "\ud800", "é中\u2028", [], [1], [[]], {}, {"a": [{}]})
"""A value of every type of JSON, and texts that are difficult to print or to encode."""
ROWS: Mapping[str, tuple[Mapping[str, Check], Row]] = {
    "known_urls": (known_urls.FIELDS, {"id": "1", "url": "https://a.example/", "known": True}),
    "stdio_frames": (stdio_frames.FIELDS, {"id": "1", "case": {"name": "n", "latin1": "null"}}),
    "generated stdio_frames": (stdio_frames.FIELDS, {"id": "1", "case": {"gen": "10MB line"}}),
    "artifact_args": (
        artifact_args.FIELDS,
        {"id": "1", "case": {"id": "x", "offset": 1, "limit": 2, "query": "q", "find": "f"}, "expect": "ok"},
    ),
    "http_cases": (
        http_cases.FIELDS,
        {
            "id": "1",
            "case": {
                "name": "n", "headers": {"Host": "h"}, "method": "POST", "path": "/mcp", "raw_two_auth": ["a", "b"],
                "body": {"gen": "deep50000"}, "rpc": "resources/read", "rpc_legacy": "tools/call", "uri": "file:///x",
                "profile": "p",
            },
            "expect": [200],
        },
    ),
    "a resource of http_cases": (
        http_cases.FIELDS,
        {"id": "1", "case": {"name": "n", "rpc": "resources/read", "uri": "file:///x"}, "expect": [200]},
    ),
    "agent_text": (
        agent_text.FIELDS,
        {
            "id": "1", "html": "<p>x", "ctype": "text/html", "tier": "must", "group": "g", "why": "w",
            "must_contain": ["x"], "must_not_contain": ["y"], "must_not_cp": ["U+00AD"],
        },
    ),
    "hostile": (
        hostile.FIELDS,
        {
            "id": "1", "path": "/p", "group": "g", "kind": "text", "codes": ["timeout"], "must": ["a"],
            "must_not": ["b"], "truncated": None, "max_s": 1, "max_mb": 1,
        },
    ),
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every field and element in a row."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def variants(row: Row) -> list[Any]:
    """Return the row with each field left out, and with each field replaced by each of VALUES."""
    changed: list[Any] = [row, *VALUES]
    for *path, key in places(row):
        for value in (..., *VALUES):
            one = inner = copy.deepcopy(row)
            for step in path:
                inner = inner[step]
            if value is ...:
                del inner[key]
            else:
                inner[key] = value
            changed.append(one)
    return changed


def run_known_urls(row: Row) -> None:
    asyncio.run(known_urls.main([row]))


def run_http_case(row: Row) -> None:
    server = mock.Mock(Server, port=1, tokens={"valid": "t"})
    with mock.patch.object(http_cases, "send", side_effect=ConnectionRefusedError):
        http_cases.find_fault(server, "plain", row)


def run_artifact_args(row: Row) -> None:
    wire = mock.Mock()
    wire.call.side_effect = lambda tool, arguments: json.loads(
        json.dumps({"result": {"content": [{"text": "no"}], "of": [tool, arguments]}})
    )
    artifact_args.find_fault(row, wire, artifact_args.Placeholders({"<valid>": "v"}, "text"))


def run_hostile(row: Row) -> None:
    outcome = hostile.Outcome(row, "text", {}, is_error=False, seconds=0.1, parent_mb=1.0, children_mb=1.0)
    hostile.find_faults(outcome)
    hostile.format_table([outcome])


RUN: Mapping[str, Callable[[Row], object]] = {
    "known_urls": run_known_urls,
    "stdio_frames": lambda row: stdio_frames.frame(row["case"]),
    "generated stdio_frames": lambda row: stdio_frames.frame(row["case"]),
    "artifact_args": run_artifact_args,
    "http_cases": run_http_case,
    "a resource of http_cases": run_http_case,
    "agent_text": agent_text.find_faults,
    "hostile": run_hostile,
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_with_any_value_in_any_field_is_run_or_named(name: str) -> None:
    fields, row = ROWS[name]
    lines = [json.dumps(each) for each in variants(row)]
    rows, faults = parse_rows(lines, fields)
    assert rows[0] == row
    assert len(rows) + len(faults) == len(lines)
    assert all("cannot be run" in fault for fault in faults)
    for each in rows:
        RUN[name](each)


def test_a_check_in_words_is_no_row_that_cannot_be_run() -> None:
    row = {"case": {"name": "default bind", "check": "listens on loopback"}, "expect": ["loopback"]}
    assert parse_rows([json.dumps(row)], http_cases.FIELDS)[1] == []


def test_arguments_of_any_type_are_sent_and_not_refused() -> None:
    for value in VALUES:
        row = {"case": {"id": "<valid>", "offset": value, "limit": value}, "expect": "ok_or_error"}
        assert parse_rows([json.dumps(row)], artifact_args.FIELDS)[1] == []


def test_a_resource_without_a_uri_is_requested_without_one() -> None:
    server = mock.Mock(Server, port=1, tokens={})
    assert b'"params": {}' in http_cases.encode_request(server, {"rpc": "resources/read"})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "it is not JSON"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "it nests deeper than 150 levels"),
        ('{"a": %s}' % ("[" * 200 + "]" * 200), "it nests deeper than 150 levels"),
        ("[]", "it is [], not an object"),
        ("{}", "it has no `a`"),
        ('{"a": "x"}', 'its `a` is "x"'),
        ('{"a": "' + "x" * 1_000 + '"}', "…"),
    ],
)
def test_the_reason_why_a_row_cannot_be_run_is_named(line: str, reason: str) -> None:
    rows, (fault,) = parse_rows(["", line], {"a": one_of(1)})
    assert rows == [] and fault.startswith("line 2 cannot be run: ") and reason in fault and len(fault) < 200


def test_a_file_may_have_empty_lines_line_separators_and_other_encodings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes('\n{"a": 1, "b": "\u2028"}\r\n\xff\xfe\n'.encode("latin-1", "backslashreplace"))
    rows, unusable = load_rows(file, {"a": one_of(1)})
    assert (len(rows), unusable) == (1, 1)
    assert capsys.readouterr().out.splitlines()[-1] == "1 rows cannot be run"


LEAVES = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(LEAVES, lambda deep: st.lists(deep) | st.dictionaries(st.text(), deep)))
def test_any_value_is_a_row_or_named(value: Any) -> None:
    for fields, _ in ROWS.values():
        assert isinstance(find_fault(value, fields), str)
