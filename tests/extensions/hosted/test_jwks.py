"""The keys of an issuer: cached, refreshed, and an error if the issuer does not answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.hosted.jwks import (
    FRESH_SECONDS,
    REFRESH_INTERVAL,
    REFRESH_TIMEOUT,
    RETRY_INTERVAL,
    STALE_SECONDS,
    IssuerKeys,
    metadata_urls,
    read_jwks_url,
    read_signing_keys,
    select_key,
)
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.fetch.client import HttpFetcher
from tests.support.fakes import Clock
from tests.support.issuer import KEYS, METADATA, Issuer, issuer, public_jwk
from tests.support.loopback import Call, Responder, Site, response, serve, unused_port


@pytest.fixture
def server() -> Iterator[Issuer]:
    with issuer() as running:
        yield running


@asynccontextmanager
async def keys(
    server: Issuer, clock: Clock | None = None, jwks_url: str = "", wait: float = REFRESH_TIMEOUT
) -> AsyncIterator[IssuerKeys]:
    own = frozenset({server.url.removeprefix("http://")})
    async with HttpFetcher(Config(), "test", apis=own) as api:
        yield IssuerKeys(server.url, jwks_url, api, clock or Clock(), wait)


Asked = Callable[[IssuerKeys], Awaitable[Any]]


def with_keys(server: Issuer, clock: Clock, check: Asked) -> Any:
    async def run() -> Any:
        async with keys(server, clock) as known:
            return await check(known)

    return asyncio.run(run())


def test_keys_are_cached_and_a_rotated_key_is_found_within_a_minute(server: Issuer) -> None:
    clock = Clock()

    async def check(known: IssuerKeys) -> None:
        for _ in range(20):
            assert await known.find("first", "RS256")
        assert server.fetches == 1
        server.keys = [public_jwk("RS256", "second")]
        assert await known.find("second", "RS256") is None  # the keys were just fetched
        clock.advance(REFRESH_INTERVAL)
        assert await known.find("second", "RS256") is not None
        assert await known.find("first", "RS256") is None
        assert server.fetches == 2

    with_keys(server, clock, check)


def test_unknown_key_ids_cause_one_request_a_minute(server: Issuer) -> None:
    clock = Clock()

    async def check(known: IssuerKeys) -> None:
        found = await asyncio.gather(*(known.find(f"made up {number}", "RS256") for number in range(50)))
        assert found == [None] * 50
        assert server.fetches == 1
        clock.advance(REFRESH_INTERVAL)
        await asyncio.gather(*(known.find(f"made up {number}", "RS256") for number in range(50)))
        assert server.fetches == 2

    with_keys(server, clock, check)


def test_callers_that_waited_for_a_silent_issuer_do_not_retry_one_by_one() -> None:
    clock, check = Clock(), 0

    class Silent:
        async def send(self, call: ApiCall) -> ApiReply:
            nonlocal check
            check += 1
            clock.advance(REFRESH_TIMEOUT)
            raise TimeoutError

    async def run() -> list[Any]:
        known = IssuerKeys("https://issuer.example", "", Silent(), clock)
        return await asyncio.gather(*(known.find("first", "RS256") for _ in range(20)), return_exceptions=True)

    assert all(isinstance(error, KeyholeError) for error in asyncio.run(run()))
    assert check == 1


def test_a_withdrawn_key_is_dropped_at_the_next_refresh(server: Issuer) -> None:
    clock = Clock()

    async def check(known: IssuerKeys) -> None:
        assert await known.find("first", "RS256")
        server.keys = [public_jwk("RS256", "second")]
        clock.advance(FRESH_SECONDS)
        assert await known.find("first", "RS256") is None

    with_keys(server, clock, check)


def test_cached_keys_work_for_an_hour_while_the_issuer_is_down_and_then_an_error_is_raised(
    server: Issuer,
) -> None:
    clock = Clock()

    async def check(known: IssuerKeys) -> None:
        server.status = 503
        with pytest.raises(KeyholeError) as raised:
            await known.find("first", "RS256")
        assert raised.value.code is Code.CONNECT_FAILURE
        server.status = 200
        clock.advance(RETRY_INTERVAL)
        assert await known.find("first", "RS256")
        server.status = 503
        clock.advance(STALE_SECONDS - 1)
        assert await known.find("first", "RS256")
        with pytest.raises(KeyholeError):
            await known.find("second", "RS256")  # the issuer may have it by now
        clock.advance(1)
        with pytest.raises(KeyholeError):
            await known.find("first", "RS256")

    with_keys(server, clock, check)


def test_an_unreachable_issuer_raises_an_error(server: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    server.url = f"http://127.0.0.1:{unused_port()}"
    with pytest.raises(KeyholeError, match="cannot be fetched"):
        with_keys(server, Clock(), lambda known: known.find("first", "RS256"))
    assert "cannot be fetched" in caplog.text


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://evil.example"}, {"jwks_uri": None}, {"jwks_uri": "http://evil.example/keys"}, {"jwks_uri": 5}],
    ids=str,
)
def test_metadata_of_another_issuer_and_insecure_key_urls_are_rejected(
    server: Issuer, metadata: dict[str, Any]
) -> None:
    server.metadata = metadata
    with pytest.raises(KeyholeError):
        with_keys(server, Clock(), lambda known: known.find("first", "RS256"))
    assert server.fetches == 0


def test_the_url_of_the_keys_can_be_set(server: Issuer) -> None:
    async def run() -> None:
        async with keys(server, jwks_url=server.url + KEYS) as known:
            assert await known.find("first", "RS256")

    asyncio.run(run())
    assert [call.path for call in server.site.calls] == [KEYS]


def test_metadata_urls_follow_both_standards() -> None:
    assert metadata_urls("https://a.example") == (
        "https://a.example/.well-known/oauth-authorization-server",
        "https://a.example/.well-known/openid-configuration",
    )
    assert metadata_urls("https://a.example/realms/x") == (
        "https://a.example/.well-known/oauth-authorization-server/realms/x",
        "https://a.example/realms/x/.well-known/openid-configuration",
        "https://a.example/.well-known/openid-configuration/realms/x",
    )


def test_openid_metadata_is_used_if_oauth_metadata_is_missing() -> None:
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
def test_a_document_without_signing_keys_is_rejected(document: Any) -> None:
    with pytest.raises(ValueError, match="names no key"):
        read_signing_keys(document)


def test_only_public_parts_of_signing_keys_are_read() -> None:
    good = public_jwk("RS256", "good")
    rows = [{**good, "use": "enc"}, {**good, "alg": "HS256"}, {**good, "key_ops": ["sign"]}, {**good, "d": "private"}]
    assert read_signing_keys({"keys": rows}) == (good,)
    assert len(read_signing_keys({"keys": [good] * 1_000})) == 100


def test_a_token_without_a_key_id_selects_the_only_matching_key() -> None:
    rsa, curve = public_jwk("RS256", "a"), public_jwk("ES256", "b")
    assert select_key((rsa, curve), None, "ES256") is not None
    assert select_key((rsa, {**rsa, "kid": "c"}), None, "RS256") is None
    assert select_key((rsa,), "a", "PS256") is None  # made for another algorithm
    assert select_key(({**rsa, "n": "!"},), "a", "RS256") is None  # malformed


def test_the_url_of_keys_must_be_secure() -> None:
    with pytest.raises(ValueError, match="no https"):
        read_jwks_url({"issuer": "i", "jwks_uri": "http://a.example"}, "i")
    assert read_jwks_url({"issuer": "i", "jwks_uri": "https://a.example"}, "i") == "https://a.example"


def test_a_silent_issuer_times_out_and_cached_keys_stay_usable_meanwhile(server: Issuer) -> None:
    clock = Clock()

    async def run(silent: Issuer, site: Site) -> None:
        async with keys(silent, clock, wait=0.05) as known:
            known._keys, known._fetched_at = read_signing_keys({"keys": server.keys}), clock()
            clock.advance(FRESH_SECONDS)
            first = asyncio.create_task(known.find("first", "RS256"))
            await asyncio.to_thread(site.request_received.wait, 10)
            assert await known.find("first", "RS256") is not None
            assert not first.done()
            assert await first is not None

    def silent(site: Site) -> Responder:
        def talk(call: Call) -> None:
            site.hold(call)

        return talk

    with serve(silent) as site:
        asyncio.run(run(Issuer(f"http://{site.endpoint}"), site))
