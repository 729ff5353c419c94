"""Settings are parsed from a mapping; a fault names the setting and its valid values."""

from __future__ import annotations

import base64
import dataclasses
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import MAX_BUDGET, MIN_BUDGET, PREFIX, SETTINGS, Config
from keyhole.config.load import parse_config
from keyhole.config.parsers import WEB_PORTS
from keyhole.errors import Code, KeyholeError


def refusal(environment: dict[str, str]) -> str:
    """Return the error message for an environment."""
    with pytest.raises(KeyholeError) as caught:
        parse_config(environment)
    assert caught.value.code is Code.INVALID_ARGUMENT
    return caught.value.message


FIELDS = [field.name for field in dataclasses.fields(Config) if field.name not in {"origins", "warnings"}]


def test_an_empty_environment_gives_the_defaults() -> None:
    assert parse_config({}) == Config()


def test_variables_of_other_programs_are_ignored() -> None:
    others = {"PATH": "/bin", "HTTP_PROXY": "http://proxy", "keyhole_timeout": "1", "XKEYHOLE_TIMEOUT": "x"}
    assert parse_config(others) == Config()


def test_a_setting_that_is_empty_or_blank_keeps_its_default() -> None:
    assert parse_config({"KEYHOLE_TIMEOUT": "", "KEYHOLE_MAX_CHARS": "  "}) == Config()


@pytest.mark.parametrize(
    ("name", "raw", "field", "value"),
    [
        ("HOME", "/tmp/some where", "home", Path("/tmp/some where")),  # noqa: S108 - never opened
        ("MAX_CHARS", "12_000", "max_chars", 12_000),
        ("TIMEOUT", "2.5", "timeout", 2.5),
        ("MAX_BYTES", "5000000", "max_bytes", 5_000_000),
        ("FRESHNESS", "0", "freshness", 0.0),
        ("ALLOW_PRIVATE", " 127.0.0.1:8080, LOCALHOST:9000 ,", "allow_private", {"127.0.0.1:8080", "localhost:9000"}),
        ("PORTS", "443, 8000-8002,80", "ports", {80, 443, 8000, 8001, 8002}),
        ("PROXY", "HTTP://Proxy.example:3128/", "proxy", "http://proxy.example:3128"),
        ("PROXY", "http://[::1]:3128", "proxy", "http://[::1]:3128"),
        ("ALLOW_DOMAINS", "Example.com, *.BÜCHER.example., [2001:DB8:0::1],10.0.0.1", "allow_domains",
         {"example.com", "*.xn--bcher-kva.example", "2001:db8::1", "10.0.0.1"}),
        ("DENY_DOMAINS", "*.com", "deny_domains", {"*.com"}),
        ("DENY_DOMAINS", "2001:DB8:0::1, [::ffff:1.2.3.4], 1.2.3.4., １.2.3。4, EXAMPLE。com", "deny_domains",
         {"2001:db8::1", "::ffff:102:304", "1.2.3.4", "example.com"}),
        ("ROBOTS", "OFF", "robots", "off"),
        ("URL_POLICY", "known", "url_policy", "known"),
        ("KNOWN_URLS", "https://a.example/x,y?z=1,2, http://b.example/*\nhttps://c.example", "known_urls",
         {"https://a.example/x,y?z=1,2", "http://b.example/*", "https://c.example"}),
        ("USER_AGENT", "Somebody/1.0 (+https://example.org)", "user_agent", "Somebody/1.0 (+https://example.org)"),
        ("ENGINES", "Keyless, searxng", "engines", ("keyless", "searxng")),
        ("SEARXNG_URL", "http://127.0.0.1:8888", "searxng_url", ("http://127.0.0.1:8888",)),
        ("SEARXNG_URL", "http://a.example/x,y, https://b.example/", "searxng_url",
         ("http://a.example/x,y", "https://b.example/")),
        ("RERANK_URL", "http://127.0.0.1:8080/v1/rerank", "rerank_url", "http://127.0.0.1:8080/v1/rerank"),
        ("RERANK_MODEL", "BAAI/bge-reranker-v2-m3", "rerank_model", "BAAI/bge-reranker-v2-m3"),
        ("RERANK_KEY", " k3y ", "rerank_key", "k3y"),
        ("EMBED_URL", "https://api.example/v1/embeddings", "embed_url", "https://api.example/v1/embeddings"),
        ("EMBED_MODEL", "nomic-embed-text", "embed_model", "nomic-embed-text"),
        ("EMBED_KEY", "k3y", "embed_key", "k3y"),
        ("MODEL", "all-minilm-l6-v2", "model", "all-minilm-l6-v2"),
        ("TTL_DAYS", "0.5", "ttl_days", 0.5),
        ("STORE_MAX_BYTES", "1_000_000", "store_max_bytes", 1_000_000),
        ("LOG_LEVEL", "debug", "log_level", "DEBUG"),
    ],
)  # fmt: skip
def test_each_setting_is_read_from_its_variable(name: str, raw: str, field: str, value: object) -> None:
    config = parse_config({PREFIX + name: raw})
    assert getattr(config, field) == value
    assert dataclasses.replace(config, **{field: getattr(Config(), field)}) == Config()


