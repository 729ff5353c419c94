"""Messages that parsers fail on, such as deep JSON, are named errors, and the messages beside them pass.

In both directions, and over stdio and HTTP on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.extensions.proxy.client import Conversing
from tests.extensions.proxy.scripted_server import expand
from tests.extensions.proxy.test_transparency import proxied

DEPTHS = (100, 190, 500, 992, 1_000, 5_000, 20_000)
READABLE = 190
"""The largest of these depths that is relayed, with the levels around it."""
REFUSED = ("invalid_argument", "invalid_request")
SHAPES = ("ARRAYS", "OBJECTS", "MIXED")
NESTED = [
    (shape, depth, f"{shape}:{depth // 2 if shape == 'MIXED' else depth}") for shape in SHAPES for depth in DEPTHS
]
OK = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ok"}]}}'


@pytest.fixture(scope="module", params=["stdio-stdio", "stdio-http", "http-stdio"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversing]:
    front, back = request.param.split("-")
    with proxied(tmp_path_factory.mktemp("home"), front, back) as client:
        client.greet()
        yield client


def raw(client: Conversing, id: object, *lines: str) -> Any:
    """Call a tool that sends these lines, and return the answer of the call."""
    return client.call(id, "raw", lines=lines)


def code(message: Any) -> str:
    error = message["error"]  # over HTTP, a body that is too deep is refused before it is read as a message
    return str(error["data"]["code"] if isinstance(error, dict) else error)


def text(message: Any) -> str:
    return str(message["result"]["content"][0]["text"])


def assert_alive(client: Conversing) -> None:
    assert text(client.call("alive", "small")) == "small {}"


@pytest.mark.parametrize("place", ["structuredContent", "_meta", "content"])
def test_a_deep_answer_is_relayed_or_an_error_of_its_server(client: Conversing, place: str) -> None:
    for shape, depth, nested in NESTED if place == "structuredContent" else NESTED[::5]:
        line = f'{{"jsonrpc":"2.0","id":ID,"result":{{"content":[],"{place}":{nested}}}}}'
        answer = raw(client, f"{shape}{depth}", line)
        if depth <= READABLE:
            assert answer["result"][place], nested
        else:
            assert code(answer) == "server_fault", nested
            assert "is nested more than 200 levels deep. " in answer["error"]["message"]
    assert_alive(client)


def test_a_deep_text_beside_structured_content_is_relayed_and_kept(client: Conversing) -> None:
    for depth in (500, 992, 1_000, 100_000):
        content = f'[{{"type":"text","text":"ARRAYS:{depth}"}}],"structuredContent":{{"result":1}}'
        answer = raw(client, depth, f'{{"jsonrpc":"2.0","id":ID,"result":{{"content":{content}}}}}')
        if depth < 100_000:
            assert text(answer) == "[" * depth + "1" + "]" * depth
            assert answer["result"]["structuredContent"] == {"result": 1}
        else:
            id = text(answer).rpartition('read_artifact(id="')[2][:16]
            shown = text(client.call("read", "read_artifact", id=id, offset=depth - 10, limit=21))
            assert "[[[[[[[[[[1]]]]]]]]]]" in shown


def test_other_deep_messages_of_a_server_are_left_out(client: Conversing) -> None:
    for _, depth, nested in NESTED[::4]:
        notification = f'{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":{nested}}}}}'
        nobodys = f'{{"jsonrpc":"2.0","id":{nested},"result":{{}}}}'
        assert text(raw(client, f"n{depth}", notification, OK)) == "ok"
        assert text(raw(client, f"i{depth}", nobodys, OK)) == "ok"
    assert_alive(client)


def test_each_answer_of_a_batch_is_read_without_the_deep_ones(client: Conversing) -> None:
    for _, depth, nested in NESTED[1::4]:
        other = f'{{"jsonrpc":"2.0","id":"nobody","result":{nested}}}'
        assert text(raw(client, f"b{depth}", f"[{other},{OK},{other}]")) == "ok"
        answer = raw(client, f"c{depth}", f'[{other},{{"jsonrpc":"2.0","id":ID,"result":{{"x":{nested}}}}}]')
        assert ("result" in answer) == (depth <= READABLE)


def test_a_server_gets_an_error_for_its_deep_request(client: Conversing) -> None:
    line = '{"jsonrpc":"2.0","id":ID,"method":"sampling/createMessage","params":{"x":ARRAYS:1000}}'
    answer = json.loads(text(client.call("r", "refused", line=line)))
    assert answer["error"]["data"]["code"] == "invalid_argument"
    assert "is nested more than 200 levels deep" in answer["error"]["message"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_deep_request_is_refused_and_the_next_one_is_answered(client: Conversing, shape: str) -> None:
    for depth in (992, 1_000, 20_000):
        for field in (
            '"id":7,"method":"tools/call","params":{"name":"small","arguments":{"a":%s}}',
            '"id":%s,"method":"x"',
        ):
            answer = client.post_line(expand(f'{{"jsonrpc":"2.0",{field % f"{shape}:{depth}"}}}', 0).encode())
            assert code(answer) in REFUSED, (depth, field)
        deep = expand(f'[{{"jsonrpc":"2.0","id":8,"method":"ping","params":{{"a":{shape}:{depth}}}}}]', 0).encode()
        assert code(client.post_line(deep)) in REFUSED
    assert_alive(client)


@pytest.mark.parametrize(
    "value",
    ["1e400", "-1e400", "NaN", "Infinity", "9" * 4_000, "9" * 5_000, '"\\ud800"', '"\\udc00\\ud800"', '{"a":1,"a":2}'],
    ids=lambda value: value[:12],
)
def test_numbers_surrogates_and_keys_that_parsers_differ_on_disturb_nobody(client: Conversing, value: str) -> None:
    line = f'{{"jsonrpc":"2.0","id":ID,"result":{{"content":[{{"type":"text","text":"ok"}}],"_meta":{{"x":{value}}}}}}}'
    answer = raw(client, "small", line)
    assert text(answer) == "ok" if "result" in answer else code(answer) == "server_fault"
    long = line.replace('"ok"', json.dumps("a line of a log\\n" * 3_000))
    answer = raw(client, "long", long)
    assert "Next: read_artifact(" in text(answer) if "result" in answer else code(answer) == "server_fault"
    if value.startswith('"'):
        params = f'{{"name":"big","arguments":{{"path":{value}}}}}'
        client.send_line(f'{{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{params}}}'.encode())
        assert "Next: read_artifact(" in text(client.answer_to("s"))
    assert_alive(client)


def test_a_key_that_is_given_twice_has_its_last_value(client: Conversing) -> None:
    assert text(raw(client, 1, OK.replace('"id":ID', '"id":"other","id":ID'))) == "ok"
    deep = '{"jsonrpc":"2.0","id":"other","id":ID,"result":ARRAYS:999}'
    assert code(raw(client, 2, deep)) == "server_fault"


def test_a_message_of_too_many_values_is_an_error_of_its_server(client: Conversing) -> None:
    answer = raw(client, 1, '{"jsonrpc":"2.0","id":ID,"result":[VALUES:1000001]}')
    assert code(answer) == "server_fault"
    assert "has more than 1,000,000 values" in answer["error"]["message"]
    assert_alive(client)
