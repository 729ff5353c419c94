"""The kind of a request is read from its body."""

from __future__ import annotations

import json

import pytest

from keyhole.extensions.hosted.admission import RequestInfo, read_request
from tests.support.admission import call, rpc


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (call(), RequestInfo("call", id=1, expects_rpc=True)),
        (call(id="a"), RequestInfo("call", id="a", expects_rpc=True)),
        (call(id=None), RequestInfo("call")),
        (call(id={}), RequestInfo("call", expects_rpc=True)),
        (call(id=True), RequestInfo("call", expects_rpc=True)),
        (call(id=10**30), RequestInfo("call", expects_rpc=True)),
        (call(id="a" * 10_000), RequestInfo("call", expects_rpc=True)),
        (rpc("initialize", id=3), RequestInfo(opens_session=True, id=3, expects_rpc=True)),
        (rpc("tools/list"), RequestInfo(id=1, expects_rpc=True)),
        (rpc("resources/read"), RequestInfo("call", id=1, expects_rpc=True)),
        (rpc("resources/list"), RequestInfo(id=1, expects_rpc=True)),
        (rpc("notifications/cancelled", id=None), RequestInfo()),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', RequestInfo(id=1)),
        (rpc("subscriptions/listen"), RequestInfo("stream", id=1, expects_rpc=True)),
    ],
)
def test_the_method_determines_the_kind_of_request(body: bytes, expected: RequestInfo) -> None:
    assert read_request(body) == expected


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
def test_no_spelling_evades_the_limits_on_calls(body: bytes) -> None:
    assert read_request(body).kind == "call"
