"""Bodies are whole, bounded in size, time and nesting before anybody parses one."""

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

from keyhole.serve.http.asgi import Message, Receive, Scope, Send
from keyhole.serve.http.bodies import MAX_DEPTH, MAX_HELD_EACH, MAX_OPENERS, Bounded, body_refusal, depth, head_refusal

MESSAGE = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'


def nested(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b"[]" + b"}" * (levels - 1)


def true_depth(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if children is None else 1 + max(map(true_depth, children), default=0)


class Echo:
    """An application that keeps what it received, and may be held."""

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
    app: Bounded,
    pieces: Iterable[bytes],
    *,
    then: str = "end",
    method: str = "POST",
    headers: Any = (),
    tenant: str = "one",
) -> list[Message]:
    """What is sent to a client that sends these pieces and then ends, goes away or stays."""
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


def status(app: Bounded, *pieces: bytes, **more: Any) -> int:
    sent = asyncio.run(ask(app, pieces, **more))
    return int(sent[0]["status"]) if sent else 0


def test_a_body_is_handed_on_in_one_piece() -> None:
    echo = Echo()
    assert status(Bounded(echo, 100), MESSAGE[:10], MESSAGE[10:]) == 200
    assert echo.bodies == [MESSAGE]


def test_one_byte_more_than_allowed_is_refused_while_it_comes() -> None:
    echo = Echo()
    assert status(Bounded(echo, len(MESSAGE)), MESSAGE) == 200
    assert status(Bounded(echo, len(MESSAGE) - 1), MESSAGE, b"never asked for") == 413
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
def test_what_the_head_says_of_a_body_may_refuse_it(headers: dict[bytes, bytes], expected: int | None) -> None:
    wrong = head_refusal(headers, 100)
    assert (wrong.status if wrong else None) == expected


def test_a_body_that_drips_ends_at_the_deadline() -> None:
    assert status(Bounded(Echo(), 100, seconds=0.01), MESSAGE[:5], then="stays", headers=[]) == 408


def test_a_refused_client_that_still_sends_sees_the_answer_before_the_connection_ends() -> None:
    sent = asyncio.run(ask(Bounded(Echo(), 10), [b"{" + b" " * 20, b"more", b"and more"]))
    assert [message["type"] for message in sent] == ["http.response.start", *["http.response.body"] * 2]
    assert (b"connection", b"close") in sent[0]["headers"]
    assert [message.get("more_body", False) for message in sent[1:]] == [True, False]


def test_who_goes_away_is_not_answered() -> None:
    echo = Echo()
    assert status(Bounded(echo, 100), MESSAGE[:5], then="goes") == 0
    assert not echo.bodies


def test_all_requests_together_hold_no_more_than_allowed_and_give_it_back() -> None:
    async def run() -> list[int]:
        echo = Echo()
        echo.go_on.clear()
        app = Bounded(echo, 100, max_held=100)
        first = asyncio.create_task(ask(app, [MESSAGE + b" " * 20]))
        await echo.reached.wait()
        full = await ask(app, [MESSAGE])
        echo.go_on.set()
        return [(await first)[0]["status"], full[0]["status"], (await ask(app, [MESSAGE]))[0]["status"]]

    assert asyncio.run(run()) == [200, 503, 200]


@pytest.mark.parametrize("body", [b"", b"[{}]", b"null", b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b'"{}"'])
def test_what_is_not_one_object_is_refused(body: bytes) -> None:
    assert status(Bounded(Echo(), 100), body) == 400


def test_a_request_without_a_body_needs_none() -> None:
    assert status(Bounded(Echo(), 100), method="GET") == 200


def test_a_body_nests_as_deep_as_allowed_and_no_deeper() -> None:
    assert body_refusal(nested(MAX_DEPTH)) is None
    assert body_refusal(nested(MAX_DEPTH + 1)) is not None
    assert body_refusal(b'{"a":' + b"[" * 50_000) is not None


def test_a_body_of_nothing_but_arrays_is_refused() -> None:
    assert body_refusal(b'{"a":[' + b"[]," * MAX_OPENERS + b"0]}") is not None


def test_brackets_in_strings_and_beside_each_other_do_not_nest() -> None:
    assert body_refusal(json.dumps({"a": "[{" * 9_000, 'b\\"[': [[] for _ in range(1_000)]}).encode()) is None


def test_a_string_that_never_ends_hides_no_brackets_from_a_parser() -> None:
    # What stands in it is not parsed either: the parser fails at the string.
    assert body_refusal(b'{"a":"' + b"[" * 15_000) is None


json_values = st.recursive(
    st.none() | st.integers() | st.text(alphabet='[]{}"\\a,:'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet='[]{}"\\'), inner, max_size=4),
    max_leaves=200,
)


@given(json_values, st.booleans())
def test_the_depth_is_never_less_than_the_true_one_and_exact_where_it_matters(value: Any, indented: bool) -> None:
    text = json.dumps([value] * 70, indent=2 if indented else None).encode()
    assert depth(text) == true_depth([value])


@given(st.text(alphabet='[]{}"\\,: 1', max_size=40), st.booleans())
def test_what_would_exhaust_a_recursive_parser_never_reaches_it(noise: str, valued: bool) -> None:
    body = b'{"a":' + noise.encode() + (b"1," if valued else b"") + b"[" * 5_000
    if body_refusal(body) is None:
        with pytest.raises(ValueError, match=r"."):  # a RecursionError is none
            json.loads(body)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-le"])
def test_what_pythons_parser_would_read_as_another_encoding_is_refused(encoding: str) -> None:
    hidden = '{"\u2200":' + "[" * 1_000 + "]" * 1_000 + "}"  # whose byte 0x22 is no quote there
    wrong = body_refusal(hidden.encode(encoding))
    assert wrong
    assert wrong.status == 400


def test_halves_of_surrogate_pairs_are_mended_and_nothing_else_is_touched() -> None:
    echo = Echo()
    for body in (rb'{"a":"\ud800"}', rb'{"a":"\\ud800\ud83d\ude00"}', '{"a":"é😀"}'.encode()):
        assert status(Bounded(echo, 100), body) == 200
    assert echo.bodies == [rb'{"a":"\ufffd"}', rb'{"a":"\\ud800\ud83d\ude00"}', '{"a":"é😀"}'.encode()]


def test_one_tenant_cannot_fill_the_server_with_its_bodies() -> None:
    async def main() -> None:
        echo = Echo()
        echo.go_on.clear()
        size = MAX_HELD_EACH // 2
        large = MESSAGE + b" " * (size - len(MESSAGE))
        app = Bounded(echo, size)
        held = [asyncio.create_task(ask(app, [large])) for _ in range(2)]
        await echo.both.wait()
        assert (await ask(app, [MESSAGE]))[0]["status"] == 503
        echo.go_on.set()
        assert (await ask(app, [MESSAGE], tenant="another"))[0]["status"] == 200
        await asyncio.gather(*held)
        assert (await ask(app, [MESSAGE]))[0]["status"] == 200
        assert not app._held

    asyncio.run(main())
