"""Authenticate HTTP requests: map each token to an SDK user whose `client_id` is the tenant's name.

The SDK reads the header, refuses requests with WWW-Authenticate, binds a session to the user that opened it, and serves
the metadata by which clients find the authorization server. A token is one of the operator's file (token_file.py), or
an access token of an OAuth 2.1 authorization server, which is checked here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

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
from keyhole.extensions.hosted.jwks import ALGORITHMS, IssuerKeys
from keyhole.extensions.hosted.token_file import MAX_TOKEN_CHARS, TokenFile
from keyhole.fetch.base import Api
from keyhole.serve.http.asgi import App, Receive, Scope, Send
from keyhole.serve.http.host import RETRY_AFTER, Verifier

if TYPE_CHECKING:
    from jwt import PyJWK

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
    limited = replace(config, max_bytes=MAX_JWKS_BYTES, proxy="", deny_domains=frozenset())
    return HttpFetcher(limited, build_user_agent(config), apis=endpoints)


# Access tokens of an OAuth 2.1 authorization server. The rules are those of RFC 9068 and RFC 8725: a signature by one
# of the own keys of the issuer with an accepted algorithm, then issuer, audience and times. PyJWT does the
# cryptography. The log gets the reason of a failure, never the token.

LEEWAY: Final = 30.0
"""Seconds by which the clocks of the issuer and this machine may differ."""
MAX_SUBJECT: Final = 255
"""Maximum characters of the claim that names a tenant: OpenID Connect's limit for `sub`."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The issuer and audience that a token must have, and the claim that names its tenant."""

    issuer: str
    audiences: tuple[str, ...]
    tenant_claim: str


@dataclass(frozen=True, slots=True)
class TokenOwner:
    """The claims of a valid token."""

    tenant: str
    issuer: str
    subject: str
    scopes: tuple[str, ...]


def read_token_rules(config: Config) -> TokenRules:
    """Return the token rules that the settings define.

    An audience is accepted with and without a final slash, since libraries add one to a URL without a path.
    """
    audience = config.oauth_audience or config.public_url
    bare = audience.rstrip("/")
    return TokenRules(config.oauth_issuer, (audience, bare, f"{bare}/"), config.oauth_tenant)


def read_key_id(token: str) -> tuple[str | None, str] | None:
    """Return the key id and algorithm in a token's header, unverified; None for an invalid header."""
    import jwt

    if len(token) > MAX_TOKEN_CHARS:
        return None
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    kid, algorithm = header.get("kid"), header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(kid, str | None):
        return None
    return kid, algorithm


def check_token(token: str, key: PyJWK, algorithm: str, rules: TokenRules) -> TokenOwner | None:
    """Verify a token with its key and return its owner; None for an invalid token."""
    import jwt

    try:
        claims = jwt.decode(
            token,
            key=key.key,
            algorithms=[algorithm],  # read_key_id has accepted it, and the key is for it
            audience=rules.audiences,
            issuer=rules.issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
        )
    except (jwt.PyJWTError, ValueError, OverflowError, RecursionError) as error:
        log.info("a token was refused: %s", type(error).__name__)  # the message may quote the token
        return None
    name = claims.get(rules.tenant_claim)
    if not isinstance(name, str) or not 0 < len(name) <= MAX_SUBJECT or not name.isprintable():
        log.info("a token was refused: its claim %s is not a valid tenant", rules.tenant_claim)
        return None
    # Subjects are unique only within their issuer. A URL has no space, so two pairs cannot have the same name.
    return TokenOwner(
        f"{rules.issuer} {name}", rules.issuer, str(claims.get("sub", name))[:MAX_SUBJECT], read_scopes(claims)
    )


def read_scopes(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a token's scopes, from `scope` (RFC 8693) or `scp` (large issuers): separated by spaces, or a list."""
    scopes = claims.get("scope", claims.get("scp", ""))
    names = scopes.split() if isinstance(scopes, str) else scopes if isinstance(scopes, list) else []
    return tuple(name for name in names if isinstance(name, str))
