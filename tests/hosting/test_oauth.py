"""Access tokens against a real issuer on loopback, through the real network client."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from fakes import Clock
from hosting.issuer import AUDIENCE, KEYS, METADATA, Issuer, issuer, private_key, public_jwk
from keyhole.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.client import HttpFetcher
from keyhole.hosting.jwks import (
    AGAIN,
    AGAIN_AFTER_FAILURE,
    FRESH,
    KEPT,
    Keys,
    choose,
    keys_place,
    metadata_urls,
    usable,
)
from keyhole.hosting.oauth import Caller, caller, expected, named_key, scopes_of
from loopback import response, serve

NOW = int(time.time())


@pytest.fixture
def server() -> Iterator[Issuer]:
    with issuer() as running:
        yield running


@asynccontextmanager
async def keys(server: Issuer, clock: Clock | None = None, jwks_url: str = "") -> AsyncIterator[Keys]:
    own = frozenset({server.url.removeprefix("http://")})
    async with HttpFetcher(Config(), "test", apis=own) as api:
        yield Keys(server.url, jwks_url, api, clock or Clock())


def settings(server: Issuer, **more: Any) -> Config:
    return Config(oauth_issuer=server.url, public_url=AUDIENCE, **more)


def judged(server: Issuer, *tokens: str, **more: Any) -> list[Caller | None]:
    """Who each token belongs to."""
    want = expected(settings(server, **more))

    async def run() -> list[Caller | None]:
        async with keys(server) as known:
            return [await one(token, known) for token in tokens]

    async def one(token: str, known: Keys) -> Caller | None:
        named = named_key(token)
        key = await known.find(*named) if named else None
        return caller(token, key, named[1], want) if named and key else None

    return asyncio.run(run())


@pytest.mark.parametrize("algorithm", ["RS256", "PS384", "ES256", "ES384", "EdDSA"])
def test_a_good_token_names_its_tenant(server: Issuer, algorithm: str) -> None:
    server.keys = [public_jwk("RS256", "other"), public_jwk(algorithm, "mine")]
    found = judged(server, server.token(algorithm, "mine"))
    assert found == [Caller(f"{server.url} alice", server.url, "alice", ("keyhole",))]


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
    ids=str,
)
def test_a_token_with_a_wrong_claim_is_nobodys(server: Issuer, changed: dict[str, Any]) -> None:
    assert judged(server, _raw(server, server.claims(**changed))) == [None]


def _raw(server: Issuer, claims: dict[str, Any]) -> str:
    """Signed, though the library would not make such a token."""
    signed = jwt.api_jws.encode(json.dumps(claims).encode(), private_key("RS256", "first"), "RS256", {"kid": "first"})
    return str(signed)


def test_clocks_may_differ_by_some_seconds(server: Issuer) -> None:
    now = int(time.time())
    found = judged(server, server.token(exp=now - 5), server.token(nbf=now + 5), server.token(exp=now - 60))
    assert [one is not None for one in found] == [True, True, False]


@pytest.mark.parametrize("audience", [AUDIENCE, f"{AUDIENCE}/", ["https://other.example", AUDIENCE]])
def test_the_audience_may_be_one_of_many_and_end_in_a_slash(server: Issuer, audience: Any) -> None:
    assert judged(server, server.token(aud=audience))[0] is not None


def test_an_audience_of_the_settings_takes_the_place_of_the_public_url(server: Issuer) -> None:
    found = judged(server, server.token(aud="api://keyhole"), server.token(), oauth_audience="api://keyhole")
    assert [one is not None for one in found] == [True, False]


def test_the_settings_may_name_the_claim_of_the_tenant(server: Issuer) -> None:
    found = judged(server, server.token(org="acme"), server.token(), server.token(org=["acme"]), oauth_tenant="org")
    assert [one and one.tenant for one in found] == [f"{server.url} acme", None, None]


def test_forged_tokens_are_nobodys(server: Issuer) -> None:
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
    found = dict(zip(forged, judged(server, *forged.values()), strict=True))
    assert found == dict.fromkeys(forged)
    assert judged(server, good)[0] is not None


def _head(header: dict[str, Any]) -> str:
    return str(jwt.utils.base64url_encode(json.dumps(header).encode()).decode())


def _hs256(server: Issuer, pem: bytes) -> str:
    """By hand: the library refuses to sign with a public key."""
    import hashlib
    import hmac

    signed = f"{_head({'alg': 'HS256', 'kid': 'first'})}.{_head(server.claims())}"
    return f"{signed}.{jwt.utils.base64url_encode(hmac.digest(pem, signed.encode(), hashlib.sha256)).decode()}"


def _own_key(server: Issuer, header: dict[str, Any], kid: str = "evil") -> str:
    return jwt.encode(server.claims(), private_key("RS256", kid), "RS256", {"kid": kid, **header})


def test_a_key_too_short_to_trust_signs_nothing(server: Issuer) -> None:
    weak: Any = generate_private_key(65_537, 1_024)  # noqa: S505 - it must be refused
    maker: Any = jwt.get_algorithm_by_name("RS256")
    server.keys = [{**maker.to_jwk(weak.public_key(), as_dict=True), "kid": "weak"}]
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = server.token(kid="weak", key=weak)
    assert judged(server, token) == [None]


Asked = Callable[[Keys], Awaitable[Any]]


def with_keys(server: Issuer, clock: Clock, asked: Asked) -> Any:
    async def run() -> Any:
        async with keys(server, clock) as known:
            return await asked(known)

    return asyncio.run(run())


def test_keys_are_kept_and_a_rotated_one_is_found_within_a_minute(server: Issuer) -> None:
    clock = Clock()

    async def asked(known: Keys) -> None:
        for _ in range(20):
            assert await known.find("first", "RS256")
        assert server.fetches == 1
        server.keys = [public_jwk("RS256", "second")]
        assert await known.find("second", "RS256") is None  # just asked
        clock.advance(AGAIN)
        assert await known.find("second", "RS256") is not None
        assert await known.find("first", "RS256") is None
        assert server.fetches == 2

    with_keys(server, clock, asked)


def test_made_up_names_of_keys_make_one_request_a_minute(server: Issuer) -> None:
    clock = Clock()

    async def asked(known: Keys) -> None:
        found = await asyncio.gather(*(known.find(f"made up {number}", "RS256") for number in range(50)))
        assert found == [None] * 50
        assert server.fetches == 1
        clock.advance(AGAIN)
        await asyncio.gather(*(known.find(f"made up {number}", "RS256") for number in range(50)))
        assert server.fetches == 2

    with_keys(server, clock, asked)


def test_a_withdrawn_key_counts_no_longer_once_keys_are_asked_for_again(server: Issuer) -> None:
    clock = Clock()

    async def asked(known: Keys) -> None:
        assert await known.find("first", "RS256")
        server.keys = [public_jwk("RS256", "second")]
        clock.advance(FRESH)
        assert await known.find("first", "RS256") is None

    with_keys(server, clock, asked)


def test_an_issuer_that_is_down_is_told_apart_from_a_bad_token_and_known_keys_count_for_an_hour(
    server: Issuer,
) -> None:
    clock = Clock()

    async def asked(known: Keys) -> None:
        server.status = 503
        with pytest.raises(KeyholeError) as raised:
            await known.find("first", "RS256")
        assert raised.value.code is Code.CONNECT_FAILURE
        server.status = 200
        clock.advance(AGAIN_AFTER_FAILURE)
        assert await known.find("first", "RS256")
        server.status = 503
        clock.advance(KEPT - 1)
        assert await known.find("first", "RS256")
        with pytest.raises(KeyholeError):
            await known.find("second", "RS256")  # which the issuer may have by now
        clock.advance(1)
        with pytest.raises(KeyholeError):
            await known.find("first", "RS256")

    with_keys(server, clock, asked)


def test_an_issuer_that_does_not_listen_is_down(server: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    from loopback import unused_port

    server.url = f"http://127.0.0.1:{unused_port()}"
    with pytest.raises(KeyholeError, match="does not say"):
        with_keys(server, Clock(), lambda known: known.find("first", "RS256"))
    assert "cannot be had" in caplog.text


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://evil.example"}, {"jwks_uri": None}, {"jwks_uri": "http://evil.example/keys"}, {"jwks_uri": 5}],
    ids=str,
)
def test_metadata_of_another_and_addresses_that_others_can_change_are_not_followed(
    server: Issuer, metadata: dict[str, Any]
) -> None:
    server.metadata = metadata
    with pytest.raises(KeyholeError):
        with_keys(server, Clock(), lambda known: known.find("first", "RS256"))
    assert server.fetches == 0


def test_the_address_of_the_keys_may_be_set(server: Issuer) -> None:
    async def run() -> None:
        async with keys(server, jwks_url=server.url + KEYS) as known:
            assert await known.find("first", "RS256")

    asyncio.run(run())
    assert [call.path for call in server.site.calls] == [KEYS]


def test_metadata_is_looked_for_where_both_standards_put_it() -> None:
    assert metadata_urls("https://a.example") == (
        "https://a.example/.well-known/oauth-authorization-server",
        "https://a.example/.well-known/openid-configuration",
    )
    assert metadata_urls("https://a.example/realms/x") == (
        "https://a.example/.well-known/oauth-authorization-server/realms/x",
        "https://a.example/realms/x/.well-known/openid-configuration",
        "https://a.example/.well-known/openid-configuration/realms/x",
    )


def test_openid_metadata_is_found_where_the_other_is_not() -> None:
    documents: dict[str, bytes] = {}
    with serve(documents) as site:
        url = site.url("").rstrip("/")
        found = {"issuer": url, "jwks_uri": url + KEYS}
        documents["/.well-known/openid-configuration"] = response(json.dumps(found).encode())
        documents[KEYS] = response(json.dumps({"keys": [public_jwk("RS256", "first")]}).encode())
        assert with_keys(Issuer(url), Clock(), lambda known: known.find("first", "RS256")) is not None
        assert site.calls[0].path == METADATA


@pytest.mark.parametrize(
    "document", [None, [], {}, {"keys": {}}, {"keys": []}, {"keys": [5, {"kty": "oct", "k": "a"}]}]
)
def test_a_document_without_keys_is_a_failure(document: Any) -> None:
    with pytest.raises(ValueError, match="names no key"):
        usable(document)


def test_only_public_keys_that_sign_are_taken() -> None:
    good = public_jwk("RS256", "good")
    rows = [{**good, "use": "enc"}, {**good, "alg": "HS256"}, {**good, "key_ops": ["sign"]}, {**good, "d": "private"}]
    assert usable({"keys": rows}) == (good,)
    assert len(usable({"keys": [good] * 1_000})) == 100


def test_a_token_without_a_name_means_the_only_key_that_fits() -> None:
    rsa, curve = public_jwk("RS256", "a"), public_jwk("ES256", "b")
    assert choose((rsa, curve), None, "ES256") is not None
    assert choose((rsa, {**rsa, "kid": "c"}), None, "RS256") is None
    assert choose((rsa,), "a", "PS256") is None  # made for another algorithm
    assert choose(({**rsa, "n": "!"},), "a", "RS256") is None  # malformed


def test_the_address_of_keys_must_be_safe() -> None:
    with pytest.raises(ValueError, match="no https"):
        keys_place({"issuer": "i", "jwks_uri": "http://a.example"}, "i")
    assert keys_place({"issuer": "i", "jwks_uri": "https://a.example"}, "i") == "https://a.example"


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [({"scope": "a b"}, ("a", "b")), ({"scp": ["a", 5]}, ("a",)), ({"scp": "a"}, ("a",)), ({}, ()), ({"scope": 5}, ())],
)
def test_scopes_are_read_as_issuers_write_them(claims: dict[str, Any], scopes: tuple[str, ...]) -> None:
    assert scopes_of(claims) == scopes
