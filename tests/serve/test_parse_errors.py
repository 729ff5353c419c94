"""What is said of a line that is no message, and of which nothing is said."""

from __future__ import annotations

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from keyhole.serve.parse_errors import Answered, answer_to
from keyhole.serve.stdio_stream import Item


def fault(line: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


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
def test_a_request_that_is_none_is_answered_with_its_id_where_it_has_one(
    line: str, code: int, id: str | int | None
) -> None:
    answer = answer_to(fault(line))
    assert answer
    assert (answer.error.code, answer.id) == (code, id)


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
def test_nothing_is_said_where_nobody_waits(line: str) -> None:
    assert answer_to(fault(line)) is None


def test_a_client_that_is_gone_is_told_nothing_and_ends_nothing() -> None:
    async def run() -> Item:
        give, read = anyio.create_memory_object_stream[Item](1)
        write, taken = anyio.create_memory_object_stream[SessionMessage](1)
        taken.close()
        async with give, write, Answered(read, write) as messages:
            await give.send(fault("{"))
            return await messages.receive()

    assert isinstance(anyio.run(run), ValidationError)
