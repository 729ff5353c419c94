"""Requests are accepted or refused by their heads."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extensions.hosted.host_check import (
    HeadRules,
    RequestHead,
    add_host_check,
    check_head,
    parse_host_rule,
    parse_origin_rule,
    read_rules,
)
from keyhole.serve.http.asgi import Message, Receive, Scope, Send
from keyhole.serve.http.origins import Origin, parse_authority

PORT = 8765
GOOD = {"host": f"127.0.0.1:{PORT}", "content-type": "application/json"}


def status(
    config: Config | None = None, method: str = "POST", path: str = "/mcp", repeat: str = "", **changed: str | None
) -> int:
    named = {name.replace("_", "-"): value for name, value in changed.items()}
    headers = [(n.encode(), v.encode("latin-1")) for n, v in {**GOOD, **named}.items() if v is not None]
    headers += [pair for pair in headers if pair[0] == repeat.encode()]
    wrong = check_head(RequestHead(method, path, headers, PORT), read_rules(config or Config()))
    return wrong.status if wrong else 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", f"LocalHost:{PORT}", "[::1]", f"[::1]:{PORT}"])
def test_the_default_host_is_loopback_with_the_servers_port(host: str) -> None:
    assert status(host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", f"127.0.0.1.evil.example:{PORT}", "0.0.0.0", "localhost:1", "2130706433"]
)
def test_another_host_gets_421(host: str) -> None:
    assert status(host=host) == 421


def test_the_listeners_address_is_allowed_unless_hosts_are_configured() -> None:
    headers = [(b"host", f"127.0.0.2:{PORT}".encode()), (b"content-type", b"application/json")]
    assert check_head(RequestHead("POST", "/mcp", headers, PORT, "127.0.0.2"), read_rules(Config())) is None
    for address, config in (("127.0.0.1", Config()), ("127.0.0.2", Config(allowed_hosts=("keyhole.example",)))):
        wrong = check_head(RequestHead("POST", "/mcp", headers, PORT, address), read_rules(config))
        assert wrong
        assert wrong.status == 421


@pytest.mark.parametrize("host", [None, "", "127.0.0.1:80.evil.example", f"LOCALHOST.:{PORT}", "a\xffb"])
def test_an_invalid_host_gets_400(host: str | None) -> None:
    assert status(host=host) == 400


def test_configured_hosts_replace_loopback() -> None:
    config = Config(allowed_hosts=("keyhole.example",))
    assert status(config, host="keyhole.example") == 200
    assert status(config, host=f"127.0.0.1:{PORT}") == 421


@pytest.mark.parametrize("origin", [f"http://localhost:{PORT}", f"http://[::1]:{PORT}"])
def test_the_servers_own_origin_is_allowed(origin: str) -> None:
    assert status(origin=origin) == 200


@pytest.mark.parametrize("origin", ["null", "", "file://", "http://localhost", "http://localhost:1.evil.example"])
def test_other_origins_are_refused(origin: str) -> None:
    assert status(origin=origin) == 403


def test_configured_origins_are_allowed() -> None:
    config = Config(allowed_origins=("https://app.example",))
    assert status(config, origin="https://app.example") == 200
    assert status(config, origin=f"http://localhost:{PORT}") == 403


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", 'application/json; charset="utf-8"'])
def test_json_is_accepted(kind: str) -> None:
    assert status(content_type=kind) == 200


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "text/plain; application/json", "application/jsonp", "application/json, text/plain",
     "application/json; charset=utf-16", "application/json; charset=utf-8; charset=utf-7"],
)  # fmt: skip
def test_content_types_that_need_no_preflight_are_refused(kind: str | None) -> None:
    assert status(content_type=kind) == 415


@pytest.mark.parametrize("method", ["PATCH", "TRACE", "PUT", "HEAD", "OPTIONS", "get"])
def test_methods_outside_the_protocol_are_refused(method: str) -> None:
    assert status(method=method) == 405


def test_without_sessions_get_delete_and_session_ids_are_refused() -> None:
    assert status(method="GET") == status(method="DELETE") == status(mcp_session_id="deadbeef") == 200
    stateless = Config(stateless=True)
    assert status(stateless, method="GET") == status(stateless, method="DELETE") == 405
    assert status(stateless, mcp_session_id="deadbeef") == 404


@pytest.mark.parametrize("session", ["", "a b", "x" * 129, "é"])
def test_an_invalid_session_id_is_refused(session: str) -> None:
    assert status(mcp_session_id=session) == 400


@pytest.mark.parametrize("name", ["host", "content-type"])
def test_a_repeated_header_is_refused(name: str) -> None:
    assert status(repeat=name) == 400


def test_two_tokens_are_refused() -> None:
    assert status(authorization="Bearer a", repeat="authorization") == 400


def test_content_length_with_transfer_encoding_is_refused() -> None:
    assert status(content_length="5", transfer_encoding="chunked") == 400


def test_public_metadata_allows_any_origin_but_only_allowed_hosts() -> None:
    path = "/.well-known/oauth-protected-resource/mcp"
    assert status(method="GET", path=path, origin="https://app.example", content_type=None) == 200
    assert status(method="POST", path=path) == 405
    assert status(method="GET", path=path, host="evil.example") == 421


@pytest.mark.parametrize(
    ("config", "error"),
    [
        (Config(allowed_hosts=("*",)), "KEYHOLE_ALLOWED_HOSTS: '\\*'"),
        (Config(allowed_origins=("app.example",)), "KEYHOLE_ALLOWED_ORIGINS: 'app.example'"),
    ],
)
def test_an_invalid_setting_is_named(config: Config, error: str) -> None:
    with pytest.raises(KeyholeError, match=error):
        read_rules(config)


def through(scope: Scope) -> list[Message]:
    """Return what the middleware sends, around an application that records its calls."""
    sent: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "reached"})

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        await add_host_check(app, Config())(scope, receive, send)

    asyncio.run(run())
    return sent


def test_the_middleware_checks_every_request_and_sends_the_refusal() -> None:
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/mcp", "server": ("127.0.0.1", PORT)}
    good = [(name.encode(), value.encode()) for name, value in GOOD.items()]
    assert through({**scope, "headers": good}) == [{"type": "reached"}]
    start, body = through({**scope, "headers": []})
    assert start["status"] == 400
    assert b"invalid_host" in body["body"]


def test_lifespan_passes_and_websockets_are_closed() -> None:
    assert through({"type": "lifespan"}) == [{"type": "reached"}]
    assert through({"type": "websocket"}) == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("path", ["/look", "/look/", "/look/calls/a"])
def test_the_pages_check_origin_and_method_themselves_but_not_the_host(path: str) -> None:
    rules = replace(read_rules(Config()), has_pages=True)
    foreign = (b"origin", b"https://evil.example")

    def refusal(path: str, host: bytes, rules: HeadRules) -> int:
        wrong = check_head(RequestHead("PUT", path, [(b"host", host), foreign], PORT), rules)
        return wrong.status if wrong else 200

    assert refusal(path, b"127.0.0.1", rules) == 200
    assert refusal(path, b"evil.example", rules) == 421
    assert refusal(path, b"127.0.0.1", read_rules(Config())) == 403
    assert refusal("/lookout", b"127.0.0.1", rules) == 403


# Rules of hosts and origins


@pytest.mark.parametrize(
    ("rule", "allowed", "refused"),
    [
        ("keyhole.example", ["keyhole.example", "keyhole.example:443", "keyhole.example:8765"], ["keyhole.example:1"]),
        ("keyhole.example:8443", ["keyhole.example:8443"], ["keyhole.example", "keyhole.example:443"]),
        ("keyhole.example:*", ["keyhole.example", "keyhole.example:1"], ["a.keyhole.example"]),
        ("keyhole.example.", ["keyhole.example"], ["example"]),
        ("bücher.example", ["xn--bcher-kva.example"], ["bucher.example"]),
        ("bücher.example:*", ["xn--bcher-kva.example:9"], []),
        ("[::1]:*", ["[::1]:9", "[0:0::1]"], ["localhost"]),
    ],
)
def test_a_rule_allows_only_its_host_and_ports(rule: str, allowed: list[str], refused: list[str]) -> None:
    read = parse_host_rule(rule)
    assert all(read.allows(found, 8765) for text in allowed if (found := parse_authority(text)))
    assert not any(read.allows(found, 8765) for text in refused if (found := parse_authority(text)))


def test_an_origin_rule_compares_scheme_host_and_port() -> None:
    rule = parse_origin_rule("https://app.example/")
    assert rule.allows(Origin("https", "app.example", 443))
    assert not rule.allows(Origin("http", "app.example", 443))
    assert not rule.allows(Origin("https", "app.example", 444))
    assert parse_origin_rule("http://localhost:*").allows(Origin("http", "localhost", 6274))


@pytest.mark.parametrize("text", ["*", "*.example", "https://a.example", "a b", "", "a.example:*:*", "-"])
def test_an_invalid_host_entry_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not host"):
        parse_host_rule(text)


@pytest.mark.parametrize("text", ["*", "a.example", "null", "https://*.a.example", "https://a.example/path"])
def test_an_invalid_origin_entry_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        parse_origin_rule(text)
