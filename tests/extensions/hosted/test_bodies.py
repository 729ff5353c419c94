"""Bodies are read completely and checked for size, time and nesting before they are parsed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from keyhole.extensions.hosted.bodies import (
    MAX_DEPTH,
    MAX_OPEN_BYTES_PER_TENANT,
    MAX_OPENERS,
    BodyMiddleware,
    check_body,
    check_body_headers,
    nesting_depth,
)
from keyhole.serve.http.asgi import Message, Receive, Scope, Send

MESSAGE = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'


def nested(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b"[]" + b"}" * (levels - 1)


def true_depth(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if children is None else 1 + max(map(true_depth, children), default=0)


class Echo:
    """An application that records what it received, and can be paused."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.reached = asyncio.Event()
        self.both = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        assert not message["more_body"]
        self.bodies.append(message["body"])
        self.reached.set()
        if len(self.bodies) == 2:
            self.both.set()
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def ask(
    app: BodyMiddleware,
    pieces: Iterable[bytes],
    *,
    then: str = "end",
    method: str = "POST",
    headers: Any = (),
    tenant: str = "one",
) -> list[Message]:
    """Return the messages sent to a client that sends these pieces and then ends the body, disconnects or waits."""
    coming = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    if then == "end":
        coming.append({"type": "http.request", "body": b"", "more_body": False})
    elif then == "goes":
        coming.append({"type": "http.disconnect"})
    coming.reverse()
    sent: list[Message] = []

    async def receive() -> Message:
        if not coming:
            await asyncio.Event().wait()
        return coming.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    user = AuthenticatedUser(AccessToken(token="", client_id=tenant, scopes=[]))
    await app({"type": "http", "method": method, "headers": list(headers), "user": user}, receive, send)
    return sent


def status(app: BodyMiddleware, *pieces: bytes, **more: Any) -> int:
    sent = asyncio.run(ask(app, pieces, **more))
    return int(sent[0]["status"]) if sent else 0


def test_a_body_is_passed_on_in_one_piece() -> None:
    echo = Echo()
    assert status(BodyMiddleware(echo, 100), MESSAGE[:10], MESSAGE[10:]) == 200
    assert echo.bodies == [MESSAGE]


def test_a_body_one_byte_too_large_is_refused_while_it_is_read() -> None:
    echo = Echo()
    assert status(BodyMiddleware(echo, len(MESSAGE)), MESSAGE) == 200
    assert status(BodyMiddleware(echo, len(MESSAGE) - 1), MESSAGE, b"never asked for") == 413
    assert len(echo.bodies) == 1


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({b"content-length": b"100"}, None),
        ({b"content-length": b"101"}, 413),
        ({b"content-length": b"9" * 5_000}, 413),
        ({b"content-encoding": b"identity"}, None),
        ({b"content-encoding": b"gzip"}, 415),
        ({b"content-encoding": b"identity, br"}, 415),
    ],
)
def test_a_body_is_refused_by_its_headers(headers: dict[bytes, bytes], expected: int | None) -> None:
    wrong = check_body_headers(headers, 100)
    assert (wrong.status if wrong else None) == expected


def test_a_dripping_body_times_out() -> None:
    assert status(BodyMiddleware(Echo(), 100, seconds=0.01), MESSAGE[:5], then="stays", headers=[]) == 408


def test_a_client_still_sending_sees_the_refusal_before_the_connection_ends() -> None:
    sent = asyncio.run(ask(BodyMiddleware(Echo(), 10), [b"{" + b" " * 20, b"more", b"and more"]))
    assert [message["type"] for message in sent] == ["http.response.start", *["http.response.body"] * 2]
    assert (b"connection", b"close") in sent[0]["headers"]
    assert [message.get("more_body", False) for message in sent[1:]] == [True, False]


def test_a_disconnected_client_is_not_answered() -> None:
    echo = Echo()
    assert status(BodyMiddleware(echo, 100), MESSAGE[:5], then="goes") == 0
    assert not echo.bodies


