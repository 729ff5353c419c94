"""Hosts and origins are parsed strictly and compared completely."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.serve.http.origins import Authority, Origin, parse_authority, parse_origin


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost", "localhost", None),
        ("LOCALHOST:80", "localhost", 80),
        ("127.0.0.1:8765", "127.0.0.1", 8765),
        ("[::1]:8765", "::1", 8765),
        ("[0:0:0:0:0:0:0:1]", "::1", None),
        ("xn--bcher-kva.example", "xn--bcher-kva.example", None),
    ],
)
def test_hosts_are_normalized(text: str, host: str, port: int | None) -> None:
    assert parse_authority(text) == Authority(host, port)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", ":80", "localhost:", "localhost:0", "localhost:65536", "localhost:080808", "localhost:80:80",
        "localhost.", "LOCALHOST.:80", "user@localhost", "127.0.0.1:80@evil.example", "127.0.0.1:80.evil.example",
        "evil.example#127.0.0.1", "evil.example/localhost", "localhost evil", "[::1", "::1", "[::1%eth0]", "[::g]",
        "[::1].evil.example", "localhost:*", "bücher.example", "local\x00host", "localhost:８０", "a" * 300,
    ],
)  # fmt: skip
def test_ambiguous_hosts_are_rejected(text: str) -> None:
    assert parse_authority(text) is None


@pytest.mark.parametrize(
    "text",
    ["null", "file://", "", "http://", "localhost", "ftp://localhost", "http://localhost/", "http://a, http://b"],
)
def test_invalid_origins_are_rejected(text: str) -> None:
    assert parse_origin(text) is None


def test_an_origin_without_a_port_has_the_default_port() -> None:
    assert (
        parse_origin("HTTPS://App.example")
        == Origin("https", "app.example", 443)
        == parse_origin("https://app.example:443")
    )


@given(st.text(), st.sampled_from(["localhost", "127.0.0.1", "[::1]"]), st.text(), st.integers(0, 70_000))
def test_text_around_an_allowed_host_makes_another_host(before: str, host: str, after: str, port: int) -> None:
    found = parse_authority(before + host + after)
    if found and found.host == host.strip("[]"):
        assert not before
        assert after == "" or (after[0] == ":" and found.port == int(after[1:]))
