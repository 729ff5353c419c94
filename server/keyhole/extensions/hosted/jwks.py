"""Fetch and cache the public keys of an OAuth issuer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import Api, ApiCall
from keyhole.serve.http.origins import is_secure_url
from keyhole.text.parse_json import parse_json

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
"""The accepted signature algorithms and their key types (RFC 7518, RFC 8037). `none` is excluded, since it proves
nothing, and HMAC, since an attacker could use the public key as the secret."""

FRESH_SECONDS: Final = 600.0
"""Age in seconds at which keys are fetched again, so that a withdrawn key soon stops working."""
STALE_SECONDS: Final = 3_600.0
"""Age in seconds up to which keys are used while their issuer cannot be reached."""
REFRESH_INTERVAL: Final = 60.0
"""Minimum seconds between two requests for keys: anybody can forge tokens that name unknown keys."""
RETRY_INTERVAL: Final = 5.0
"""Minimum seconds between two requests after a failure, so that users of an issuer that starts at the same time as this
server do not wait a minute."""
REFRESH_TIMEOUT: Final = 5.0
"""Seconds for all requests of one refresh, for which callers wait."""
MAX_KEYS: Final = 100
"""Maximum keys of one issuer; real issuers have two to ten."""

_PRIVATE_FIELDS: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


class IssuerKeys:
    """The cached keys of one issuer."""

    def __init__(
        self,
        issuer: str,
        jwks_url: str,
        api: Api,
        now: Callable[[], float] = time.monotonic,
        timeout: float = REFRESH_TIMEOUT,
    ) -> None:
        self._issuer = issuer
        self._jwks_url = jwks_url
        self._api = api
        self._now = now
        self._timeout = timeout
        self._keys: tuple[dict[str, Any], ...] = ()
        self._parsed: dict[tuple[str | None, str], PyJWK] = {}
        """Results of `select_key`; parsing a key takes longer than checking a signature."""
        self._fetched_at = self._tried_at = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, kid: str | None, algorithm: str) -> PyJWK | None:
        """Return the key that a token names, or None if the issuer has no such key.

        Raises KeyholeError (connect_failure) if the key is not cached and the issuer's keys cannot be fetched.
        """
        key = self._get_cached(kid, algorithm)
        if key is not None and (self._lock.locked() or self._now() - self._fetched_at < FRESH_SECONDS):
            return key  # while one caller refreshes, the others use the cached key
        async with self._lock:
            if self._needs_refresh(kid, algorithm):
                await self._refresh()
        key = self._get_cached(kid, algorithm)
        if key is None and self._fetched_at < self._tried_at:
            raise KeyholeError(Code.CONNECT_FAILURE, "the keys of the authorization server cannot be fetched")
        return key

    def _get_cached(self, kid: str | None, algorithm: str) -> PyJWK | None:
        if self._now() - self._fetched_at >= STALE_SECONDS:
            return None
        if (kid, algorithm) not in self._parsed and (key := select_key(self._keys, kid, algorithm)) is not None:
            self._parsed[kid, algorithm] = key
        return self._parsed.get((kid, algorithm))

    def _needs_refresh(self, kid: str | None, algorithm: str) -> bool:
        """Return whether to fetch the keys now; another caller may just have done it."""
        if self._get_cached(kid, algorithm) is not None and self._now() - self._fetched_at < FRESH_SECONDS:
            return False
        has_failed = self._fetched_at < self._tried_at
        return self._now() - self._tried_at >= (RETRY_INTERVAL if has_failed else REFRESH_INTERVAL)

    async def _refresh(self) -> None:
        self._tried_at = self._now()
        try:
            async with asyncio.timeout(self._timeout):
                self._keys = read_signing_keys(await self._fetch_json(self._jwks_url or await self._find_jwks_url()))
            self._parsed.clear()
            self._fetched_at = self._tried_at
        except TimeoutError:
            log.warning("the keys of %s did not arrive within %g seconds", self._issuer, self._timeout)
        except (KeyholeError, ValueError) as error:
            log.warning("the keys of %s cannot be fetched: %s", self._issuer, getattr(error, "message", error))
        if self._fetched_at < self._tried_at:
            self._tried_at = self._now()  # the end of the attempt, or all waiting callers would retry one by one

    async def _find_jwks_url(self) -> str:
        """Return the URL of the keys from the issuer's metadata. Raises KeyholeError or ValueError."""
        for url in metadata_urls(self._issuer):
            try:
                return read_jwks_url(await self._fetch_json(url), self._issuer)
            except KeyholeError as error:
                if error.code is not Code.NOT_FOUND:
                    raise
        raise ValueError("it has no metadata; KEYHOLE_OAUTH_JWKS_URL can name the address of its keys")

    async def _fetch_json(self, url: str) -> Any:
        reply = await self._api.send(ApiCall(url))
        if reply.status != 200:
            code = Code.NOT_FOUND if 400 <= reply.status < 500 else Code.HTTP_STATUS
            raise KeyholeError(code, f"HTTP {reply.status} at {url}")
        try:
            return parse_json(reply.body)
        except ValueError as error:
            raise ValueError(f"{url} is not JSON") from error


def metadata_urls(issuer: str) -> tuple[str, ...]:
    """Return the possible URLs of an issuer's metadata: RFC 8414 section 3.1, OpenID Connect Discovery section 4."""
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


def read_jwks_url(metadata: Any, issuer: str) -> str:
    """Return the URL of the keys in an issuer's metadata.

    Raises ValueError if the URL is not secure, or the metadata is of another issuer.
    """
    named_issuer = metadata.get("issuer") if isinstance(metadata, dict) else None
    if named_issuer != issuer:
        raise ValueError(f"the metadata is that of {str(named_issuer)[:200]!r}")
    url = metadata.get("jwks_uri")
    if not isinstance(url, str) or not is_secure_url(url):
        raise ValueError("the metadata names no https address of keys")
    return url


def read_signing_keys(document: Any) -> tuple[dict[str, Any], ...]:
    """Return the public parts of the signing keys in a JWKS. Raises ValueError if it has no signing key."""
    rows = document.get("keys") if isinstance(document, dict) else None
    keys = [row for row in rows[:MAX_KEYS] if _is_signing_key(row)] if isinstance(rows, list) else []
    if not keys:
        raise ValueError("it names no key that signs tokens")
    return tuple({name: value for name, value in key.items() if name not in _PRIVATE_FIELDS} for key in keys)


def _is_signing_key(row: Any) -> bool:
    if not isinstance(row, dict) or row.get("kty") not in ALGORITHMS.values():
        return False
    operations = row.get("key_ops", ["verify"])
    verifies = isinstance(operations, list) and "verify" in operations
    return verifies and row.get("use", "sig") == "sig" and row.get("alg", "RS256") in ALGORITHMS


def select_key(keys: Sequence[Mapping[str, Any]], kid: str | None, algorithm: str) -> PyJWK | None:
    """Return the key that a token's header names, or None. Without a `kid`, return the only key for the algorithm."""
    matching = [
        key
        for key in keys
        if key["kty"] == ALGORITHMS[algorithm]
        and key.get("alg", algorithm) == algorithm
        and kid in {None, key.get("kid")}
    ]
    if not matching or (kid is None and len(matching) > 1):
        return None
    from jwt import PyJWK, PyJWTError

    try:
        return PyJWK(dict(matching[0]), algorithm)
    except (PyJWTError, ValueError):
        return None  # malformed, or on a curve that does not belong to the algorithm
