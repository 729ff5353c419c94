"""Authentication over HTTP, with the real server in a process of its own and the SDK's client."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from keyhole.cli.demo_site import recorded_pages, serve
from keyhole.cli.main import main
from keyhole.extensions.hosted.token_file import parse_grants
from tests.support.http_server import KEYHOLE, Reply, Server, run_server, send
from tests.support.issuer import AUDIENCE, Issuer, issuer
from tests.support.loopback import unused_port
from tests.support.server_process import INITIALIZE

HEAD = "Host: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"


def post(server: Server, token: str = "", method: str = "initialize", path: str = "/mcp", more: str = "") -> Reply:
    params: dict[str, Any] = INITIALIZE if method == "initialize" else {}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    head = f"POST {path} HTTP/1.1\r\n{HEAD}{bearer}{more}Content-Length: {len(body)}\r\n\r\n"
    return send(server.port, head.encode() + body)


def issue_token(path: Path, tenant: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["tokens", "new", tenant, "--file", str(path)]) == 0
    return capsys.readouterr().out.strip()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


async def call(url: str, era: str, token: str, tool: str, arguments: dict[str, Any], auth: Any = None) -> str:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        create_mcp_http_client(headers, auth=auth) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        result = await client.call_tool(tool, arguments)
        return str(getattr(result.content[0], "text", ""))


@pytest.mark.parametrize("stateless", ["on", "off"])
def test_a_tenant_sees_its_own_pages_and_no_others(
    file: Path, capsys: pytest.CaptureFixture[str], stateless: str
) -> None:
    alice, bob = issue_token(file, "alice", capsys), issue_token(file, "bob", capsys)
    with serve(recorded_pages()) as site:
        settings = {"KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{site}", "KEYHOLE_STATELESS": stateless}
        with run_server({"KEYHOLE_TOKENS_FILE": str(file), **settings}) as server:

            def ask(era: str, token: str, tool: str, **arguments: Any) -> str:
                return anyio.run(call, server.url, era, token, tool, arguments)

            page = ask("auto", alice, "web_fetch", url=f"http://127.0.0.1:{site}/release-notes")
            id = page.partition('id="')[2].partition('"')[0]
            for era in ("auto", "legacy"):
                assert "Release notes" in ask(era, alice, "read_artifact", id=id)
                other, unknown = (ask(era, bob, "read_artifact", id=one) for one in (id, "a" * len(id)))
                assert other == unknown
                assert "unknown_artifact" in other
                assert "Release notes" not in ask(era, bob, "search", query="release notes", scope="stored")
            log = server.log.read_text(errors="replace")
    assert alice not in log
    assert bob not in log
    assert "dry-run" not in log  # nor page content


def test_a_session_belongs_to_its_tenant_only(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alice, bob = issue_token(file, "alice", capsys), issue_token(file, "bob", capsys)
    with run_server({"KEYHOLE_TOKENS_FILE": str(file)}) as server:
        session = post(server, alice).text.partition("mcp-session-id: ")[2].split("\r\n")[0]
        more = f"Mcp-Session-Id: {session}\r\n"
        assert post(server, alice, "tools/list", more=more).status == 200
        assert session not in server.log.read_text(errors="replace")
        assert post(server, bob, "tools/list", more=more).status == 404


def test_a_token_is_valid_from_its_creation_until_its_revocation(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = issue_token(file, "alice", capsys)
    with run_server({"KEYHOLE_TOKENS_FILE": str(file)}) as server:
        assert post(server, first).status == 200
        second = issue_token(file, "alice", capsys)
        assert post(server, second).status == 200
        grants, _ = parse_grants(file.read_text())
        assert main(["tokens", "revoke", next(iter(grants.values())).id, "--file", str(file)]) == 0
        assert post(server, first).status == 401
        assert post(server, second).status == 200
        file.unlink()
        gone = post(server, second)
    assert gone.status == 503
    assert "retry-after: 5" in gone.text
    assert "authentication_unavailable" in gone.text


def test_a_missing_or_invalid_token_is_refused_and_never_logged(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = issue_token(file, "alice", capsys)
    with run_server({"KEYHOLE_TOKENS_FILE": str(file)}) as server:
        refused = post(server)
        assert refused.status == 401
        assert 'www-authenticate: Bearer error="invalid_token"' in refused.text
        assert "resource_metadata" not in refused.text
        assert post(server, path=f"/mcp?access_token={token}").status == 401
        assert post(server, path=f"/mcp?access_token={token}&token={token}", token=token).status == 200
        assert post(server, more=f"Authorization: Basic {token}\r\n").status == 401
        assert post(server, token=token + "x").status == 401
        assert post(server, token="wrong", more=f"Authorization: Bearer {token}\r\n").status == 400
        assert post(server, more=f"Cookie: access_token={token}\r\n").status == 401
        assert send(server.port, f"GET /other HTTP/1.1\r\n{HEAD}\r\n".encode()).status == 401
        log = server.log.read_text(errors="replace")
    assert token not in log
    assert "POST /mcp 401" in log  # it is not empty, so what is missing from it counts


@pytest.fixture(scope="module")
def oauth() -> Iterator[tuple[Issuer, Server]]:
    with issuer() as real:
        port = unused_port()
        settings = {
            "KEYHOLE_OAUTH_ISSUER": real.url,
            "KEYHOLE_PUBLIC_URL": f"http://127.0.0.1:{port}/mcp",
            "KEYHOLE_OAUTH_SCOPES": "keyhole",
        }
        with run_server(settings, port=port) as server:
            yield real, server


def test_a_client_discovers_the_issuer_and_returns_with_a_token(
    oauth: tuple[Issuer, Server],
) -> None:
    real, server = oauth
    provider = ClientCredentialsOAuthProvider(server.url, Memory(), "the client", "its secret", issuer=real.url)
    text = anyio.run(call, server.url, "auto", "", "read_artifact", {"id": "none"}, provider)
    assert "unknown_artifact" in text


class Memory:
    """Token storage for the SDK's client."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing: the provider has the client's registration."""


def test_a_refusal_names_the_url_of_the_metadata(oauth: tuple[Issuer, Server]) -> None:
    real, server = oauth
    place = f"http://127.0.0.1:{server.port}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{place}"' in post(server).text
    path = place.partition(str(server.port))[2]
    found = send(server.port, f"GET {path} HTTP/1.1\r\n{HEAD}Origin: https://app.example\r\n\r\n".encode())
    assert found.status == 200
    assert "access-control-allow-origin: *" in found.text
    document = json.loads(found.text.partition("\r\n\r\n")[2])
    assert document["resource"] == server.url
    assert document["authorization_servers"] == [real.url]
    assert document["scopes_supported"] == ["keyhole"]
    assert document["bearer_methods_supported"] == ["header"]


def test_a_token_must_be_valid_and_have_the_required_scopes(oauth: tuple[Issuer, Server]) -> None:
    real, server = oauth
    good = real.token(aud=server.url)
    assert post(server, good).status == 200
    assert post(server, real.token(aud=AUDIENCE)).status == 401
    assert post(server, real.token(aud=server.url, exp=1)).status == 401
    refused = post(server, real.token(aud=server.url, scope="other"))
    assert refused.status == 403
    assert "insufficient_scope" in refused.text
    log = server.log.read_text(errors="replace")
    assert good not in log
    assert good.split(".")[1] not in log
    assert "a token was refused: InvalidAudienceError" in log


def test_tokens_are_not_called_invalid_while_the_issuer_is_down() -> None:
    with issuer() as real:
        real.status = 500
        settings = {"KEYHOLE_OAUTH_ISSUER": real.url, "KEYHOLE_PUBLIC_URL": AUDIENCE}
        with run_server(settings) as server:
            refused = post(server, real.token())
            assert post(server).status == 401  # a missing token is refused without the issuer
    assert refused.status == 503
    assert "authentication_unavailable" in refused.text
    assert "www-authenticate" not in refused.text


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (
            {"KEYHOLE_TOKENS_FILE": "/nowhere/tokens"},
            "No such file or directory; `keyhole tokens new TENANT` creates it",
        ),
        ({"KEYHOLE_TOKENS_FILE": "{file}"}, "KEYHOLE_TOKENS_FILE: line 1"),
        ({"KEYHOLE_TOKENS_FILE": "{file}", "KEYHOLE_OAUTH_ISSUER": "https://auth.example"}, "both set"),
    ],
)
def test_a_server_with_invalid_authentication_settings_does_not_start(
    file: Path, settings: dict[str, str], error: str
) -> None:
    file.write_text("not a token\n")
    file.chmod(0o600)
    environment = {name: value.format(file=file) for name, value in settings.items()}
    command = [*KEYHOLE, "serve", "--http", "--port", "0"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode == 2
    assert error in run.stderr
    assert "serving MCP" not in run.stderr  # it never did
    assert "Traceback" not in run.stderr