def test_every_field_has_one_setting_with_a_unit_and_a_description() -> None:
    assert [setting.field for setting in SETTINGS] == [
        field.name for field in dataclasses.fields(Config) if field.name not in {"origins", "warnings"}
    ]
    for setting in SETTINGS:
        assert setting.unit
        assert setting.description


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("MAX_CHARS", MIN_BUDGET, MAX_BUDGET),
        ("TIMEOUT", 0.1, 600),
        ("MAX_BYTES", 1_000, 1_000_000_000),
        ("FRESHNESS", 0, 31_536_000),
        ("TTL_DAYS", 0.001, 36_500),
        ("STORE_MAX_BYTES", 1_000_000, 2**50),
    ],
)
def test_a_number_is_accepted_at_its_bounds_and_refused_beyond_them(name: str, low: float, high: float) -> None:
    field = name.lower()
    assert getattr(parse_config({PREFIX + name: str(low)}), field) == low
    assert getattr(parse_config({PREFIX + name: str(high)}), field) == high
    step = 0.0001 if isinstance(low, float) else 1
    for raw in (str(low - step), str(high + 1), "-1"):
        message = refusal({PREFIX + name: raw})
        assert f"{PREFIX}{name}={raw!r}" in message
        assert f"from {low:,} to {high:,}" in message


@pytest.mark.parametrize("raw", ["nan", "inf", "-inf", "ten", "1,5", "0x10", "_", "9" * 5_000])
@pytest.mark.parametrize("name", ["KEYHOLE_TIMEOUT", "KEYHOLE_MAX_CHARS"])
def test_an_invalid_number_is_refused_with_the_variables_name(name: str, raw: str) -> None:
    assert name in refusal({name: raw})


def test_an_unknown_setting_is_refused_with_the_nearest_known_one() -> None:
    assert refusal({"KEYHOLE_TIMOUT": "1"}) == "unknown setting KEYHOLE_TIMOUT; did you mean KEYHOLE_TIMEOUT?"
    assert "did you mean KEYHOLE_ALLOW_PRIVATE?" in refusal({"KEYHOLE_ALOW_PRIVATE": "127.0.0.1:1"})


def test_an_unknown_setting_similar_to_none_is_refused_without_a_suggestion() -> None:
    assert refusal({"KEYHOLE_QQQQQQQ": "1"}) == "unknown setting KEYHOLE_QQQQQQQ"


@pytest.mark.parametrize("raw", ["127.0.0.1", "localhost:", ":8080", "localhost:http", "127.0.0.1:80,localhost"])
def test_a_private_endpoint_must_name_its_port(raw: str) -> None:
    assert "host:port" in refusal({"KEYHOLE_ALLOW_PRIVATE": raw})


@pytest.mark.parametrize(
    "raw", ["http://127.0.0.1:80", "localhost:99999", "localhost:0", "localhost:²", "a b:80", "*:80"]
)
def test_an_invalid_private_endpoint_is_refused(raw: str) -> None:
    assert "KEYHOLE_ALLOW_PRIVATE" in refusal({"KEYHOLE_ALLOW_PRIVATE": raw})


def test_an_ipv6_endpoint_may_be_written_with_brackets_as_in_a_url() -> None:
    assert parse_config({"KEYHOLE_ALLOW_PRIVATE": "[::1]:8080"}).allow_private == {"::1:8080"}


@pytest.mark.parametrize("raw", ["verbose", "10", "warn"])
def test_an_unknown_log_level_is_refused_with_the_known_ones(raw: str) -> None:
    assert "DEBUG, INFO, WARNING or ERROR" in refusal({"KEYHOLE_LOG_LEVEL": raw})


@pytest.mark.parametrize("raw", ["two\r\nlines", "Bücher/1.0", "nul\0"])
def test_a_user_agent_that_no_header_can_carry_is_refused(raw: str) -> None:
    assert "KEYHOLE_USER_AGENT" in refusal({"KEYHOLE_USER_AGENT": raw})


@pytest.mark.parametrize("raw", ["searx.example.org", "ftp://searx.example.org", "http://"])
def test_a_searxng_address_that_is_not_an_http_url_is_refused_by_its_variables_name(raw: str) -> None:
    assert "KEYHOLE_SEARXNG_URL" in refusal({"KEYHOLE_SEARXNG_URL": raw})


@given(st.dictionaries(st.sampled_from([setting.variable for setting in SETTINGS]), st.text(max_size=30)))
def test_any_value_gives_a_config_or_a_refusal_that_names_a_variable(environment: dict[str, str]) -> None:
    try:
        config = parse_config(environment)
    except KeyholeError as error:
        assert error.code is Code.INVALID_ARGUMENT
        assert any(name in error.message for name in environment)
    else:
        assert MIN_BUDGET <= config.max_chars <= MAX_BUDGET


