"""Access tokens against a real issuer on loopback, through the real network client."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from keyhole.config.config import Config
from keyhole.extensions.hosted.authenticate import TokenOwner, check_token, read_key_id, read_scopes, read_token_rules
from keyhole.extensions.hosted.jwks import IssuerKeys
from keyhole.fetch.client import HttpFetcher
from tests.support.issuer import AUDIENCE, Issuer, issuer, private_key, public_jwk

NOW = int(time.time())


@pytest.fixture
def server() -> Iterator[Issuer]:
    with issuer() as running:
        yield running


@asynccontextmanager
async def keys(server: Issuer) -> AsyncIterator[IssuerKeys]:
    own = frozenset({server.url.removeprefix("http://")})
    async with HttpFetcher(Config(), "test", apis=own) as api:
        yield IssuerKeys(server.url, "", api)


def settings(server: Issuer, **more: Any) -> Config:
    return Config(oauth_issuer=server.url, public_url=AUDIENCE, **more)


def check_tokens(server: Issuer, *tokens: str, **more: Any) -> list[TokenOwner | None]:
    """Return the owner of each token, or None."""
    want = read_token_rules(settings(server, **more))

    async def run() -> list[TokenOwner | None]:
        async with keys(server) as known:
            return [await one(token, known) for token in tokens]

    async def one(token: str, known: IssuerKeys) -> TokenOwner | None:
        named = read_key_id(token)
        key = await known.find(*named) if named else None
        return check_token(token, key, named[1], want) if named and key else None

    return asyncio.run(run())


@pytest.mark.parametrize("algorithm", ["RS256", "PS384", "ES256", "ES384", "EdDSA"])
def test_a_valid_token_names_its_tenant(server: Issuer, algorithm: str) -> None:
    server.keys = [public_jwk("RS256", "other"), public_jwk(algorithm, "mine")]
    found = check_tokens(server, server.token(algorithm, "mine"))
    assert found == [TokenOwner(f"{server.url} alice", server.url, "alice", ("keyhole",))]


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": NOW - 3_600},
        {"exp": None},
        {"exp": "soon"},
        {"exp": float("inf")},
        {"nbf": NOW + 3_600},
        {"iat": NOW + 3_600},
        {"aud": "https://other.example/mcp"},
        {"aud": None},
        {"aud": []},
        {"aud": {"a": AUDIENCE}},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"iss": ["list"]},
        {"sub": None},
        {"sub": ""},
        {"sub": "a" * 256},
        {"sub": "a\nb"},
    ],
    ids=lambda changed: str(changed).replace(str(NOW - 3_600), "an hour ago").replace(str(NOW + 3_600), "in an hour"),
)
def test_a_token_with_a_wrong_claim_is_rejected(server: Issuer, changed: dict[str, Any]) -> None:
    assert check_tokens(server, _raw(server, server.claims(**changed))) == [None]


def _raw(server: Issuer, claims: dict[str, Any]) -> str:
    """Sign claims that the library would not sign."""
    signed = jwt.api_jws.encode(json.dumps(claims).encode(), private_key("RS256", "first"), "RS256", {"kid": "first"})
    return str(signed)


def test_clocks_may_differ_by_some_seconds(server: Issuer) -> None:
    now = int(time.time())
    found = check_tokens(server, server.token(exp=now - 5), server.token(nbf=now + 5), server.token(exp=now - 60))
    assert [one is not None for one in found] == [True, True, False]


@pytest.mark.parametrize("audience", [AUDIENCE, f"{AUDIENCE}/", ["https://other.example", AUDIENCE]])
def test_the_audience_can_be_one_of_several_and_end_with_a_slash(server: Issuer, audience: Any) -> None:
    assert check_tokens(server, server.token(aud=audience))[0] is not None


def test_the_audience_setting_replaces_the_public_url(server: Issuer) -> None:
    found = check_tokens(server, server.token(aud="api://keyhole"), server.token(), oauth_audience="api://keyhole")
    assert [one is not None for one in found] == [True, False]


def test_a_setting_selects_the_claim_of_the_tenant(server: Issuer) -> None:
    found = check_tokens(
        server, server.token(org="acme"), server.token(), server.token(org=["acme"]), oauth_tenant="org"
    )
    assert [one and one.tenant for one in found] == [f"{server.url} acme", None, None]


def test_forged_tokens_are_rejected(server: Issuer) -> None:
    public = private_key("RS256", "first").public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    good = server.token()
    head, body, signature = good.split(".")
    others = jwt.encode(server.claims(sub="bob"), "x" * 32, "HS256").split(".")[1]
    forged = {
        "alg none": jwt.encode(server.claims(), "", "none", {"kid": "first"}),
        "alg none, capitals": _head({"alg": "nOnE", "kid": "first"}) + f".{body}.",
        "HS256 with the public key": _hs256(server, pem),
        "another key under the same name": server.token(key=private_key("RS256", "evil")),
        "another key type under the same name": server.token("ES256", key=private_key("ES256", "evil")),
        "claims changed": f"{head}.{others}.{signature}",
        "signature cut": f"{head}.{body}.{signature[:-4]}",
        "no signature": f"{head}.{body}.",
        "a key of its own in the header": _own_key(server, {"jwk": public_jwk("RS256", "evil")}),
        "the address of a key in the header": _own_key(server, {"jku": f"{server.url}/evil"}),
        "a critical header": _own_key(server, {"crit": ["exp"]}, "first"),
        "nested": _head({"alg": "RS256", "kid": "first", "x": 1}) + "." + "[" * 3_000 + ".",
        "kid is a list": _head({"alg": "RS256", "kid": ["first"]}) + f".{body}.{signature}",
        "kid is a path": _head({"alg": "RS256", "kid": "../../etc/passwd"}) + f".{body}.{signature}",
        "no JSON": "a.b.c",
        "nothing": "",
        "long": "a" * 100_000,
        "not ASCII": "é.é.é",
    }
    found = dict(zip(forged, check_tokens(server, *forged.values()), strict=True))
    assert found == dict.fromkeys(forged)
    assert check_tokens(server, good)[0] is not None


def _head(header: dict[str, Any]) -> str:
    return str(jwt.utils.base64url_encode(json.dumps(header).encode()).decode())


def _hs256(server: Issuer, pem: bytes) -> str:
    """Sign with a public key as the secret, by hand, since the library refuses."""
    import hashlib
    import hmac

    signed = f"{_head({'alg': 'HS256', 'kid': 'first'})}.{_head(server.claims())}"
    return f"{signed}.{jwt.utils.base64url_encode(hmac.digest(pem, signed.encode(), hashlib.sha256)).decode()}"


def _own_key(server: Issuer, header: dict[str, Any], kid: str = "evil") -> str:
    return jwt.encode(server.claims(), private_key("RS256", kid), "RS256", {"kid": kid, **header})


def test_a_token_signed_with_a_short_key_is_rejected(server: Issuer) -> None:
    weak: Any = generate_private_key(65_537, 1_024)  # noqa: S505 - it must be refused
    maker: Any = jwt.get_algorithm_by_name("RS256")
    server.keys = [{**maker.to_jwk(weak.public_key(), as_dict=True), "kid": "weak"}]
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = server.token(kid="weak", key=weak)
    assert check_tokens(server, token) == [None]


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [({"scope": "a b"}, ("a", "b")), ({"scp": ["a", 5]}, ("a",)), ({"scp": "a"}, ("a",)), ({}, ()), ({"scope": 5}, ())],
)
def test_scopes_are_read_in_all_usual_forms(claims: dict[str, Any], scopes: tuple[str, ...]) -> None:
    assert read_scopes(claims) == scopes
