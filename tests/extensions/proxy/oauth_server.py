"""An MCP server and the authorization server that it trusts, each on a port of its own, for tests of a sign-in.

The first line of stdout has both ports. The authorization server is that of the Python SDK: it registers clients, asks
no person, and issues a token for the `resource` of a request. It refuses every resource but the server's URL, and the
server refuses a token for another resource. With the argument `iss`, its metadata says that its answers name it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import sys
import time
from typing import Any

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

TOKEN_SECONDS = 3_600


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The clients, codes and tokens, in memory."""

    def __init__(self, resource: str) -> None:
        self.resource = resource
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.refreshes: dict[str, RefreshToken] = {}
        self.tokens: dict[str, AccessToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        if params.resource != self.resource:
            raise AuthorizeError("invalid_target", "the resource is unknown")
        code = AuthorizationCode(
            code=secrets.token_hex(20), scopes=params.scopes or [], expires_at=time.time() + 60,
            client_id=str(client.client_id), code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource,
            subject="ada",
        )  # fmt: skip
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(str(client.client_id), authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refreshes.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.tokens.clear()
        return self._issue(str(client.client_id), scopes, refresh_token.resource)

    def _issue(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        if resource != self.resource:
            raise TokenError("invalid_target", "the resource is unknown")
        token, refresh = secrets.token_hex(20), secrets.token_hex(20)
        expires = int(time.time()) + TOKEN_SECONDS
        self.tokens[token] = AccessToken(
            token=token, client_id=client_id, scopes=scopes, expires_at=expires, resource=resource, subject="ada"
        )
        self.refreshes[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes, resource=resource)
        return OAuthToken(access_token=token, expires_in=TOKEN_SECONDS, scope=" ".join(scopes), refresh_token=refresh)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.tokens.pop(token.token, None)


def authorization_app(provider: Provider, issuer: str, *, has_iss: bool) -> Any:
    options = ClientRegistrationOptions(enabled=True, valid_scopes=["notes"], default_scopes=["notes"])
    routes = create_auth_routes(provider, AnyHttpUrl(issuer), client_registration_options=options)

    async def forget(_: Request) -> JSONResponse:
        provider.tokens.clear()
        return JSONResponse({})

    async def metadata(_: Request) -> JSONResponse:
        paths = {f"{name}_endpoint": f"{issuer}/{path}" for name, path in PATHS.items()}
        own = {"issuer": issuer, "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
        return JSONResponse({**own, **paths, "authorization_response_iss_parameter_supported": has_iss})

    well_known = Route("/.well-known/oauth-authorization-server", metadata)
    return Starlette(routes=[well_known, Route("/forget", forget, methods=["POST"]), *routes])


PATHS = {"authorization": "authorize", "token": "token", "registration": "register"}


def resource_app(provider: Provider, issuer: str) -> Any:
    auth = AuthSettings(
        issuer_url=AnyHttpUrl(issuer), resource_server_url=AnyHttpUrl(provider.resource),
        required_scopes=["notes"], validate_token_resource=True,
    )  # fmt: skip
    server = MCPServer("notes", token_verifier=provider, auth=auth)

    @server.tool()
    def note(number: int) -> str:
        return f"note {number}"

    @server.tool()
    def all_notes() -> str:
        return "\n".join(f"{number:06} note {hex(number * 7919)}" for number in range(9_000))

    return server.streamable_http_app()


async def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = {"server": one.getsockname()[1], "authorization": two.getsockname()[1]}
        issuer = f"http://127.0.0.1:{ports['authorization']}"
        provider = Provider(f"http://127.0.0.1:{ports['server']}/mcp")
        print(json.dumps(ports), flush=True)
        apps = (
            (resource_app(provider, issuer), one),
            (authorization_app(provider, issuer, has_iss="iss" in sys.argv), two),
        )
        servers = [(uvicorn.Server(uvicorn.Config(app, log_level="error")), listener) for app, listener in apps]
        await asyncio.gather(*(server.serve([listener]) for server, listener in servers))


if __name__ == "__main__":
    asyncio.run(main())
