"""A real authorization server on loopback: metadata, keys and signed tokens."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, SECP384R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as new_ec_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as new_rsa_key
from jwt.algorithms import get_default_algorithms

from tests.support.loopback import Call, Responder, Site, response, serve

AUDIENCE = "https://keyhole.example/mcp"
METADATA = "/.well-known/oauth-authorization-server"
KEYS = "/keys"
TOKENS = "/token"


@cache
def private_key(algorithm: str, name: str = "") -> Any:
    """Return a signing key, cached by name, since generating RSA keys is slow."""
    del name
    if algorithm.startswith(("RS", "PS")):
        return new_rsa_key(65_537, 2_048)
    curves = {"ES256": SECP256R1, "ES384": SECP384R1}
    return new_ec_key(curves[algorithm]()) if algorithm in curves else Ed25519PrivateKey.generate()


def public_jwk(algorithm: str, name: str, **more: Any) -> dict[str, Any]:
    """Return the public key in the format of a JWKS."""
    maker: Any = get_default_algorithms()[algorithm]
    public = maker.to_jwk(private_key(algorithm, name).public_key(), as_dict=True)
    return {**public, "kid": name, "use": "sig", "alg": algorithm, **more}


@dataclass
class Issuer:
    """An issuer whose published documents can be changed while it runs."""

    url: str = ""
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public_jwk("RS256", "first")])
    metadata: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    site: Site = field(default_factory=Site)

    @property
    def fetches(self) -> int:
        """Number of times that the keys were fetched."""
        return sum(call.path == KEYS for call in self.site.calls)

    def answer(self, call: Call) -> bytes:
        """Return the response to a request."""
        metadata = {
            "issuer": self.url,
            "jwks_uri": self.url + KEYS,
            "authorization_endpoint": self.url + "/authorize",
            "token_endpoint": self.url + TOKENS,
            "response_types_supported": ["code"],
        }
        documents: dict[str, Any] = {METADATA: {**metadata, **self.metadata}, KEYS: {"keys": self.keys}}
        if call.path == TOKENS:
            return self._grant_token(call)
        if self.status != 200:
            return response(b"down", f"{self.status} Down", Connection="close")
        if call.path not in documents:
            return response(b"", "404 Not Found", Connection="close")
        return _json(documents[call.path])

    def _grant_token(self, call: Call) -> bytes:
        """Return a token for the requested resource. Every client gets one."""
        form = dict(parse_qsl(call.body.decode()))
        token = self.token(sub="the client", aud=form.get("resource"))
        granted = {"access_token": token, "token_type": "Bearer", "expires_in": 300}
        return _json(granted)

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Return the claims of a valid token with changes; None removes a claim."""
        now = int(time.time())
        good = {"iss": self.url, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 300, "scope": "keyhole"}
        return {name: value for name, value in {**good, **changed}.items() if value is not None}

    def token(self, algorithm: str = "RS256", kid: str = "first", key: Any = None, **changed: Any) -> str:
        """Return a token with changed claims, signed with the key named `kid`, or with `key`."""
        signing = private_key(algorithm, kid) if key is None else key
        return jwt.encode(self.claims(**changed), signing, algorithm, {"kid": kid})


def _json(document: Any) -> bytes:
    """Return a JSON response that closes the connection."""
    return response(json.dumps(document).encode(), Content_Type="application/json", Connection="close")


@contextmanager
def issuer() -> Iterator[Issuer]:
    """Run an issuer until the block ends."""
    server = Issuer()

    def make_responder(site: Site) -> Responder:
        server.site = site
        return lambda call: call.send(server.answer(call))

    with serve(make_responder) as site:
        server.url = f"http://{site.endpoint}"
        yield server
