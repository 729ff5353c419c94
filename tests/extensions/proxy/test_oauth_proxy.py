"""The SDK's OAuth client signs in through the proxy, at a real authorization server, for a server that wants tokens."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from keyhole.config.config import Config
from keyhole.extensions.proxy.oauth_proxy import (
    Front,
    SignIn,
    SignInClient,
    is_replaceable,
    named_metadata,
    resource_metadata,
    rewrite_challenge,
    server_metadata,
    with_resource,
)
from tests.extensions.proxy.test_http_app import ACCEPT, http_proxy

OAUTH_SERVER = [sys.executable, str(Path(__file__).with_name("oauth_server.py"))]
CALLBACK = "http://127.0.0.1:1/callback"
INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
).encode()  # fmt: skip
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


@contextmanager
def oauth_server(*words: str) -> Iterator[dict[str, str]]:
    process = subprocess.Popen([*OAUTH_SERVER, *words], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        ports = json.loads(process.stdout.readline())
        yield {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    finally:
        process.kill()
        process.communicate()


@dataclass
class Person:
    """A client's storage, and a person who follows the redirects of a sign-in in a browser."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    pages: list[str] = field(default_factory=list)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    async def open_browser(self, url: str) -> None:
        self.pages.append(url)
        async with httpx2.AsyncClient() as browser:
            while not self.pages[-1].startswith(CALLBACK):
                response = await browser.get(self.pages[-1])
                assert response.status_code == 302, response.text
                self.pages.append(response.headers["location"])

    async def await_callback(self) -> AuthorizationCodeResult:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.pages[-1]).query).items()}
        return AuthorizationCodeResult(code=query.get("code", ""), state=query.get("state"), iss=query.get("iss"))


@asynccontextmanager
async def signed_in(url: str, person: Person, mode: str = "legacy") -> AsyncIterator[Client]:
    metadata = OAuthClientMetadata(client_name="test", redirect_uris=[AnyUrl(CALLBACK)])
    auth = OAuthClientProvider(url, metadata, person, person.open_browser, person.await_callback)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=20) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    with oauth_server() as servers:
        yield servers


