"""What a request's body is taken for."""

from __future__ import annotations

import json

import pytest

from keyhole.serve.http.refusals import Asked, asked
from tests.support.admission import call, rpc


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (call(), Asked("call", id=1, rpc=True)),
        (call(id="a"), Asked("call", id="a", rpc=True)),
        (call(id=None), Asked("call")),
        (call(id={}), Asked("call", rpc=True)),
        (call(id=True), Asked("call", rpc=True)),
        (call(id=10**30), Asked("call", rpc=True)),
        (call(id="a" * 10_000), Asked("call", rpc=True)),
        (rpc("initialize", id=3), Asked(opens_session=True, id=3, rpc=True)),
        (rpc("tools/list"), Asked(id=1, rpc=True)),
        (rpc("resources/read"), Asked("call", id=1, rpc=True)),
        (rpc("resources/list"), Asked(id=1, rpc=True)),
        (rpc("notifications/cancelled", id=None), Asked()),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', Asked(id=1)),
        (rpc("subscriptions/listen"), Asked("stream", id=1, rpc=True)),
    ],
)
def test_a_request_is_known_by_its_method(body: bytes, expected: Asked) -> None:
    assert asked(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"1", b"\xff\xfe", b"[" * 100_000, b'{"id": ' + b"9" * 10_000 + b"}",
        b"[" + call() + b"]",
        call().decode().encode("utf-16"), call().decode().encode("utf-32"), b"\xef\xbb\xbf" + call(),
        b'{"method": "tools/list", "method": "tools/call"}', b'{"method": "tools\\u002fcall"}',
        json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": float("nan"), "id": 1}).encode(),
    ],
)  # fmt: skip
def test_nothing_gets_around_the_limits_of_calls_by_its_spelling(body: bytes) -> None:
    assert asked(body).kind == "call"
