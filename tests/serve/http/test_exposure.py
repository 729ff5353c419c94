"""Settings under which HTTP is not served."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.http.exposure import check, concern, is_loopback

HOSTS = ("keyhole.example",)
TOKENS = Path("tokens")
ISSUER = "https://auth.example"
PUBLIC = "https://keyhole.example/mcp"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_on_loopback_nothing_need_be_set(address: str) -> None:
    assert is_loopback(address)
    check(Config(), address)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.2", "10.0.0.1", "fe80::1%eth0", "::ffff:127.0.0.1"])
@pytest.mark.parametrize(
    ("config", "missing"),
    [
        (Config(), ["KEYHOLE_ALLOWED_HOSTS", "KEYHOLE_TOKENS_FILE", "KEYHOLE_OAUTH_ISSUER"]),
        (Config(allowed_hosts=HOSTS), ["KEYHOLE_TOKENS_FILE", "KEYHOLE_OAUTH_ISSUER"]),
        (Config(tokens_file=TOKENS), ["KEYHOLE_ALLOWED_HOSTS"]),
        (Config(oauth_issuer=ISSUER, public_url=PUBLIC), ["KEYHOLE_ALLOWED_HOSTS"]),
    ],
)
def test_where_others_connect_hosts_and_callers_must_be_named(address: str, config: Config, missing: list[str]) -> None:
    with pytest.raises(KeyholeError) as raised:
        check(config, address)
    assert raised.value.code is Code.INVALID_ARGUMENT
    assert all(name in raised.value.message for name in missing)


@pytest.mark.parametrize(
    "config",
    [
        Config(allowed_hosts=HOSTS, tokens_file=TOKENS),
        Config(allowed_hosts=HOSTS, oauth_issuer=ISSUER, public_url=PUBLIC),
        Config(allowed_hosts=HOSTS, oauth_issuer="http://127.0.0.1:9", public_url=PUBLIC),
    ],
)
def test_with_both_it_is_served(config: Config) -> None:
    check(config, "0.0.0.0")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (Config(tokens_file=TOKENS, oauth_issuer=ISSUER), "both set"),
        (Config(oauth_issuer=ISSUER), "needs KEYHOLE_PUBLIC_URL"),
        (Config(oauth_audience="a"), "without KEYHOLE_OAUTH_ISSUER"),
        (Config(oauth_scopes=("a",), tokens_file=TOKENS), "without KEYHOLE_OAUTH_ISSUER"),
        (Config(oauth_issuer="http://auth.example", public_url=PUBLIC), "must be https"),
        (Config(oauth_issuer=ISSUER, oauth_jwks_url="http://10.0.0.1/keys", public_url=PUBLIC), "must be https"),
        (Config(allowed_hosts=("*",)), "KEYHOLE_ALLOWED_HOSTS"),
    ],
)
def test_settings_that_contradict_each_other_are_refused_on_loopback_too(config: Config, said: str) -> None:
    with pytest.raises(KeyholeError, match=said):
        check(config, "127.0.0.1")


def test_a_proxy_that_may_bring_strangers_is_warned_of() -> None:
    assert "proxy" in concern(Config(allowed_hosts=HOSTS))
    assert concern(Config(allowed_hosts=HOSTS, tokens_file=TOKENS)) == ""
    assert concern(Config(allowed_hosts=("localhost:*",))) == concern(Config()) == ""