@pytest.mark.parametrize("raw", ["0", "65536", "http", "-80", "80-", "90-80", "80;443", "²", "0-80", "80-99999"])
def test_an_invalid_port_or_range_is_refused(raw: str) -> None:
    assert "is neither a port nor a range" in refusal({"KEYHOLE_PORTS": raw})


@pytest.mark.parametrize(
    "raw",
    [
        "*", "*.", "*example.com", "a.*.com", "https://example.com", "example.com:80", "a..b", "-", "ex ample.com",
        "127.1", "010.0.0.1", "0x7f.0.0.1", "2130706433", "*.10.0.0.1", "[::1]:80", "[::1", "fe80::1%eth0",
    ],
)  # fmt: skip
def test_an_invalid_domain_is_refused(raw: str) -> None:
    for name in ("ALLOW_DOMAINS", "DENY_DOMAINS"):
        with pytest.raises(KeyholeError) as caught:
            parse_config({PREFIX + name: raw})
        assert "KEYHOLE_" + name in caught.value.message


@pytest.mark.parametrize(
    "raw",
    [
        "proxy:3128", "http://proxy", "https://proxy:3128", "socks5://proxy:1080", "http://user:word@proxy:3128",
        "http://proxy:3128/path", "http://proxy:99999", "http://a:1,b:2", "http://:3128", "http://pro xy:3128",
    ],
)  # fmt: skip
def test_a_proxy_is_an_http_address_with_a_port_and_no_user_name(raw: str) -> None:
    assert "KEYHOLE_PROXY" in refusal({"KEYHOLE_PROXY": raw})


def test_no_port_that_browsers_refuse_is_open_by_default() -> None:
    unprivileged = {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6679, 6697, 10080}
    bad = unprivileged | set(range(6665, 6670))
    assert not WEB_PORTS & bad
    assert {port for port in WEB_PORTS if port < 1024} == {80, 81, 443}


@pytest.mark.parametrize(
    "raw",
    ["example.com", "https://example.com*", "https://*.example.com/", "https://a.example/*/b", "ftp://a.example/"],
)
def test_an_invalid_known_url_is_refused(raw: str) -> None:
    with pytest.raises(KeyholeError):
        parse_config({"KEYHOLE_KNOWN_URLS": raw})


@pytest.mark.parametrize(("name", "raw"), [("ROBOTS", "no"), ("URL_POLICY", "strict")])
def test_an_invalid_choice_is_refused_with_the_valid_ones(name: str, raw: str) -> None:
    with pytest.raises(KeyholeError, match=r"must be (?:\w+, )*\w+ or \w+"):
        parse_config({PREFIX + name: raw})


@pytest.mark.parametrize("name", ["RERANK_KEY", "EMBED_KEY"])
def test_a_key_is_shown_neither_in_its_error_nor_in_the_repr(name: str) -> None:
    message = refusal({PREFIX + name: "s3cret\r\nHost: evil"})
    assert PREFIX + name in message
    assert "s3cret" not in message
    assert "printable ASCII" in message
    assert "s3cret" not in repr(parse_config({PREFIX + name: "s3cret"}))


@pytest.mark.parametrize(
    "token", ["short", "a b c d e f g h i j", "a" * 15, "käse" * 5, "a" * 1_001, '"' + "a" * 20 + '"']
)
def test_the_operators_token_is_long_and_fits_into_a_cookie(token: str) -> None:
    message = refusal({PREFIX + "OPERATOR_TOKEN": token})
    assert "at least 16" in message
    assert token not in message
    assert parse_config({PREFIX + "OPERATOR_TOKEN": "a-._~+/9T4rv2LqX"}).operator_token == "a-._~+/9T4rv2LqX"


@pytest.mark.parametrize(
    "token",
    [
        "a" * 32, "PasswordPassword", "keyhole-operator-token", "0123456789abcdef", "abcdefghijklmnop", "8fK2x9Qd" * 2,
        "aabbccddeeffgghhii", "change-me-change-me-please", "operator-token-of-this-test", "1111222233334444",
    ],
)  # fmt: skip
def test_the_operators_token_cannot_be_guessed(token: str) -> None:
    message = refusal({PREFIX + "OPERATOR_TOKEN": token})
    assert "OPERATOR_TOKEN" in message and "openssl rand -hex 32" in message
    assert token not in message


def test_random_tokens_are_accepted() -> None:
    rng = random.Random(1)
    for _ in range(300):
        for token in (rng.randbytes(32).hex(), base64.urlsafe_b64encode(rng.randbytes(24)).decode()):
            assert parse_config({PREFIX + "OPERATOR_TOKEN": token}).operator_token == token


def test_the_repr_of_a_config_hides_exactly_the_secret_settings() -> None:
    hidden = {field.name for field in dataclasses.fields(Config) if not field.repr}
    assert {setting.field for setting in SETTINGS if setting.secret} == hidden - {"origins", "warnings"}
    assert {"rerank_key", "embed_key", "brave_key"} <= hidden


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8080", "ftp://a.example/", "http://a.example/, http://b.example/", "http://"]
)
def test_the_address_of_a_scorer_is_one_url(url: str) -> None:
    assert "URL" in refusal({PREFIX + "RERANK_URL": url})
