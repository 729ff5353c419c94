"""The keys of an issuer: kept, asked for again, and told apart from an issuer that does not answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.fetch.client import HttpFetcher
from keyhole.serve.http.auth.jwks import (
    AGAIN,
    AGAIN_AFTER_FAILURE,
    FRESH,
    KEPT,
    WAIT,
    Keys,
    choose,
    keys_place,
    metadata_urls,
    usable,
)
from tests.support.fakes import Clock
from tests.support.issuer import KEYS, METADATA, Issuer, issuer, public_jwk
from tests.support.loopback import Call, Site, Talk, response, serve, unused_port


@pytest.fixture
def server() -> Iterator[Issuer]:
    with issuer() as running:
        yield running


@asynccontextmanager
async def keys(
    server: Issuer, clock: Clock | None = None, jwks_url: str = "", wait: float = WAIT
) -> AsyncIterator[Keys]:
    own = frozenset({server.url.removeprefix("http://")})
    async with HttpFetcher(Config(), "test", apis=own) as api:
        yield Keys(server.url, jwks_url, api, clock or Clock(), wait)


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


def test_who_waited_for_a_silent_issuer_does_not_ask_it_again_one_after_the_other() -> None:
    clock, asked = Clock(), 0

    class Silent:
        async def ask(self, call: ApiCall) -> ApiReply:
            nonlocal asked
            asked += 1
            clock.advance(WAIT)
            raise TimeoutError

    async def run() -> list[Any]:
        known = Keys("https://issuer.example", "", Silent(), clock)
        return await asyncio.gather(*(known.find("first", "RS256") for _ in range(20)), return_exceptions=True)

    assert all(isinstance(error, KeyholeError) for error in asyncio.run(run()))
    assert asked == 1


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


def test_an_issuer_that_never_answers_is_not_waited_for_and_known_keys_are_not_held_up(server: Issuer) -> None:
    clock = Clock()

    async def run(silent: Issuer, site: Site) -> None:
        async with keys(silent, clock, wait=0.05) as known:
            known._keys, known._got = usable({"keys": server.keys}), clock()
            clock.advance(FRESH)
            first = asyncio.create_task(known.find("first", "RS256"))
            await asyncio.to_thread(site.heard.wait, 10)
            assert await known.find("first", "RS256") is not None
            assert not first.done()
            assert await first is not None

    def silent(site: Site) -> Talk:
        def talk(call: Call) -> None:
            site.hold(call)

        return talk

    with serve(silent) as site:
        asyncio.run(run(Issuer(f"http://{site.endpoint}"), site))
