"""The public keys of an OAuth issuer: asked for, kept, asked for again. No tokens are judged here."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api, ApiCall
from keyhole.serve.http.origins import LOOPBACK

if TYPE_CHECKING:
    from jwt import PyJWK

log = logging.getLogger(__name__)

ALGORITHMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
        **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
        "EdDSA": "OKP",
    }
)
"""How tokens may be signed, and the type of key for it (RFC 7518, RFC 8037). `none` proves nothing, and with HMAC the
public key could pass for the secret."""

FRESH: Final = 600.0
"""Seconds after which keys are asked for again, so that one that was withdrawn does not count for long."""
KEPT: Final = 3_600.0
"""Seconds that keys count while their issuer cannot be reached."""
AGAIN: Final = 60.0
"""Seconds between two requests for keys, however many unknown ones tokens name: anybody can make tokens up."""
AGAIN_AFTER_FAILURE: Final = 5.0
"""Seconds after a failure: an issuer that starts with us should not keep everybody out for a minute."""
WAIT: Final = 5.0
"""Seconds for all requests that lead to the keys; callers wait meanwhile."""
MAX_KEYS: Final = 100
"""Of one issuer; real ones have two to ten."""

_PRIVATE: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


class Keys:
    """The keys of one issuer."""

    def __init__(
        self, issuer: str, jwks_url: str, api: Api, now: Callable[[], float] = time.monotonic, wait: float = WAIT
    ) -> None:
        self._issuer = issuer
        self._jwks_url = jwks_url
        self._api = api
        self._now = now
        self._wait = wait
        self._keys: tuple[dict[str, Any], ...] = ()
        self._made: dict[tuple[str | None, str], PyJWK] = {}
        """What `choose` made of them, which takes longer than checking a signature."""
        self._got = self._tried = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        """The key that a token names, or None where the issuer has no such key.

        Raises KeyholeError (connect_failure) where the issuer does not say what keys it has.
        """
        found = self._chosen(kid, algorithm)
        if found is not None and (self._lock.locked() or self._now() - self._got < FRESH):
            return found  # while one caller asks, the others take what is known
        async with self._lock:
            if self._may_ask(kid, algorithm):
                await self._ask()
        found = self._chosen(kid, algorithm)
        if found is None and self._got < self._tried:
            raise KeyholeError(Code.CONNECT_FAILURE, "the authorization server does not say what its keys are")
        return found

    def _chosen(self, kid: str | None, algorithm: str) -> PyJWK | None:
        if self._now() - self._got >= KEPT:
            return None
        if (kid, algorithm) not in self._made and (key := choose(self._keys, kid, algorithm)) is not None:
            self._made[kid, algorithm] = key
        return self._made.get((kid, algorithm))

    def _may_ask(self, kid: str | None, algorithm: str) -> bool:
        """Whether it is time; another caller may just have asked."""
        if self._chosen(kid, algorithm) is not None and self._now() - self._got < FRESH:
            return False
        return self._now() - self._tried >= (AGAIN if self._got >= self._tried else AGAIN_AFTER_FAILURE)

    async def _ask(self) -> None:
        self._tried = self._now()
        try:
            async with asyncio.timeout(self._wait):
                self._keys = usable(await self._json(self._jwks_url or await self._place()))
            self._made.clear()
            self._got = self._tried
        except TimeoutError:
            log.warning("the keys of %s did not come within %g seconds", self._issuer, self._wait)
        except (KeyholeError, ValueError) as error:
            log.warning("the keys of %s cannot be had: %s", self._issuer, getattr(error, "message", error))
        if self._got < self._tried:
            self._tried = self._now()  # counted from its end: else all who waited would ask, one by one

    async def _place(self) -> str:
        """Where the issuer's metadata says that its keys are. Raises KeyholeError and ValueError."""
        for url in metadata_urls(self._issuer):
            try:
                return keys_place(await self._json(url), self._issuer)
            except KeyholeError as error:
                if error.code is not Code.NOT_FOUND:
                    raise
        raise ValueError("it has no metadata; KEYHOLE_OAUTH_JWKS_URL can name the address of its keys")

    async def _json(self, url: str) -> Any:
        reply = await self._api.ask(ApiCall(url))
        if reply.status != 200:
            code = Code.NOT_FOUND if 400 <= reply.status < 500 else Code.HTTP_STATUS
            raise KeyholeError(code, f"HTTP {reply.status} at {url}")
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{url} is not JSON") from error


def metadata_urls(issuer: str) -> tuple[str, ...]:
    """Where an issuer's metadata may be: RFC 8414 section 3.1, and OpenID Connect Discovery section 4."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return tuple(
        dict.fromkeys(
            (
                f"{root}/.well-known/oauth-authorization-server{path}",
                f"{root}{path}/.well-known/openid-configuration",
                f"{root}/.well-known/openid-configuration{path}",
            )
        )
    )


def keys_place(metadata: Any, issuer: str) -> str:
    """The address of the keys. Raises ValueError: another issuer's metadata must not lead to its keys."""
    named = metadata.get("issuer") if isinstance(metadata, dict) else None
    if named != issuer:
        raise ValueError(f"the metadata is that of {str(named)[:200]!r}")
    place = metadata.get("jwks_uri")
    if not isinstance(place, str) or not is_private(place):
        raise ValueError("the metadata names no https address of keys")
    return place


def is_private(url: str) -> bool:
    """Whether nobody on the way can change what comes from there: https, or loopback."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def usable(document: Any) -> tuple[dict[str, Any], ...]:
    """The keys of a JWKS that sign tokens, their public parts. Raises ValueError where there is none."""
    rows = document.get("keys") if isinstance(document, dict) else None
    keys = [row for row in rows[:MAX_KEYS] if _signs(row)] if isinstance(rows, list) else []
    if not keys:
        raise ValueError("it names no key that signs tokens")
    return tuple({name: value for name, value in key.items() if name not in _PRIVATE} for key in keys)


def _signs(row: Any) -> bool:
    if not isinstance(row, dict) or row.get("kty") not in ALGORITHMS.values():
        return False
    operations = row.get("key_ops", ["verify"])
    verifies = isinstance(operations, list) and "verify" in operations
    return verifies and row.get("use", "sig") == "sig" and row.get("alg", "RS256") in ALGORITHMS


def choose(keys: Sequence[Mapping[str, Any]], kid: str | None, algorithm: str) -> PyJWK | None:
    """The key that a token's header means; without a name, the only one that fits."""
    fitting = [
        key
        for key in keys
        if key["kty"] == ALGORITHMS[algorithm]
        and key.get("alg", algorithm) == algorithm
        and kid in {None, key.get("kid")}
    ]
    if not fitting or (kid is None and len(fitting) > 1):
        return None
    from jwt import PyJWK, PyJWTError

    try:
        return PyJWK(dict(fitting[0]), algorithm)
    except (PyJWTError, ValueError):
        return None  # malformed, or on a curve that the algorithm does not mean
