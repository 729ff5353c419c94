"""Only the person at this machine is admitted: by a token, then by a cookie, and only from the pages themselves."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from keyhole.serve.look.access import AccessMiddleware, Keys, check_host, cookie_name
from keyhole.serve.look.headers import HEADERS, add_headers
from keyhole.serve.look.page import LOOK
from tests.support.look import empty_look

PORT = 8766
SITE = f"http://127.0.0.1:{PORT}"


async def who(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer whether a request that was admitted has a `Look`."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"has a look" if LOOK in scope else b"has none"})


def visitor() -> TestClient:
    keys = Keys("lasting", "cookie", {"single"})
    app = add_headers(AccessMiddleware(who, empty_look(), keys, PORT))
    return TestClient(app, base_url=SITE, follow_redirects=False)


def admitted() -> TestClient:
    client = visitor()
    client.get("/?token=lasting")
    return client


def test_without_a_cookie_every_address_is_refused_with_the_way_in() -> None:
    client = visitor()
    for path in ("/", "/calls/x", "/static/look.css", "/live", "/?token=", "/?token=wrong"):
        answer = client.get(path)
        assert (answer.status_code, "link that `keyhole look` printed" in answer.text) == (403, True)
    assert not client.cookies


def test_a_token_is_exchanged_for_a_cookie_that_no_script_and_no_other_site_has() -> None:
    client = visitor()
    answer = client.get("/sessions/x?token=lasting")
    assert 'content="0; url=/sessions/x"' in answer.text and "lasting" not in answer.text
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{cookie_name(PORT)}=cookie;")
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert client.get("/").text == "has a look"


def test_the_link_that_opened_the_browser_works_once_and_the_printed_one_always() -> None:
    assert [visitor().get(f"/?token={token}").status_code for token in ("single", "lasting", "lasting")] == [200] * 3
    client = visitor()
    assert client.get("/?token=single").status_code == 200
    client.cookies.clear()
    assert client.get("/?token=single").status_code == 403


def test_a_token_does_not_lead_to_another_server() -> None:
    answer = visitor().get(f"{SITE}//evil.example/%22%3E%3Cb%3E?token=lasting")
    assert 'url=/evil.example/&quot;&gt;&lt;b&gt;"' in answer.text


@pytest.mark.parametrize(
    ("host", "allowed"),
    [("127.0.0.1:8766", True), ("localhost:8766", True), ("[::1]:8766", True), ("127.0.0.1:8767", False),
     ("127.0.0.1", False), ("evil.example:8766", False), ("127.0.0.1:8766.evil.example", False), ("", False)],
)  # fmt: skip
def test_only_names_of_loopback_with_the_own_port_are_hosts(host: str, allowed: bool) -> None:
    assert (check_host(host, 8766) is None) is allowed
    assert (check_host("localhost", 80) is None) is True


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"host": "evil.example:8766"}, 421),
        ("GET", {"origin": "https://evil.example"}, 403),
        ("GET", {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"}, 403),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}, 403),
        ("POST", {"origin": "http://127.0.0.1:9999"}, 403),
        ("POST", {"origin": "null"}, 403),
        ("POST", {}, 403),
        ("PUT", {"origin": SITE}, 405),
        ("POST", {"origin": SITE, "sec-fetch-site": "same-origin"}, 200),
        ("GET", {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 200),
    ],
)
def test_the_cookie_alone_admits_no_request_of_another_site(method: str, headers: dict[str, str], status: int) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"} if method == "POST" else {}
    assert admitted().request(method, "/", headers={**form, **headers}).status_code == status


def test_refusals_have_the_security_headers_too() -> None:
    answer = visitor().get("/")
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("value", [b"earlier", b"\xc3\xa9", b""])
def test_a_cookie_of_another_run_is_refused(value: bytes) -> None:
    answer = visitor().get("/", headers={b"cookie": cookie_name(PORT).encode() + b"=" + value})
    assert answer.status_code == 403
