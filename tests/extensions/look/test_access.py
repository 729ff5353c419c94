"""Only the person at this machine is admitted: by a token, then by a cookie, and only from the pages themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from keyhole.extensions.look.access import HEADERS, USED, AccessMiddleware, Keys, add_headers, check_host, cookie_name
from keyhole.extensions.look.page import LOOK
from tests.support.look import empty_look

PORT = 8766
SITE = f"http://127.0.0.1:{PORT}"


async def who(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer whether a request that was admitted has a `Look`."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"has a look" if LOOK in scope else b"has none"})


@dataclass
class Screen:
    """A terminal that keeps what it was told."""

    links: list[str] = field(default_factory=list)
    """The links of restarts."""
    finished: int = 0
    ended_streams: int = 0

    def begin(self, link: str, link_of_file: str) -> None:
        """Do nothing: the tests know the tokens."""

    def finish(self) -> None:
        self.finished += 1

    def restart(self, link: str) -> None:
        self.links.append(link)

    def end_streams(self) -> None:
        self.ended_streams += 1


def visitor(screen: Screen | None = None) -> TestClient:
    """Return a client of pages whose tokens are `lasting` and `single`, then `lasting-2` and `single-2`."""
    screen = screen or Screen()
    names = [f"{name}{suffix}" for suffix in ("", "-2", "-3") for name in ("lasting", "single", "cookie")]
    keys = Keys(lambda: names.pop(0))
    app = add_headers(AccessMiddleware(who, empty_look(), keys, PORT, screen, screen.end_streams))
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


def test_the_printed_link_works_always() -> None:
    client = visitor()
    assert [client.get("/?token=lasting").status_code for _ in range(3)] == [200] * 3


def test_the_file_is_removed_when_its_link_is_used() -> None:
    client = visitor(screen := Screen())
    client.get("/?token=lasting")
    assert screen.finished == 0
    assert client.get("/?token=single").status_code == 200
    assert screen.finished == 1


def test_the_same_browser_may_open_its_link_again() -> None:
    client = visitor(screen := Screen())
    assert [client.get("/?token=single").status_code for _ in range(2)] == [200, 200]
    assert client.get("/?token=single").text == "has a look"
    assert not screen.links


def test_a_link_that_another_program_used_first_ends_all_sessions_and_begins_anew() -> None:
    client = visitor(screen := Screen())
    stolen = {"cookie": f"{cookie_name(PORT)}={client.get('/?token=single').cookies[cookie_name(PORT)]}"}
    client.cookies.clear()
    answer = client.get("/?token=single")
    assert (answer.status_code, answer.text) == (403, USED)
    assert (screen.links, screen.ended_streams) == ([f"{SITE}/?token=lasting-2"], 1)
    assert [client.get(path, headers=stolen).status_code for path in ("/", "/?token=lasting")] == [403, 403]
    assert client.get("/?token=lasting-2").status_code == 200
    assert client.get("/").text == "has a look"


def test_who_has_a_used_link_cannot_end_the_new_sessions() -> None:
    client = visitor(screen := Screen())
    for _ in range(3):
        client.get("/?token=single")
        client.cookies.clear()
    client.get("/?token=single-2")
    assert len(screen.links) == 1
    client.get("/?token=lasting-2")
    assert client.get("/").text == "has a look"


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
