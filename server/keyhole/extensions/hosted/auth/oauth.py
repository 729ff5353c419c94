"""Check access tokens of an OAuth 2.1 authorization server.

The rules are those of RFC 9068 and RFC 8725: a signature by one of the issuer's own keys with an accepted algorithm,
then issuer, audience and times. PyJWT does the cryptography. The log gets the reason of a failure, never the token.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from keyhole.config.config import Config
from keyhole.extensions.hosted.auth.jwks import ALGORITHMS
from keyhole.extensions.hosted.auth.token_file import MAX_TOKEN_CHARS

if TYPE_CHECKING:
    from jwt import PyJWK

log = logging.getLogger(__name__)

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
