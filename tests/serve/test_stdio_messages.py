"""Invalid lines over stdio: lone surrogates are repaired, all other invalid requests are answered with an error."""

from __future__ import annotations

import json
import re
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from keyhole.serve.stdio import Item, StdioMessages, error_reply, repair_message, replace_lone_surrogates
from tests.serve.test_run import Process

TEXTS = st.text(st.sampled_from('\\u"/dD8c0') | st.characters() | st.sampled_from("\ud800\udbff\udc00\udfff😀"))


def parse_failure(line: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (r'"\ud800"', r'"\ufffd"'),
        (r'"a\uDFFFb"', r'"a\ufffdb"'),
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\ude00\ud83d"', r'"\ufffd\ufffd"'),
        (r'"\ud83d\ud83d\ude00"', r'"\ufffd\ud83d\ude00"'),
        (r'"\\ud800"', r'"\\ud800"'),
        (r'"\\\ud800"', r'"\\\ufffd"'),
        (r'"\u0041\n"', r'"\u0041\n"'),
    ],
)
def test_only_lone_surrogates_are_replaced(text: str, repaired: str) -> None:
    assert replace_lone_surrogates(text) == repaired


@given(TEXTS)
def test_every_repaired_text_is_valid_utf_8_and_otherwise_unchanged(text: str) -> None:
    repaired = json.loads(replace_lone_surrogates(json.dumps(text)))
    assert repaired == re.sub("[\ud800-\udfff]", "\ufffd", json.loads(json.dumps(text)))
    repaired.encode("utf-8")


@pytest.mark.parametrize("line", ['{"jsonrpc": "2.0", "id": 1', "[1]", "5", r'{"x": "\ud800"}', ""])
def test_other_invalid_lines_are_not_repaired(line: str) -> None:
    failure = parse_failure(line)
    assert repair_message(failure) is failure


def test_messages_and_other_errors_pass_unchanged() -> None:
    message = SessionMessage(
        types.jsonrpc_message_adapter.validate_json('{"jsonrpc":"2.0","method":"x"}', by_name=False)
    )
    failure = RuntimeError("x")
    assert repair_message(message) is message
    assert repair_message(failure) is failure


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        ("{", -32700, None),
        ("nonsense", -32700, None),
        ("[" * 50_000, -32700, None),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, None),
        ("5", -32600, None),
        ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, 1),
        ('{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": []}', -32600, "x"),
    ],
)
def test_an_invalid_request_is_answered_with_its_id_if_it_has_one(line: str, code: int, id: str | int | None) -> None:
    reply = error_reply(parse_failure(line))
    assert reply
    assert (reply.error.code, reply.id) == (code, id)


@pytest.mark.parametrize(
    "line",
    [
        "",
        " \t",
        '{"jsonrpc": "2.0", "method": 5}',
        '{"jsonrpc": "2.0", "method": "a", "params": 5}',
        '{"jsonrpc": "2.0", "id": 1, "result": 5}',
        '{"jsonrpc": "2.0", "id": 1, "error": 5}',
        "{}",
    ],
)
def test_empty_lines_notifications_and_responses_are_not_answered(line: str) -> None:
    assert error_reply(parse_failure(line)) is None


def test_a_reply_to_a_disconnected_client_is_dropped() -> None:
    async def run() -> Item:
        client, read = anyio.create_memory_object_stream[Item](1)
        write, replies = anyio.create_memory_object_stream[SessionMessage](1)
        replies.close()
        async with client, write, StdioMessages(read, write) as messages:
            await client.send(parse_failure("{"))
            return await messages.receive()

    assert isinstance(anyio.run(run), ValidationError)


def test_a_real_server_answers_a_call_with_a_lone_surrogate(tmp_path: Path) -> None:
    server = Process(tmp_path)
    server.request(1, "tools/call", {"name": "read_artifact", "arguments": {"id": "a\ud800"}})
    text = server.answer(1)["result"]["content"][0]["text"]
    assert text.startswith("unknown_artifact: ")
    server.request(2, "tools/call", {"name": "search", "arguments": {"query": "cut \ud83d", "scope": "stored"}})
    assert server.answer(2)["result"]["content"][0]["text"].startswith("no_results: ")
    assert server.close() == 0
