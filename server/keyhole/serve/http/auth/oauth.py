"""Access tokens of an OAuth 2.1 authorization server: whether one is good for this server, and whose it is.

The rules are those of RFC 9068 and RFC 8725: a signature by one of the issuer's own keys with an algorithm that we
chose, and then issuer, audience and times. Cryptography is PyJWT's. Nothing of a token is logged but why it failed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from keyhole.config.config import Config
from keyhole.serve.http.auth.jwks import ALGORITHMS
from keyhole.serve.http.auth.token_file import MAX_TOKEN

if TYPE_CHECKING:
    from jwt import PyJWK

log = logging.getLogger(__name__)

LEEWAY: Final = 30.0
"""Seconds by which two machines' clocks may differ."""
MAX_SUBJECT: Final = 255
"""Characters of what names a tenant: OpenID Connect's own bound of `sub`."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a token must say."""

    issuer: str
    audiences: tuple[str, ...]
    tenant_claim: str


@dataclass(frozen=True, slots=True)
class Caller:
    """What a good token says."""

    tenant: str
    issuer: str
    subject: str
    scopes: tuple[str, ...]


def expected(config: Config) -> Expected:
    """What the settings ask of a token. A URL as audience is taken with and without the slash at its end, which
    libraries add to a bare host."""
    audience = config.oauth_audience or config.public_url
    bare = audience.rstrip("/")
    return Expected(config.oauth_issuer, (audience, bare, f"{bare}/"), config.oauth_tenant)


def named_key(token: str) -> tuple[str | None, str] | None:
    """The key and the algorithm that a token says it was signed with; None for what is no token of ours. Nothing is
    proved by it yet."""
    import jwt

    if len(token) > MAX_TOKEN:
        return None
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    kid, algorithm = header.get("kid"), header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(kid, str | None):
        return None
    return kid, algorithm


def caller(token: str, key: PyJWK, algorithm: str, want: Expected) -> Caller | None:
    """Who calls with a token, or None where it is not a good one."""
    import jwt

    try:
        claims = jwt.decode(
            token,
            key=key.key,
            algorithms=[algorithm],  # one of ours, and the only one that the key is for
            audience=want.audiences,
            issuer=want.issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
        )
    except (jwt.PyJWTError, ValueError, OverflowError, RecursionError) as error:
        log.info("a token was refused: %s", type(error).__name__)  # its message may repeat what the token says
        return None
    name = claims.get(want.tenant_claim)
    if not isinstance(name, str) or not 0 < len(name) <= MAX_SUBJECT or not name.isprintable():
        log.info("a token was refused: its claim %s names no tenant", want.tenant_claim)
        return None
    # Subjects are unique only within their issuer. A URL has no space, so no two pairs make the same name.
    return Caller(f"{want.issuer} {name}", want.issuer, str(claims.get("sub", name))[:MAX_SUBJECT], scopes_of(claims))


def scopes_of(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """A token's scopes: `scope` as RFC 8693 has it, or `scp` as large issuers do, between spaces or as a list."""
    given = claims.get("scope", claims.get("scp", ""))
    names = given.split() if isinstance(given, str) else given if isinstance(given, list) else []
    return tuple(name for name in names if isinstance(name, str))
