"""Authenticate HTTP requests: map each token to an SDK user whose `client_id` is the tenant's name.

The SDK reads the header, refuses requests with WWW-Authenticate, binds a session to the user that opened it, and serves
the metadata by which clients find the authorization server. token_file.py and oauth.py decide whether a token is valid.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.authentication import AuthCredentials, AuthenticationError
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.routing import Router

from keyhole.config.config import Config, build_user_agent
from keyhole.errors import KeyholeError
from keyhole.extensions.hosted.auth.jwks import IssuerKeys
from keyhole.extensions.hosted.auth.oauth import check_token, read_key_id, read_token_rules
from keyhole.extensions.hosted.auth.token_file import TokenFile
from keyhole.fetch.base import Api
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.serve.http.host import RETRY_AFTER, Verifier

log = logging.getLogger(__name__)

MAX_JWKS_BYTES: Final = 1_000_000
"""Maximum bytes of an issuer's metadata or keys; real ones have ten thousand."""

_URL: Final = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
"""A URL exactly as the operator wrote it: clients compare the issuer as a string, and pydantic would add a slash."""


class FileVerifier:
    """Verifier of the tokens in KEYHOLE_TOKENS_FILE."""

    def __init__(self, tokens: TokenFile) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        grant = self._tokens.find(token)
        return None if grant is None else _access_token(grant.tenant)

    async def aclose(self) -> None:
        """Do nothing: there are no resources."""


class OAuthVerifier:
    """Verifier of the access tokens of KEYHOLE_OAUTH_ISSUER."""

    def __init__(self, config: Config, api: Api | None = None) -> None:
        self._api = api or _issuer_api(config)
        self._keys = IssuerKeys(config.oauth_issuer, config.oauth_jwks_url, self._api)
        self._rules = read_token_rules(config)

    async def verify_token(self, token: str) -> AccessToken | None:
        key_id = read_key_id(token)
        key = await self._keys.find(*key_id) if key_id else None
        owner = check_token(token, key, key_id[1], self._rules) if key_id and key else None
        return None if owner is None else _access_token(owner.tenant, owner.scopes, owner.issuer, owner.subject)

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        if (close := getattr(self._api, "aclose", None)) is not None:
            await close()


def create_verifier(config: Config) -> Verifier | None:
    """Return the verifier that the settings select; None without authentication.

    Raises KeyholeError (invalid_argument) for an invalid token file.
    """
    if config.tokens_file is not None:
        tokens = TokenFile(config.tokens_file)
        tokens.check()
        return FileVerifier(tokens)
    return OAuthVerifier(config) if config.oauth_issuer else None


def add_authentication(app: App, config: Config, verifier: Verifier | None) -> App:
    """Return `app` behind authentication, except for the public OAuth metadata. Without a verifier, return `app`."""
    if verifier is None:
        return app
    scopes = list(config.oauth_scopes)
    metadata_url, metadata_app = None, Router()
    if config.oauth_issuer:
        resource, issuer = _URL.validate_python(config.public_url), _URL.validate_python(config.oauth_issuer)
        metadata_url = build_resource_metadata_url(resource)
        metadata_app = Router(create_protected_resource_routes(resource, [issuer], scopes or None, "Keyhole"))
    required = RequireAuthMiddleware(AuthContextMiddleware(app), scopes, metadata_url)
    protected = AuthenticationMiddleware(required, _Backend(verifier), on_error=_unavailable_response)

    async def middleware(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            try:
                await app(scope, receive, send)
            finally:
                await verifier.aclose()
        elif metadata_url is not None and scope["path"] == metadata_url.path:
            await metadata_app(scope, receive, send)
        else:
            await protected(scope, receive, send)

    return middleware


class _Backend(BearerAuthBackend):
    """The SDK's authentication backend, for verifiers that may raise KeyholeError."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, AuthenticatedUser] | None:
        try:
            user: tuple[AuthCredentials, AuthenticatedUser] | None = await super().authenticate(conn)
        except KeyholeError as error:
            log.info("tokens cannot be verified: %s", error.message)  # the verifier has logged the cause
            raise AuthenticationError(error.message) from error
        return user


def _unavailable_response(_: HTTPConnection, error: Exception) -> Response:
    """Return 503 while tokens cannot be verified. A 401 would make clients discard a token that may be valid."""
    body = {"error": "authentication_unavailable", "message": str(error)}
    return JSONResponse(body, 503, {"retry-after": RETRY_AFTER})


def _access_token(tenant: str, scopes: tuple[str, ...] = (), issuer: str = "", subject: str = "") -> AccessToken:
    """Return a user for the SDK.

    It has no token, so that the token cannot be logged, and no expiry, since that was checked with a leeway that the
    SDK lacks.
    """
    claims = {"iss": issuer} if issuer else None
    return AccessToken(token="", client_id=tenant, scopes=list(scopes), subject=subject or None, claims=claims)


def _issuer_api(config: Config) -> Api:
    """Return a client for the issuer only.

    The issuer may have a private address, is reached without the proxy, and may be denied to tools, which cannot use
    this client.
    """
    from keyhole.fetch.client import HttpFetcher
    from keyhole.fetch.urls import parse_target

    urls = [url for url in (config.oauth_issuer, config.oauth_jwks_url) if url]
    endpoints = frozenset(parse_target(url).endpoint for url in urls)
    limited = replace(
        config, max_bytes=MAX_JWKS_BYTES, max_decoded_bytes=MAX_JWKS_BYTES, proxy="", deny_domains=frozenset()
    )
    return HttpFetcher(limited, build_user_agent(config), apis=endpoints)
