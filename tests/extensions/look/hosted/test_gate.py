"""The gate checks the token of every request, keeps to limits, and gives each person the calls of its tenant only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.server.auth.provider import AccessToken
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look.hosted import gate as gates
from keyhole.extensions.look.hosted.gate import COOKIE, REFUSED_PER_MINUTE, Gate
from keyhole.extensions.look.page import LOOK, Look, ServedLinks
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock

OPERATOR = "operator-token-of-this-test"
FORM = {"content-type": "application/x-www-form-urlencoded", "origin": "https://mcp.example"}


class Verifier:
    """Verifier of tokens `token-NAME`, which `revoked` ends; the token `fails` cannot be checked."""

    def __init__(self) -> None:
        self.revoked: set[str] = set()

    async def verify_token(self, token: str) -> AccessToken | None:
        if token == "fails":
            raise KeyholeError(Code.CONNECT_FAILURE, "the keys cannot be fetched")
        name = token.removeprefix("token-")
        scopes = ["read"] if name != "unscoped" else []
        return None if name == token or token in self.revoked else AccessToken(token="", client_id=name, scopes=scopes)

    async def aclose(self) -> None:
        """Do nothing: there are no resources."""


class Operator:
    """The view of an operator with the token OPERATOR."""

    def admits(self, token: str) -> bool:
        return token == OPERATOR

    async def show(self) -> Response:
        return HTMLResponse("figures")


async def name_person(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the tenant of the request's Look, its path, and its body."""
    person = scope[LOOK].person if LOOK in scope else "nobody"
    body = (await Request(scope, receive).body()).decode()
    await PlainTextResponse(f"{person} {scope['path']} {body}")(scope, receive, send)


def make_gate(pages: App = name_person, verifier: Verifier | None = None, **more: Any) -> Gate:
    @asynccontextmanager
    async def open_look(tenant: str) -> AsyncIterator[Look]:
        if tenant == "broken":
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the artifact store failed")
        calls: Any = None  # the pages of these tests read no log
        yield Look(calls, MemoryStore(Clock()), Clock(), ServedLinks("/look"), tenant)

    return Gate(pages, verifier or Verifier(), open_look, Operator(), ("read",), **more)


def client_of(gate: Gate) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(gate), base_url="https://mcp.example")


def ask(gate: Gate, path: str = "/look/", token: str = "", method: str = "GET", **request: Any) -> httpx2.Response:
    """Return the response to one request with a cookie."""

    async def send() -> httpx2.Response:
        async with client_of(gate) as client:
            headers = {**({"cookie": f"{COOKIE}={token}"} if token else {}), **request.pop("headers", {})}
            return await client.request(method, path, headers=headers, **request)

    return asyncio.run(send())


def sign_in(gate: Gate, token: str, path: str = "", **headers: str) -> httpx2.Response:
    return ask(gate, "/look/sign-in", method="POST", data={"token": token, "next": path}, headers={**FORM, **headers})


def test_a_sign_in_sets_the_cookie_and_leads_to_the_page_that_was_asked_for() -> None:
    gate = make_gate()
    form = ask(gate, "/look/calls/1?a=b")
    assert form.status_code == 401
    assert form.headers["www-authenticate"] == "Bearer"
    assert 'value="/look/calls/1?a=b"' in form.text
    response = sign_in(gate, "token-one", "/look/calls/1?a=b")
    assert (response.status_code, response.headers["location"]) == (303, "/look/calls/1?a=b")
    cookie = response.headers["set-cookie"]
    assert cookie == f"{COOKIE}=token-one; Path=/; Secure; HttpOnly; SameSite=Strict"
    assert ask(gate, "/look/calls/1", "token-one").text == "one /look/calls/1 "


@pytest.mark.parametrize("token", ["", "wrong", "token-one extra", "token-unscoped", "token-one\r\nx: y", "a" * 5_000])
def test_an_invalid_token_sets_no_cookie_and_is_not_repeated(token: str) -> None:
    response = sign_in(make_gate(), token)
    assert response.status_code == 401
    assert "set-cookie" not in response.headers
    assert "This token is not valid" in response.text
    assert not token or token not in response.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "https://sibling.mcp.example"},
    ],
)
def test_another_site_can_sign_nobody_in_or_out(headers: dict[str, str]) -> None:
    response = sign_in(make_gate(), "token-attacker", **headers)
    assert response.status_code == 403
    assert "set-cookie" not in response.headers
    response = ask(make_gate(), "/look/sign-out", "token-one", "POST", headers={**FORM, **headers})
    assert response.status_code == 403
    assert "set-cookie" not in response.headers


