"""A request with half of a surrogate pair is answered as any other; nothing else is changed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from keyhole.serve.surrogates import mended, without_halves
from tests.serve.test_run import Process

TEXTS = st.text(st.sampled_from('\\u"/dD8c0') | st.characters() | st.sampled_from("\ud800\udbff\udc00\udfff😀"))


@pytest.mark.parametrize(
    ("line", "whole"),
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
def test_only_halves_are_replaced(line: str, whole: str) -> None:
    assert without_halves(line) == whole


@given(TEXTS)
def test_every_text_becomes_what_can_be_written_and_keeps_all_else(text: str) -> None:
    read = json.loads(without_halves(json.dumps(text)))
    assert read == re.sub("[\ud800-\udfff]", "\ufffd", json.loads(json.dumps(text)))
    read.encode("utf-8")


@pytest.mark.parametrize("line", ['{"jsonrpc": "2.0", "id": 1', "[1]", "5", r'{"x": "\ud800"}', ""])
def test_what_is_no_message_stays_the_failure_that_it_was(line: str) -> None:
    with pytest.raises(ValidationError) as caught:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    assert mended(caught.value) is caught.value


def test_a_message_and_another_failure_pass() -> None:
    message = SessionMessage(
        types.jsonrpc_message_adapter.validate_json('{"jsonrpc":"2.0","method":"x"}', by_name=False)
    )
    failure = RuntimeError("x")
    assert mended(message) is message
    assert mended(failure) is failure


def test_a_real_server_answers_a_call_with_half_of_a_pair(tmp_path: Path) -> None:
    server = Process(tmp_path)
    server.request(1, "tools/call", {"name": "read_artifact", "arguments": {"id": "a\ud800"}})
    text = server.answer(1)["result"]["content"][0]["text"]
    assert text.startswith("unknown_artifact: ")
    server.request(2, "tools/call", {"name": "search", "arguments": {"query": "cut \ud83d", "scope": "stored"}})
    assert server.answer(2)["result"]["content"][0]["text"].startswith("no_results: ")
    assert server.close() == 0
