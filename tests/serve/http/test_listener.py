"""The socket that HTTP is served on."""

from __future__ import annotations

import socket

import pytest

from keyhole.cli.main import main
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.serve.http.listener import listening, url_of


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
    with listening(Config(), host, 0) as listener:
        assert listener.family == family
        assert url_of(listener, "/mcp").startswith(url)
        socket.create_connection(listener.getsockname()[:2], timeout=5).close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "000.0.0.0"])
def test_every_spelling_of_all_addresses_is_refused_without_settings(host: str) -> None:
    with pytest.raises(KeyholeError, match=r"KEYHOLE_ALLOWED_HOSTS.*KEYHOLE_TOKENS_FILE"), listening(Config(), host, 0):
        pass


@pytest.mark.parametrize(("host", "port"), [("", 0), ("no such host", 0), ("127.0.0.1", -1), ("127.0.0.1", 65_536)])
def test_what_cannot_be_listened_on_is_told(host: str, port: int) -> None:
    with pytest.raises(KeyholeError, match=r"--host|port"), listening(Config(), host, port):
        pass


def test_the_command_line_refuses_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--http", "--host", "0.0.0.0", "--port", "0"]) == 2
    said = capsys.readouterr().err
    assert "KEYHOLE_ALLOWED_HOSTS" in said
    assert "KEYHOLE_TOKENS_FILE or KEYHOLE_OAUTH_ISSUER" in said
