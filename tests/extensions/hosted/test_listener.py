"""The HTTP listener: its address, and the settings that it requires."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.hosted.listener import (
    check_exposure,
    exposure_warning,
    is_loopback,
    listener_url,
    open_listener,
)

HOSTS = ("keyhole.example",)
TOKENS = Path("tokens")
ISSUER = "https://auth.example"
PUBLIC = "https://keyhole.example/mcp"


@pytest.mark.parametrize(
    ("host", "family", "url"),
    [
        ("127.0.0.1", socket.AF_INET, "http://127.0.0.1:"),
        ("localhost", socket.AF_INET, "http://127.0.0.1:"),
        ("::1", socket.AF_INET6, "http://[::1]:"),
        ("[::1]", socket.AF_INET6, "http://[::1]:"),
    ],
)
def test_loopback_is_bound_by_name_and_by_address(host: str, family: int, url: str) -> None:
    with open_listener(Config(), host, 0) as listener:
        assert listener.family == family
        assert listener_url(listener, "/mcp").startswith(url)
        socket.create_connection(listener.getsockname()[:2], timeout=5).close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "000.0.0.0"])
def test_every_spelling_of_all_addresses_is_refused_without_settings(host: str) -> None:
    with (
        pytest.raises(KeyholeError, match=r"KEYHOLE_ALLOWED_HOSTS.*KEYHOLE_TOKENS_FILE"),
        open_listener(Config(), host, 0),
    ):
        pass


@pytest.mark.parametrize(("host", "port"), [("", 0), ("no such host", 0), ("127.0.0.1", -1), ("127.0.0.1", 65_536)])
def test_an_invalid_host_or_port_is_reported(host: str, port: int) -> None:
    with pytest.raises(KeyholeError, match=r"--host|port"), open_listener(Config(), host, port):
        pass


def test_the_command_line_reports_the_missing_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--http", "--host", "0.0.0.0", "--port", "0"]) == 2
    message = capsys.readouterr().err
    assert "KEYHOLE_ALLOWED_HOSTS" in message
    assert "KEYHOLE_TOKENS_FILE or KEYHOLE_OAUTH_ISSUER" in message


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_needs_no_settings(address: str) -> None:
    assert is_loopback(address)
    check_exposure(Config(), address)


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
def test_other_addresses_need_allowed_hosts_and_authentication(
    address: str, config: Config, missing: list[str]
) -> None:
    with pytest.raises(KeyholeError) as raised:
        check_exposure(config, address)
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
def test_allowed_hosts_and_authentication_suffice(config: Config) -> None:
    check_exposure(config, "0.0.0.0")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (Config(tokens_file=TOKENS, oauth_issuer=ISSUER), "both set"),
        (Config(oauth_issuer=ISSUER), "needs KEYHOLE_PUBLIC_URL"),
        (Config(oauth_audience="a"), "without KEYHOLE_OAUTH_ISSUER"),
        (Config(oauth_scopes=("a",), tokens_file=TOKENS), "without KEYHOLE_OAUTH_ISSUER"),
        (Config(oauth_issuer="http://auth.example", public_url=PUBLIC), "must be https"),
        (Config(oauth_issuer=ISSUER, oauth_jwks_url="http://10.0.0.1/keys", public_url=PUBLIC), "must be https"),
        (Config(allowed_hosts=("*",)), "KEYHOLE_ALLOWED_HOSTS"),
        (Config(look=True), "KEYHOLE_LOOK=on needs KEYHOLE_TOKENS_FILE or KEYHOLE_OAUTH_ISSUER"),
        (Config(operator_token="o" * 16, tokens_file=TOKENS), "without KEYHOLE_LOOK=on"),
    ],
)
def test_contradictory_settings_are_refused_on_loopback_too(config: Config, message: str) -> None:
    with pytest.raises(KeyholeError, match=message):
        check_exposure(config, "127.0.0.1")


def test_a_proxy_without_authentication_causes_a_warning() -> None:
    assert "proxy" in exposure_warning(Config(allowed_hosts=HOSTS))
    assert exposure_warning(Config(allowed_hosts=HOSTS, tokens_file=TOKENS)) == ""
    assert exposure_warning(Config(allowed_hosts=("localhost:*",))) == exposure_warning(Config()) == ""