def test_the_bytes_of_all_bodies_are_limited_and_released() -> None:
    async def run() -> list[int]:
        echo = Echo()
        echo.go_on.clear()
        app = BodyMiddleware(echo, 100, max_open_bytes=100)
        first = asyncio.create_task(ask(app, [MESSAGE + b" " * 20]))
        await echo.reached.wait()
        full = await ask(app, [MESSAGE])
        echo.go_on.set()
        return [(await first)[0]["status"], full[0]["status"], (await ask(app, [MESSAGE]))[0]["status"]]

    assert asyncio.run(run()) == [200, 503, 200]


@pytest.mark.parametrize("body", [b"", b"[{}]", b"null", b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b'"{}"'])
def test_a_body_that_is_not_one_object_is_refused(body: bytes) -> None:
    assert status(BodyMiddleware(Echo(), 100), body) == 400


def test_a_request_other_than_post_needs_no_body() -> None:
    assert status(BodyMiddleware(Echo(), 100), method="GET") == 200


def test_nesting_is_allowed_up_to_the_limit() -> None:
    assert check_body(nested(MAX_DEPTH)) is None
    assert check_body(nested(MAX_DEPTH + 1)) is not None
    assert check_body(b'{"a":' + b"[" * 50_000) is not None


def test_a_body_with_too_many_arrays_is_refused() -> None:
    assert check_body(b'{"a":[' + b"[]," * MAX_OPENERS + b"0]}") is not None


def test_brackets_in_strings_and_side_by_side_do_not_nest() -> None:
    assert check_body(json.dumps({"a": "[{" * 9_000, 'b\\"[': [[] for _ in range(1_000)]}).encode()) is None


def test_an_unterminated_string_hides_no_brackets() -> None:
    # The parser does not reach brackets inside it: it fails at the string.
    assert check_body(b'{"a":"' + b"[" * 15_000) is None


json_values = st.recursive(
    st.none() | st.integers() | st.text(alphabet='[]{}"\\a,:'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='[]{}"\\'), inner, max_size=4),
    max_leaves=200,
)


@given(json_values, st.booleans())
def test_the_depth_is_never_underestimated_and_exact_above_the_limit(value: Any, indented: bool) -> None:
    text = json.dumps([value] * 70, indent=2 if indented else None).encode()
    assert nesting_depth(text) == true_depth([value])


@given(st.text(alphabet='[]{}"\\,: 1', max_size=40), st.booleans())
def test_deep_nesting_never_reaches_a_recursive_parser(noise: str, valued: bool) -> None:
    body = b'{"a":' + noise.encode() + (b"1," if valued else b"") + b"[" * 5_000
    if check_body(body) is None:
        with pytest.raises(ValueError, match=r"."):  # a RecursionError is not a ValueError
            json.loads(body)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-le"])
def test_other_unicode_encodings_are_refused(encoding: str) -> None:
    hidden = '{"\u2200":' + "[" * 1_000 + "]" * 1_000 + "}"  # whose byte 0x22 is not a quote in that encoding
    wrong = check_body(hidden.encode(encoding))
    assert wrong
    assert wrong.status == 400


def test_only_lone_surrogates_in_a_body_are_replaced() -> None:
    echo = Echo()
    for body in (rb'{"a":"\ud800"}', rb'{"a":"\\ud800\ud83d\ude00"}', '{"a":"é😀"}'.encode()):
        assert status(BodyMiddleware(echo, 100), body) == 200
    assert echo.bodies == [rb'{"a":"\ufffd"}', rb'{"a":"\\ud800\ud83d\ude00"}', '{"a":"é😀"}'.encode()]


def test_one_tenant_cannot_fill_the_server_with_its_bodies() -> None:
    async def main() -> None:
        echo = Echo()
        echo.go_on.clear()
        size = MAX_OPEN_BYTES_PER_TENANT // 2
        large = MESSAGE + b" " * (size - len(MESSAGE))
        app = BodyMiddleware(echo, size)
        held = [asyncio.create_task(ask(app, [large])) for _ in range(2)]
        await echo.both.wait()
        assert (await ask(app, [MESSAGE]))[0]["status"] == 503
        echo.go_on.set()
        assert (await ask(app, [MESSAGE], tenant="another"))[0]["status"] == 200
        await asyncio.gather(*held)
        assert (await ask(app, [MESSAGE]))[0]["status"] == 200
        assert not app._open_bytes

    asyncio.run(main())
