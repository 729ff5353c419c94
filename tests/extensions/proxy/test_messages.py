"""Lines become messages that keep their bytes; Keyhole's own messages name a stable code."""

from __future__ import annotations

import json

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.messages import build, encode, error_response, invalid_line, key_of, parse


def test_a_message_keeps_its_bytes() -> None:
    line = b'{ "id": 1,"jsonrpc":"2.0", "method" : "x", "unknown": [1.50] }'
    (message,) = parse(line)
    assert message.raw == line
    assert message.kind == "request"
    assert message.method == "x"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"id":"a","method":"x"}', "request"),
        (b'{"method":"x"}', "notification"),
        (b'{"id":null,"method":"x"}', "notification"),
        (b'{"id":1,"result":{}}', "response"),
        (b'{"id":1,"error":{}}', "response"),
        (b'{"id":1}', "other"),
        (b'{"id":true,"result":{}}', "other"),
        (b"{}", "other"),
    ],
)
def test_the_kind_of_a_message_is_told_from_its_fields(line: bytes, kind: str) -> None:
    assert parse(line)[0].kind == kind


def test_a_batch_becomes_its_messages() -> None:
    assert [each.method for each in parse(b'[{"method":"a"},{"method":"b"}]')] == ["a", "b"]


@pytest.mark.parametrize("line", [b"", b"Server started", b"[]", b"[1]", b"3", b'{"id":1', b"\xff\xfe"])
def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        parse(line)


def test_an_escaped_lone_surrogate_is_accepted_and_written_again() -> None:
    (message,) = parse(b'{"method":"\\ud800"}')
    assert json.loads(encode(message.data)) == {"method": "\ud800"}


def test_ids_of_different_types_are_different() -> None:
    assert len({key_of(1), key_of("1"), key_of(1.5), key_of(1)}) == 3
    assert key_of(True) is None
    assert key_of(None) is None


def test_changing_a_field_keeps_the_unknown_ones_and_their_order() -> None:
    message = build({"unknown": 1, "id": 2, "result": {}}).with_data(id=3)
    assert message.raw == b'{"unknown":1,"id":3,"result":{}}'


def test_an_error_names_its_code_the_cause_and_the_next_step() -> None:
    data = error_response(7, KeyholeError(Code.SERVER_UNAVAILABLE, "the server fs has ended", server="fs")).data
    assert data["id"] == 7
    assert data["error"]["message"].startswith("server_unavailable: the server fs has ended. ")
    assert data["error"]["data"] == {"code": "server_unavailable", "retry": True, "server": "fs"}


def test_an_invalid_line_is_answered_without_an_id() -> None:
    assert invalid_line().data["id"] is None
