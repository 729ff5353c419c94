"""Which requests are looked at, by their heads alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.serve.http.asgi import Message, Receive, Scope, Send
from keyhole.serve.http.host_check import Head, gated, refusal, rules

PORT = 8765
GOOD = {"host": f"127.0.0.1:{PORT}", "content-type": "application/json"}


def status(
    config: Config | None = None, method: str = "POST", path: str = "/mcp", repeat: str = "", **changed: str | None
) -> int:
    named = {name.replace("_", "-"): value for name, value in changed.items()}
    headers = [(n.encode(), v.encode("latin-1")) for n, v in {**GOOD, **named}.items() if v is not None]
    headers += [pair for pair in headers if pair[0] == repeat.encode()]
    wrong = refusal(Head(method, path, headers, PORT), rules(config or Config()))
    return wrong.status if wrong else 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", f"LocalHost:{PORT}", "[::1]", f"[::1]:{PORT}"])
def test_by_default_loopback_with_the_servers_port_is_its_host(host: str) -> None:
    assert status(host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", f"127.0.0.1.evil.example:{PORT}", "0.0.0.0", "localhost:1", "2130706433"]
)
def test_another_host_is_misdirected(host: str) -> None:
    assert status(host=host) == 421


def test_the_address_that_is_served_on_is_its_host_too_unless_hosts_are_named() -> None:
    headers = [(b"host", f"127.0.0.2:{PORT}".encode()), (b"content-type", b"application/json")]
    assert refusal(Head("POST", "/mcp", headers, PORT, "127.0.0.2"), rules(Config())) is None
    for address, config in (("127.0.0.1", Config()), ("127.0.0.2", Config(allowed_hosts=("keyhole.example",)))):
        wrong = refusal(Head("POST", "/mcp", headers, PORT, address), rules(config))
        assert wrong
        assert wrong.status == 421


@pytest.mark.parametrize("host", [None, "", "127.0.0.1:80.evil.example", f"LOCALHOST.:{PORT}", "a\xffb"])
def test_what_is_no_host_is_a_bad_request(host: str | None) -> None:
    assert status(host=host) == 400


def test_named_hosts_take_the_place_of_loopback() -> None:
    config = Config(allowed_hosts=("keyhole.example",))
    assert status(config, host="keyhole.example") == 200
    assert status(config, host=f"127.0.0.1:{PORT}") == 421


@pytest.mark.parametrize("origin", [f"http://localhost:{PORT}", f"http://[::1]:{PORT}"])
def test_a_page_of_this_server_may_ask(origin: str) -> None:
    assert status(origin=origin) == 200


@pytest.mark.parametrize("origin", ["null", "", "file://", "http://localhost", "http://localhost:1.evil.example"])
def test_other_pages_may_not(origin: str) -> None:
    assert status(origin=origin) == 403


def test_named_origins_may() -> None:
    config = Config(allowed_origins=("https://app.example",))
    assert status(config, origin="https://app.example") == 200
    assert status(config, origin=f"http://localhost:{PORT}") == 403


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", 'application/json; charset="utf-8"'])
def test_json_is_taken(kind: str) -> None:
    assert status(content_type=kind) == 200


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "text/plain; application/json", "application/jsonp", "application/json, text/plain",
     "application/json; charset=utf-16", "application/json; charset=utf-8; charset=utf-7"],
)  # fmt: skip
def test_what_a_page_could_send_without_asking_is_not(kind: str | None) -> None:
    assert status(content_type=kind) == 415


@pytest.mark.parametrize("method", ["PATCH", "TRACE", "PUT", "HEAD", "OPTIONS", "get"])
def test_a_method_that_the_protocol_has_not_is_refused(method: str) -> None:
    assert status(method=method) == 405


def test_without_sessions_there_is_nothing_to_listen_to_and_no_id_is_known() -> None:
    assert status(method="GET") == status(method="DELETE") == status(mcp_session_id="deadbeef") == 200
    stateless = Config(stateless=True)
    assert status(stateless, method="GET") == status(stateless, method="DELETE") == 405
    assert status(stateless, mcp_session_id="deadbeef") == 404


@pytest.mark.parametrize("session", ["", "a b", "x" * 129, "é"])
def test_an_id_that_no_server_gives_is_refused(session: str) -> None:
    assert status(mcp_session_id=session) == 400


@pytest.mark.parametrize("name", ["host", "content-type"])
def test_a_header_that_is_there_twice_is_refused(name: str) -> None:
    assert status(repeat=name) == 400


def test_two_tokens_are_refused() -> None:
    assert status(authorization="Bearer a", repeat="authorization") == 400


def test_two_ways_to_tell_a_bodys_length_are_refused() -> None:
    assert status(content_length="5", transfer_encoding="chunked") == 400


def test_public_metadata_is_for_pages_of_any_origin_but_for_our_hosts_alone() -> None:
    path = "/.well-known/oauth-protected-resource/mcp"
    assert status(method="GET", path=path, origin="https://app.example", content_type=None) == 200
    assert status(method="POST", path=path) == 405
    assert status(method="GET", path=path, host="evil.example") == 421


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (Config(allowed_hosts=("*",)), "KEYHOLE_ALLOWED_HOSTS: '\\*'"),
        (Config(allowed_origins=("app.example",)), "KEYHOLE_ALLOWED_ORIGINS: 'app.example'"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(config: Config, said: str) -> None:
    with pytest.raises(KeyholeError, match=said):
        rules(config)


def through(scope: Scope) -> list[Message]:
    """What the layer sends, over an application that tells that it was reached."""
    sent: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "reached"})

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        await gated(app, Config())(scope, receive, send)

    asyncio.run(run())
    return sent


def test_the_layer_asks_of_every_request_and_says_why_not() -> None:
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/mcp", "server": ("127.0.0.1", PORT)}
    good = [(name.encode(), value.encode()) for name, value in GOOD.items()]
    assert through({**scope, "headers": good}) == [{"type": "reached"}]
    start, body = through({**scope, "headers": []})
    assert start["status"] == 400
    assert b"invalid_host" in body["body"]


def test_what_is_no_http_is_passed_on_or_closed() -> None:
    assert through({"type": "lifespan"}) == [{"type": "reached"}]
    assert through({"type": "websocket"}) == [{"type": "websocket.close", "code": 1008}]
