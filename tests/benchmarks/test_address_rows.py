"""Any file of rows is read, and each row is judged by its connections and its result."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest

from benchmarks.fetch.addresses import FIELDS, OPTIONAL_FIELDS, judge
from benchmarks.rows import parse_rows


def find_faults(line: str) -> list[str]:
    return parse_rows([line], FIELDS, OPTIONAL_FIELDS)[1]


@pytest.mark.parametrize("url", ['"http://a.example/"', "7", "null", '"\\udcff"'])
def test_a_row_with_any_url_and_a_verdict_can_be_run(url: str) -> None:
    assert find_faults('{"url": %s, "expect": "blocked"}' % url) == []  # noqa: UP031 - braces


@pytest.mark.parametrize(
    "part",
    [
        '"expect": "maybe"', '"dns": {"a.example": "10.0.0.1"}', '"dns": {"a.example": ["ten"]}', '"dns": []',
        '"http": {"http://a.example/": {"status": 302}}', '"env": {"PATH": "/"}', '"env": {"http_proxy": "a\\u0000"}',
        '"env": null', '"connect_only": [5]', '"also_ok": "blocked"', '"group": []',
    ],
)  # fmt: skip
def test_a_malformed_row_is_named_instead_of_run(part: str) -> None:
    assert len(find_faults('{"url": "", "expect": "blocked", %s}' % part)) == 1  # noqa: UP031 - braces


@pytest.mark.parametrize(
    ("expect", "result", "connects", "right"),
    [
        ("blocked", "blocked_address: no", [], True),
        ("blocked", "# A page", ["10.0.0.1"], False),
        ("blocked", "timeout: no", [], False),
        ("invalid", "invalid_argument: no", [], True),
        ("allowed", "# A page", ["2001:db8::1"], True),
        ("allowed", "# A page", ["10.0.0.1"], False),
        ("allowed", "blocked_address: no", [], False),
    ],
)
def test_a_row_is_right_by_its_verdict_and_its_permitted_connections(
    expect: str, result: str, connects: list[str], right: bool
) -> None:
    row: dict[str, Any] = {"expect": expect, "also_ok": [], "connect_only": ["2001:DB8:0::1", "a b"]}
    assert bool(judge(row, result, [ip_address(address) for address in connects])["right"]) is right
