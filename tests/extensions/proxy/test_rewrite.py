"""The tools of a server as the client sees them: without output schemas, with the tool that reads on."""

from __future__ import annotations

import pytest

from keyhole.extensions.proxy.rewrite import (
    PREFIXED_READER,
    QUERY_ARGUMENT,
    READER,
    Policy,
    read_intent,
    reader_name,
    rewrite_instructions,
    rewrite_tools,
    split_query,
    with_own_query,
)

TOOL = {"name": "get_log", "inputSchema": {"type": "object", "properties": {"a": {}}}, "outputSchema": {}, "new": 1}


def test_a_bounded_tool_loses_its_output_schema_and_keeps_unknown_fields() -> None:
    assert rewrite_tools([TOOL], Policy(asks_query=False)) == [
        {"name": "get_log", "inputSchema": {"type": "object", "properties": {"a": {}}}, "new": 1}
    ]


def test_a_tool_that_is_not_bounded_stays_as_it_is() -> None:
    assert rewrite_tools([TOOL], Policy(excluded=("get_*",))) == [TOOL]
    assert rewrite_tools([TOOL], Policy(only=("put_*",))) == [TOOL]


def test_the_argument_for_a_question_is_added_and_never_twice() -> None:
    (tool,) = rewrite_tools([TOOL], Policy())
    assert list(tool["inputSchema"]["properties"]) == ["a", QUERY_ARGUMENT]
    assert rewrite_tools([tool], Policy()) == [tool]


def test_a_tool_with_an_argument_of_that_name_keeps_its_own() -> None:
    own = {"name": "ask", "inputSchema": {"properties": {QUERY_ARGUMENT: {}}}}
    assert with_own_query([TOOL, own, "x", {"name": "no schema"}]) == {"ask"}
    params = {"name": "ask", "arguments": {QUERY_ARGUMENT: "why"}}
    assert split_query(params, is_own=True) == (params, "why")


@pytest.mark.parametrize(
    ("arguments", "query", "is_whole"),
    [
        ({"path": "/srv/app/main.py"}, "", True),
        ({"file_path": "C:\\srv\\main.py"}, "", True),
        ({"path": "/srv/app/main.py"}, "which port", False),
        ({"path": "/srv/app"}, "", False),
        ({"path": "."}, "", False),
        ({"pattern": "a.py"}, "", False),
    ],
)
def test_a_call_that_names_a_file_and_asks_nothing_reads_a_whole_file(
    arguments: dict[str, str], query: str, is_whole: bool
) -> None:
    assert read_intent("read", arguments, query).is_whole_file is is_whole


def test_the_argument_for_a_question_is_removed_before_the_call_is_handed_on() -> None:
    params = {"name": "get_log", "arguments": {"a": 1, QUERY_ARGUMENT: "why"}, "_meta": {}}
    assert split_query(params) == ({"name": "get_log", "arguments": {"a": 1}, "_meta": {}}, "why")
    assert split_query({"name": "x"}) == ({"name": "x"}, "")


def test_keyholes_tool_is_prefixed_where_the_server_has_one_of_that_name() -> None:
    assert reader_name([TOOL]) == READER
    assert reader_name([{"name": READER}]) == PREFIXED_READER
    assert reader_name([TOOL], PREFIXED_READER) == PREFIXED_READER


def test_the_instructions_get_one_more_line_and_other_fields_stay() -> None:
    result = rewrite_instructions({"instructions": "Be kind.", "capabilities": {"prompts": {}}, "x": 1}, READER)
    assert result["instructions"].startswith("Be kind.\nKeyhole bounds")
    assert result["capabilities"] == {"prompts": {}, "tools": {}}
    assert result["x"] == 1
    assert rewrite_instructions({"capabilities": {"tools": {"listChanged": True}}}, READER)["capabilities"] == {
        "tools": {"listChanged": True}
    }


def test_without_a_question_the_string_arguments_of_the_call_say_what_it_asks_for() -> None:
    intent = read_intent("read_file", {"path": "/srv/app/main.py", "pattern": "timeout", "count": 3, "body": "x" * 999})
    assert intent.query == "/srv/app/main.py timeout"
    assert intent.name == "main.py"
    assert intent.command == "read_file"


def test_a_question_replaces_the_arguments_and_a_command_line_is_recognised() -> None:
    intent = read_intent("bash", {"command": "pytest -q"}, "which test failed")
    assert intent.query == "which test failed"
    assert intent.command == "pytest -q"
