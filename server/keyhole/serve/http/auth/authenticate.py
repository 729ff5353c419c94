"""Who calls over HTTP: tokens made into the SDK's authenticated users, whose `client_id` is the tenant's name.

The SDK reads the header, refuses with WWW-Authenticate, keeps a session to who began it and serves the metadata that
clients find the authorization server by. Whether a token is good is tokens.py's and oauth.py's to say.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final, Protocol

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

from keyhole.config.config import Config, agent
from keyhole.errors import KeyholeError
from keyhole.fetch.base import Api
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.serve.http.auth.jwks import Keys
from keyhole.serve.http.auth.oauth import caller, expected, named_key
from keyhole.serve.http.auth.token_file import TokenFile

log = logging.getLogger(__name__)

MAX_JWKS: Final = 1_000_000
"""Bytes of an issuer's metadata or keys; real ones have ten thousand."""
RETRY_AFTER: Final = "5"
"""Seconds after which a client may ask again where nobody can be known; keys are not asked for sooner."""

_URL: Final = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
"""A URL as the operator wrote it: clients compare the issuer's letter for letter, and pydantic would add a slash."""


class Verifier(Protocol):
    """The SDK's TokenVerifier."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who calls with a token, or None. Raises KeyholeError where that cannot be said now."""
        ...

    async def aclose(self) -> None:
        """Close what is open."""
        ...


class FileVerifier:
    """By the file of hashed tokens."""

    def __init__(self, tokens: TokenFile) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        grant = self._tokens.holder(token)
        return None if grant is None else _user(grant.tenant)

    async def aclose(self) -> None:
        """Nothing is open."""


class OAuthVerifier:
    """By the keys of the issuer that the settings name."""

    def __init__(self, config: Config, api: Api | None = None) -> None:
        self._api = api or _issuer_api(config)
        self._keys = Keys(config.oauth_issuer, config.oauth_jwks_url, self._api)
        self._expected = expected(config)

    async def verify_token(self, token: str) -> AccessToken | None:
        named = named_key(token)
        key = await self._keys.find(*named) if named else None
        found = caller(token, key, named[1], self._expected) if named and key else None
        return None if found is None else _user(found.tenant, found.scopes, found.issuer, found.subject)

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        if (close := getattr(self._api, "aclose", None)) is not None:
            await close()


def verifier(config: Config) -> Verifier | None:
    """How the settings have callers known; None where everybody is the one local user.

    Raises KeyholeError (invalid_argument) for a file of tokens that cannot be used.
    """
    if config.tokens_file is not None:
        tokens = TokenFile(config.tokens_file)
        tokens.check()
        return FileVerifier(tokens)
    return OAuthVerifier(config) if config.oauth_issuer else None


def authenticated(app: App, config: Config, known: Verifier | None) -> App:
    """The layer: lets through only who is known, and serves what anybody may know. Without a verifier, `app` itself."""
    if known is None:
        return app
    scopes = list(config.oauth_scopes)
    place, public = None, Router()
    if config.oauth_issuer:
        resource, issuer = _URL.validate_python(config.public_url), _URL.validate_python(config.oauth_issuer)
        place = build_resource_metadata_url(resource)
        public = Router(create_protected_resource_routes(resource, [issuer], scopes or None, "Keyhole"))
    required = RequireAuthMiddleware(AuthContextMiddleware(app), scopes, place)
    private = AuthenticationMiddleware(required, _Backend(known), on_error=_unavailable)

    async def layer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            try:
                await app(scope, receive, send)
            finally:
                await known.aclose()
        elif place is not None and scope["path"] == place.path:
            await public(scope, receive, send)
        else:
            await private(scope, receive, send)

    return layer


class _Backend(BearerAuthBackend):
    """The SDK's, which does not know of verifiers that cannot say."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, AuthenticatedUser] | None:
        try:
            found: tuple[AuthCredentials, AuthenticatedUser] | None = await super().authenticate(conn)
        except KeyholeError as error:
            log.info("nobody can be let in: %s", error.message)  # why was logged once, where it was found out
            raise AuthenticationError(error.message) from error
        return found


def _unavailable(_: HTTPConnection, error: Exception) -> Response:
    """A caller whom nobody can judge now is not told that the token is bad: a client would throw it away."""
    body = {"error": "authentication_unavailable", "message": str(error)}
    return JSONResponse(body, 503, {"retry-after": RETRY_AFTER})


def _user(tenant: str, scopes: tuple[str, ...] = (), issuer: str = "", subject: str = "") -> AccessToken:
    """A user as the SDK knows one. The token itself is not kept: nothing below needs it, so nothing can log it. Its
    expiry was judged, with the leeway that the SDK has not."""
    claims = {"iss": issuer} if issuer else None
    return AccessToken(token="", client_id=tenant, scopes=list(scopes), subject=subject or None, claims=claims)


def _issuer_api(config: Config) -> Api:
    """A client for the issuer alone, which may stand on a private address that no tool can reach through it."""
    from keyhole.fetch.client import HttpFetcher
    from keyhole.fetch.urls import parse_target

    urls = [url for url in (config.oauth_issuer, config.oauth_jwks_url) if url]
    own = frozenset(parse_target(url).endpoint for url in urls)
    bounded = replace(config, max_bytes=MAX_JWKS, max_decoded_bytes=MAX_JWKS)
    return HttpFetcher(bounded, agent(config), apis=own)