@pytest.fixture(scope="module")
def url(servers: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with http_proxy(tmp_path_factory.mktemp("home"), "--url", f"{servers['server']}/mcp") as url:
        yield url


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_signs_in_through_the_proxy_and_calls(url: str, servers: dict[str, str], mode: str) -> None:
    async def run() -> None:
        person = Person()
        async with signed_in(url, person, mode) as client:
            result = await client.call_tool("note", {"number": 7})
            assert result.content[0].text == "note 7"  # type: ignore[union-attr]
            text = (await client.call_tool("all_notes", {})).content[0].text  # type: ignore[union-attr]
            id = text.split('Next: read_artifact(id="')[1][:16]
            more = await client.call_tool("read_artifact", {"id": id, "query": "008999 note"})
            assert "008999 note" in more.content[0].text  # type: ignore[union-attr]
        first, second, _ = person.pages
        assert first.startswith(url.removesuffix("/mcp") + "/oauth/authorize?")
        assert second.startswith(servers["authorization"] + "/authorize?")
        assert parse_qs(urlsplit(second).query)["resource"] == [f"{servers['server']}/mcp"]

    asyncio.run(run())


def post(url: str, body: bytes, **headers: str) -> httpx2.Response:
    return httpx2.post(url, content=body, headers={**ACCEPT, **headers}, timeout=20)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wr0ng"}])
def test_a_refusal_comes_back_with_its_status_and_the_proxys_metadata(url: str, headers: dict[str, str]) -> None:
    for _ in range(3):
        response = post(url, INITIALIZE, **headers)
        assert response.status_code == 401
        challenge = response.headers["www-authenticate"]
        origin = url.removesuffix("/mcp")
        assert f'resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp"' in challenge
        assert "mcp-session-id" not in response.headers
        assert response.json()["error"]["data"]["code"] == "authorization_required"
        assert "wr0ng" not in response.text


def test_the_metadata_is_that_of_the_proxy(url: str, servers: dict[str, str]) -> None:
    origin = url.removesuffix("/mcp")
    resource = httpx2.get(f"{origin}/.well-known/oauth-protected-resource/mcp").json()
    assert resource["resource"] == url
    assert resource["authorization_servers"] == [origin]
    assert resource["scopes_supported"] == ["notes"]
    server = httpx2.get(f"{origin}/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == origin
    assert server["registration_endpoint"] == f"{servers['authorization']}/register"
    assert httpx2.get(f"{origin}/oauth/other").status_code == 404
    assert httpx2.post(f"{origin}/oauth/token", content=b"a=" + b"x" * 70_000).status_code == 413
    assert httpx2.get(f"{origin}/.well-known/oauth-protected-resource/mcp", headers={"Host": "evil"}).status_code == 421


def test_a_session_belongs_to_the_credentials_that_opened_it(url: str) -> None:
    async def run() -> str:
        person = Person()
        async with signed_in(url, person):
            assert person.tokens
            return person.tokens.access_token

    token = asyncio.run(run())
    opened = post(url, INITIALIZE, Authorization=f"Bearer {token}")
    assert opened.status_code == 200
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    call = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note","arguments":{"number":1}}}'
    assert post(url, call, **session).status_code == 404
    assert post(url, call, **session, Authorization="Bearer other").status_code == 404
    assert httpx2.get(url, headers={**ACCEPT, **session}).status_code == 404
    session["Authorization"] = f"Bearer {token}"
    assert post(url, INITIALIZED, **session).status_code == 202
    assert b"note 1" in post(url, call, **session).content


def test_a_client_that_renews_its_token_keeps_its_session(url: str, servers: dict[str, str]) -> None:
    async def run() -> None:
        person = Person()
        async with signed_in(url, person) as client:
            assert (await client.call_tool("note", {"number": 1})).content
            first = person.tokens
            httpx2.post(f"{servers['authorization']}/forget")
            result = await client.call_tool("note", {"number": 2})
            assert result.content[0].text == "note 2"  # type: ignore[union-attr]
            assert person.tokens != first

    asyncio.run(run())


def test_no_token_is_logged_or_stored(tmp_path: Path, servers: dict[str, str]) -> None:
    async def run(url: str) -> Person:
        person = Person()
        async with signed_in(url, person) as client:
            await client.call_tool("all_notes", {})
        return person

    log: list[bytes] = []
    with http_proxy(tmp_path, "--url", f"{servers['server']}/mcp?api_key=k3y", log=log) as url:
        person = asyncio.run(run(url))
        assert post(url, INITIALIZE, Authorization="Bearer wr0ng-t0ken").status_code == 401
    assert person.tokens and person.tokens.refresh_token and person.client and person.client.client_secret
    code = parse_qs(urlsplit(person.pages[-1]).query)["code"][0]
    tokens = (person.tokens.access_token, person.tokens.refresh_token, person.client.client_secret, code)
    kept = b"".join([*log, *(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())])
    assert log
    for secret in (*tokens, "wr0ng-t0ken", "k3y"):
        assert secret.encode() not in kept


def get(url: str, path: str) -> Any:
    """Return what the application of a sign-in answers in this process."""
    sent: list[Any] = []

    async def app(*_: Any) -> None:
        raise AssertionError("the request belongs to the sign-in")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "scheme": "http", "path": path, "headers": [(b"host", b"h:1")]}
    asyncio.run(SignIn(url, SignInClient(Config(), url)).around(app)(scope, None, send))  # type: ignore[arg-type]
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_an_authorization_server_that_names_itself_is_not_replaced() -> None:
    with oauth_server("iss") as servers:
        url = f"{servers['server']}/mcp"
        _, resource = get(url, "/.well-known/oauth-protected-resource/mcp")
        assert resource["resource"] == "http://h:1/mcp"
        assert resource["authorization_servers"] == [f"{servers['authorization']}/"]
        assert get(url, "/.well-known/oauth-authorization-server")[0] == 404


def test_a_server_that_cannot_be_reached_fails_the_sign_in_plainly() -> None:
    status, answer = get("http://127.0.0.1:1/mcp", "/.well-known/oauth-protected-resource/mcp")
    assert (status, answer["error"]) == (502, "sign_in_failed")
    assert answer["message"] == "the sign-in cannot be handed on: could not connect to 127.0.0.1:1"


@contextmanager
def documents_server(documents: dict[str, Any]) -> Iterator[str]:
    """Serve JSON documents by path. `HERE` in them stands for the URL of the server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = documents.get(self.path)
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found).replace("HERE", f"http://127.0.0.1:{server.server_port}").encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


RESOURCE = {"resource": "HERE/mcp", "authorization_servers": ["HERE"]}
ISSUER = {"issuer": "HERE", "authorization_endpoint": "HERE/authorize", "token_endpoint": "HERE/token"}


@pytest.mark.parametrize(
    ("resource", "issuer", "fault"),
    [
        ({"resource": "https://bank.example/mcp"}, {}, "the metadata of the server is that of another, bank.example"),
        ({}, {"issuer": "https://bank.example"}, "the metadata of the authorization server is that of another"),
        ({}, {"token_endpoint": "http://h.example/t"}, "the token_endpoint is neither https nor on loopback"),
        ({}, {"authorization_endpoint": "javascript:1"}, "the authorization_endpoint is neither https nor on loopback"),
        ({}, {"padding": "x" * 1_000_000}, "the response of 127.0.0.1 is too large or incomplete"),
    ],
)
def test_metadata_that_would_send_tokens_elsewhere_is_refused(
    resource: dict[str, str], issuer: dict[str, str], fault: str
) -> None:
    documents = {
        "/.well-known/oauth-protected-resource/mcp": {**RESOURCE, **resource},
        "/.well-known/oauth-authorization-server": {**ISSUER, **issuer},
    }
    with documents_server(documents) as url:
        status, answer = get(url, "/.well-known/oauth-authorization-server")
    assert (status, answer["message"]) == (502, f"the sign-in cannot be handed on: {fault}")


def test_a_server_with_the_metadata_of_2025_03_26_is_signed_in_to() -> None:
    with documents_server({"/.well-known/oauth-authorization-server": ISSUER}) as url:
        assert get(url, "/.well-known/oauth-protected-resource/mcp")[0] == 404
        status, answer = get(url, "/.well-known/oauth-authorization-server")
    assert (status, answer["token_endpoint"]) == (200, "http://h:1/oauth/token")


def test_credentials_of_the_command_line_keep_those_of_the_callers_away(tmp_path: Path, servers: Any) -> None:
    header = ("--header", "Authorization: Bearer wr0ng")
    with http_proxy(tmp_path, "--url", f"{servers['server']}/mcp", *header) as url:
        response = post(url, INITIALIZE, Authorization="Bearer mine")
        assert response.status_code == 200
        assert "authorization_required" in response.text
        assert httpx2.get(url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")).status_code == 404


# Documents and forms.

FRONT = Front("http://127.0.0.1:8765/mcp")
OWN = 'resource_metadata="http://127.0.0.1:8765/.well-known/oauth-protected-resource/mcp"'
SERVER = {"issuer": "https://as", "authorization_endpoint": "https://as/authorize", "token_endpoint": "https://as/t"}


@pytest.mark.parametrize(
    ("challenge", "rewritten"),
    [
        ("", f"Bearer {OWN}"),
        ('Bearer realm="x"', 'Bearer realm="x"'),
        ('Bearer resource_metadata="https://h/a,b", scope="a b"', f'Bearer {OWN}, scope="a b"'),
        ("Bearer Resource_Metadata = https://h/a, error=x", f"Bearer {OWN}, error=x"),
    ],
)
def test_a_challenge_names_the_metadata_of_the_proxy(challenge: str, rewritten: str) -> None:
    assert rewrite_challenge(challenge, FRONT) == rewritten


def test_the_metadata_that_a_server_names_is_found() -> None:
    assert named_metadata('Bearer scope="a", resource_metadata="https://h/m"') == "https://h/m"
    assert named_metadata('Bearer scope="a"') == ""


def test_the_resource_is_the_proxy_and_other_fields_stay() -> None:
    found = {"resource": "https://h/mcp", "authorization_servers": ["https://as"], "x": [1], "signed_metadata": "j"}
    expected = {"resource": FRONT.resource, "authorization_servers": [FRONT.origin], "x": [1]}
    assert resource_metadata(found, FRONT, replaced=True) == expected
    kept = resource_metadata(found, FRONT, replaced=False)
    assert kept == {**expected, "authorization_servers": ["https://as"]}


def test_codes_and_tokens_are_asked_for_at_the_proxy() -> None:
    found = {**SERVER, "registration_endpoint": "https://as/register", "device_authorization_endpoint": "https://as/d"}
    assert server_metadata(found, FRONT) == {
        "issuer": "http://127.0.0.1:8765",
        "authorization_endpoint": "http://127.0.0.1:8765/oauth/authorize",
        "token_endpoint": "http://127.0.0.1:8765/oauth/token",
        "registration_endpoint": "https://as/register",
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"authorization_response_iss_parameter_supported": True}, False),
        ({"require_pushed_authorization_requests": True}, False),
        ({"token_endpoint": None}, False),
        ({"token_endpoint": "https://other/t"}, False),
        ({"token_endpoint": "https://as:444/t"}, False),
        ({"registration_endpoint": "https://other/r"}, False),
        ({"jwks_uri": "https://other/keys"}, True),
    ],
)
def test_a_server_whose_answers_name_it_is_not_replaced(changes: dict[str, object], expected: bool) -> None:
    assert is_replaceable({**SERVER, **changes}) is expected


def test_only_the_resource_of_a_form_is_replaced() -> None:
    form = "grant_type=authorization_code&code=a%2Bb&resource=http%3A%2F%2Fproxy&empty="
    assert parse_qsl(with_resource(form, "https://h/mcp?a=1&b"), keep_blank_values=True) == [
        ("grant_type", "authorization_code"),
        ("code", "a+b"),
        ("resource", "https://h/mcp?a=1&b"),
        ("empty", ""),
    ]
