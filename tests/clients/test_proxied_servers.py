"""The comparison of a server with the same server behind the proxy accepts only what the proxy documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.proxied_servers import (
    MAX_RESULT,
    READER,
    Talk,
    check_large,
    check_lists,
    check_small,
)

TOOL = {"name": "list", "outputSchema": {"type": "object"}}


def talk(tools: list[dict[str, Any]], small: bytes = b"{}", text: str = "", **more: Any) -> Talk:
    greeting = {"result": {"capabilities": {}, **more}}
    large = json.dumps({"result": {"content": [{"type": "text", "text": text}]}}).encode()
    return Talk(greeting, tools, [], [small], large)


def test_a_list_without_output_schemas_and_with_the_reader_is_accepted() -> None:
    check_lists(talk([TOOL]), talk([{"name": "list"}, {"name": READER}], instructions="Read on."))


@pytest.mark.parametrize("tools", [[{"name": READER}], [TOOL, {"name": READER}], [{"name": "list"}]])
def test_a_list_with_another_difference_is_a_fault(tools: list[dict[str, Any]]) -> None:
    with pytest.raises(AssertionError):
        check_lists(talk([TOOL]), talk(tools, instructions="Read on."))


def test_a_small_result_with_another_byte_is_a_fault() -> None:
    check_small(talk([], b'{"a": 1}'), talk([], b'{"a": 1}'))
    with pytest.raises(AssertionError):
        check_small(talk([], b'{"a": 1}'), talk([], b'{"a":1}'))


def test_a_large_result_is_stored_whole_and_shown_within_the_budget() -> None:
    whole = "line\n" * MAX_RESULT
    direct, proxied = talk([], text=whole), talk([], text="line")
    with pytest.raises(AssertionError):
        check_large(direct, proxied)
    proxied.stored = whole
    check_large(direct, proxied)
    with pytest.raises(AssertionError):
        check_large(direct, direct)