def test_a_get_signs_nobody_in_or_out_and_a_token_in_the_address_is_ignored() -> None:
    gate = make_gate()
    for path in ("/look/sign-in?token=token-one", "/look/?token=token-one", "/look/calls?access_token=token-one"):
        response = ask(gate, path)
        assert response.status_code == 401
        assert "set-cookie" not in response.headers
    assert "set-cookie" not in ask(gate, "/look/sign-out", "token-one").headers


@pytest.mark.parametrize("path", ["/look/sign-in", "/look/sign-out", "/look"])
def test_a_person_comes_from_the_form_to_the_first_page(path: str) -> None:
    assert 'value="/look/"' in ask(make_gate(), path).text
    assert ask(make_gate(), path, "token-one").headers["location"] == "/look/"
    assert 'value="/look/"' in ask(make_gate(), "/look/actions/a", method="POST", headers=FORM).text


def test_a_sign_out_removes_the_cookie() -> None:
    response = ask(make_gate(), "/look/sign-out", "token-one", "POST", headers=FORM)
    assert response.status_code == 303
    assert response.headers["set-cookie"].startswith(f"{COOKIE}=; ")
    assert response.headers["set-cookie"].endswith("Max-Age=0")


def test_a_revoked_token_ends_at_the_next_request() -> None:
    verifier = Verifier()
    gate = make_gate(verifier=verifier)
    assert ask(gate, token="token-one").status_code == 200
    verifier.revoked.add("token-one")
    assert ask(gate, token="token-one").status_code == 401
    assert "not valid" in ask(gate, token="token-one").text


def test_a_forged_cookie_is_nobodys() -> None:
    gate = make_gate()
    for cookie in (f"{COOKIE}=one", f"{COOKIE}=token-one; {COOKIE}=token-two", "keyhole=token-one", f"{COOKIE}=token-"):
        assert ask(gate, headers={"cookie": cookie}).status_code == 401


def test_a_program_sends_the_token_in_the_header_and_the_cookie_is_ignored_then() -> None:
    gate = make_gate()
    assert ask(gate, headers={"authorization": "Bearer token-two"}).text == "two /look/ "
    assert ask(gate, token="token-one", headers={"authorization": "Bearer token-two"}).text == "two /look/ "
    assert ask(gate, token="token-one", headers={"authorization": "Bearer wrong"}).status_code == 401


def test_forms_reach_the_pages_in_one_piece_and_large_ones_are_refused() -> None:
    gate = make_gate()

    def post(token: str, body: bytes) -> httpx2.Response:
        return ask(gate, "/look/actions/a", token, "POST", headers=FORM, content=body)

    assert post("token-one", b"id=1").text == "one /look/actions/a id=1"
    assert post("token-one", b"a" * 64_001).status_code == 413
    assert post("", b"id=1").status_code == 401


def test_a_form_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "BODY_SECONDS", 0.0)

    async def never() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    for path in ("/look/sign-in", "/look/actions/a"):
        assert ask(make_gate(), path, "token-one", "POST", headers=FORM, content=never()).status_code == 408


def test_static_files_need_no_token_and_have_no_look() -> None:
    assert ask(make_gate(), "/look/static/look.css").text == "nobody /look/static/look.css "
    assert ask(make_gate(), "/look/static/a", method="POST", headers=FORM).status_code == 401


def test_the_path_without_a_slash_leads_to_the_first_page() -> None:
    response = ask(make_gate(), "/look", "token-one")
    assert (response.status_code, response.headers["location"]) == (303, "/look/")


