"""A small run of the benchmark of HTTP requests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.server.http_cases import (
    OWN_ROWS,
    check_default_address,
    check_forced,
    check_idle,
    file_tokens,
    oauth_tokens,
    run_rows,
)
from tests.support.http_server import run_server
from tests.support.issuer import issuer

HOSTED = {"KEYHOLE_ALLOWED_HOSTS": "127.0.0.1,localhost"}


@pytest.mark.skipif(sys.platform != "linux", reason="memory and sockets are read from Linux's /proc")
@pytest.mark.parametrize("profile", ["plain", "tokens", "oauth"])
def test_unusual_requests_have_the_expected_responses(tmp_path: Path, profile: str) -> None:
    with issuer() as real:
        made = {"plain": ({}, {}), "tokens": file_tokens(tmp_path), "oauth": oauth_tokens(real)}
        settings, tokens = made[profile]
        with run_server({**settings, **(HOSTED if tokens else {})}) as server:
            server.tokens = tokens
            assert run_rows(server, profile, OWN_ROWS) == 0
            if profile == "plain":
                assert check_default_address(server) == ""
                assert check_idle(server, 50) == ""


def test_an_internal_exception_reveals_no_details_to_a_client() -> None:
    assert check_forced() == ""
