"""The command line of `keyhole proxy`: its server and its choices."""

from __future__ import annotations

import pytest

from keyhole.cli.commands import build_parser
from keyhole.errors import KeyholeError
from keyhole.extensions.proxy.http_upstream import HttpUpstream
from keyhole.extensions.proxy.proxy_command import (
    ServerAddress,
    expand,
    find_sign_in_url,
    open_server,
    read_header,
    read_policy,
    read_server,
    read_url,
)
from keyhole.extensions.proxy.upstream import ProcessUpstream

ENV = {"TOKEN": "t0k", "HOME": "/home/u"}


def server(*words: str, **env: str) -> ServerAddress:
    return read_server(build_parser().parse_args(["proxy", *words]), env)


def test_everything_after_two_hyphens_is_the_servers_command() -> None:
    found = server("--only", "x", "--", "/usr/bin/npx", "-y", "--", "z", "--only", "q")
    assert found == ServerAddress(("/usr/bin/npx", "-y", "--", "z", "--only", "q"))
    assert found.name == "npx"
    assert isinstance(open_server(found), ProcessUpstream)


def test_a_url_has_headers_whose_values_may_be_variables() -> None:
    found = server("--url", "https://me:pw@h.example/mcp", "--header", "X-Key: ${KEY}", KEY="k")
    assert found == ServerAddress(url="https://me:pw@h.example/mcp", headers=(("X-Key", "k"),))
    assert found.name == "h.example"
    assert isinstance(open_server(found), HttpUpstream)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ([], "give either"),
        (["--url", "https://h", "--", "x"], "give either"),
        (["--header", "A: b", "--", "x"], "--header needs --url"),
        (["--url", "ftp://h"], "http or https"),
    ],
)
def test_a_wrong_command_line_is_refused(words: list[str], fault: str) -> None:
    with pytest.raises(KeyholeError, match=fault):
        server(*words)


def test_the_former_option_for_several_servers_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        server("--config", "mcp.json")
    assert ended.value.code == 2
    assert "unknown: --config" in capsys.readouterr().err


def test_variables_are_replaced_and_unknown_ones_stay() -> None:
    assert expand("${TOKEN} ${env:HOME} ${NO:-default} ${NO} $TOKEN", ENV) == "t0k /home/u default ${NO} $TOKEN"


def test_a_header_is_read_and_a_faulty_one_is_not_repeated() -> None:
    assert read_header("Authorization: Bearer ${TOKEN}", ENV) == ("Authorization", "Bearer t0k")
    with pytest.raises(KeyholeError) as error:
        read_header("Bearer s3cret", ENV)
    assert "s3cret" not in str(error.value)


def test_a_header_or_a_url_may_be_in_a_variable() -> None:
    env = {"HEADER_X_API_KEY": "k", "SERVER": "https://h/mcp?key=1"}
    assert read_header("X-Api-Key", env) == ("X-Api-Key", "k")
    assert read_url("env:SERVER", env) == "https://h/mcp?key=1"
    with pytest.raises(KeyholeError, match="in the variable HEADER_X_OTHER"):
        read_header("X-Other", env)
    with pytest.raises(KeyholeError, match="--url takes an http or https address"):
        read_url("env:MISSING", env)


def test_the_choices_of_the_command_line_become_a_policy() -> None:
    words = [
        "proxy",
        "--only",
        "get_*",
        "--except",
        "get_image",
        "--tool",
        "a=b=9000",
        "--no-query-argument",
        "--",
        "x",
    ]
    policy = read_policy(build_parser().parse_args(words))
    assert [policy.bounds(tool) for tool in ("get_log", "get_image", "put")] == [True, False, False]
    assert policy.tool_bytes == {"a=b": 9_000}
    assert not policy.asks_query


@pytest.mark.parametrize("size", ["a", "a=", "a=1999", "a=200001", "=5000", "a=-5000"])
def test_a_wrong_size_is_refused(size: str) -> None:
    with pytest.raises(KeyholeError, match="--tool takes NAME=BYTES"):
        read_policy(build_parser().parse_args(["proxy", f"--tool={size}", "--", "x"]))


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (ServerAddress(url="https://h/mcp", headers=(("X-Team", "blue"),)), "https://h/mcp"),
        (ServerAddress(url="https://h/mcp", headers=(("authorization", "mine"),)), ""),
        (ServerAddress(("npx",)), ""),
    ],
)
def test_a_server_without_credentials_of_its_own_gets_those_of_the_callers(address: ServerAddress, url: str) -> None:
    assert find_sign_in_url(address) == url