def test_the_operator_sees_figures_and_no_page_of_a_tenant() -> None:
    gate = make_gate()
    assert sign_in(gate, OPERATOR).status_code == 303
    assert ask(gate, "/look/", OPERATOR).text == "figures"
    for path in ("/look/calls/1", "/look/texts", "/look/live"):
        assert ask(gate, path, OPERATOR).headers["location"] == "/look/"
    response = ask(gate, "/look/actions/delete-text", OPERATOR, "POST", headers=FORM, content=b"id=1")
    assert (response.status_code, response.headers["location"]) == (303, "/look/")
    assert "figures" not in ask(gate, "/look/", "token-one").text


def test_tokens_that_cannot_be_checked_now_keep_the_cookie() -> None:
    gate = make_gate()
    for response in (ask(gate, token="fails"), sign_in(gate, "fails"), ask(gate, token="token-broken")):
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) > 0
        assert "set-cookie" not in response.headers


def test_no_response_may_be_kept_in_a_cache() -> None:
    gate = make_gate()
    refused = ask(gate, "/look/", "token-one", headers={"origin": "https://evil.example"})
    for response in (ask(gate), sign_in(gate, "wrong"), sign_in(gate, "token-one"), refused, ask(gate, token="fails")):
        assert response.headers["cache-control"] == "no-store"
        assert "Cookie" in response.headers["vary"]


def test_requests_beyond_the_rate_of_a_tenant_are_refused_and_other_tenants_are_not() -> None:
    gate = make_gate(now=lambda: 0.0)

    async def run() -> None:
        async with client_of(gate) as client:
            one, two = ({"cookie": f"{COOKIE}=token-{name}"} for name in ("one", "two"))
            for _ in range(gates.REQUESTS_PER_MINUTE):
                assert (await client.get("/look/", headers=one)).status_code == 200
            refused = await client.get("/look/", headers=one)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert (await client.get("/look/", headers=two)).status_code == 200

    asyncio.run(run())


@pytest.mark.parametrize("way", ["form", "cookie", "header"])
def test_an_address_that_tries_many_tokens_waits_and_those_who_signed_in_do_not(way: str) -> None:
    now = 0.0
    gate = make_gate(now=lambda: now)

    def attempt(token: str) -> httpx2.Response:
        if way == "form":
            return sign_in(gate, token)
        return ask(gate, token=token) if way == "cookie" else ask(gate, headers={"authorization": f"Bearer {token}"})

    assert ask(gate, token="token-one").status_code == 200
    assert [attempt(f"guess-{number}").status_code for number in range(REFUSED_PER_MINUTE)] == [
        401
    ] * REFUSED_PER_MINUTE
    for token in ("guess", OPERATOR, "token-two"):
        refused = attempt(token)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "6")
        assert refused.text.startswith("sign_ins_per_minute: too many tokens of this address were refused in a minute")
    assert ask(gate, token="token-one").status_code == 200
    assert ask(gate).status_code == 401
    now = 6.0
    assert attempt(OPERATOR).status_code in {200, 303}


def test_a_tenant_has_a_few_pages_and_streams_at_once_and_they_do_not_count_against_each_other() -> None:
    async def run() -> None:
        go, arrived = asyncio.Event(), asyncio.Semaphore(0)

        async def wait(scope: Scope, receive: Receive, send: Send) -> None:
            arrived.release()
            await go.wait()
            await PlainTextResponse("done")(scope, receive, send)

        async with client_of(make_gate(wait)) as client:

            def get(path: str, name: str) -> Awaitable[httpx2.Response]:
                return asyncio.ensure_future(client.get(path, headers={"cookie": f"{COOKIE}=token-{name}"}))

            pages = [get("/look/", "one") for _ in range(gates.PAGES_AT_ONCE)]
            streams = [get("/look/live", "one") for _ in range(gates.STREAMS_AT_ONCE)]
            for _ in (*pages, *streams):
                await arrived.acquire()
            assert (await get("/look/", "one")).status_code == 429
            assert (await get("/look/live", "one")).status_code == 429
            others = [get("/look/", str(n)) for n in range(gates.MAX_PAGES - gates.PAGES_AT_ONCE)]
            for _ in others:
                await arrived.acquire()
            assert (await get("/look/", "last")).status_code == 503
            go.set()
            assert {(await each).status_code for each in (*pages, *streams, *others)} == {200}
            assert (await get("/look/", "one")).status_code == 200

    asyncio.run(run())
