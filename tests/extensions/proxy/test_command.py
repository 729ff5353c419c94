"""The command line of `keyhole proxy`: its servers and its choices."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyhole.cli.commands import build_parser
from keyhole.errors import KeyholeError
from keyhole.extensions.proxy.command import find_sign_in_url, open_servers, read_policy, read_servers
from keyhole.extensions.proxy.entries import ServerEntry
from keyhole.extensions.proxy.http_upstream import HttpUpstream
from keyhole.extensions.proxy.upstream import ProcessUpstream


def servers(*words: str, **env: str) -> dict[str, ServerEntry]:
    return read_servers(build_parser().parse_args(["proxy", *words]), env)


def test_everything_after_two_hyphens_is_the_servers_command() -> None:
    found = servers("--only", "x", "--", "/usr/bin/npx", "-y", "--", "z", "--only", "q")
    assert found == {"npx": ServerEntry(("/usr/bin/npx", "-y", "--", "z", "--only", "q"))}


def test_a_url_has_headers_whose_values_may_be_variables() -> None:
    found = servers("--url", "https://h.example/mcp", "--header", "X-Key: ${KEY}", KEY="k")
    assert found == {"h.example": ServerEntry(url="https://h.example/mcp", headers=(("X-Key", "k"),))}
    assert isinstance(open_servers(found)["h.example"], HttpUpstream)


@pytest.mark.parametrize("name", ["mcp.json", "config.toml"])
def test_the_servers_of_a_configuration_file_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = '{"mcpServers": {"a": {"command": "x"}}} // mine'
    path.write_text(text if name.endswith("json") else '[mcpServers.a]\ncommand = "x"\n')
    found = servers("--config", str(path))
    assert found == {"a": ServerEntry(("x",))}
    assert isinstance(open_servers(found)["a"], ProcessUpstream)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ([], "give one of"),
        (["--url", "https://h", "--", "x"], "give one of"),
        (["--header", "A: b", "--", "x"], "--header needs --url"),
        (["--url", "ftp://h"], "http or https"),
        (["--config", "/no/such/file"], "No such file"),
    ],
)
def test_a_wrong_command_line_is_refused(words: list[str], fault: str) -> None:
    with pytest.raises(KeyholeError, match=fault):
        servers(*words)


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
    ("entries", "url"),
    [
        ([ServerEntry(url="https://h/mcp", headers=(("X-Team", "blue"),))], "https://h/mcp"),
        ([ServerEntry(url="https://h/mcp", headers=(("authorization", "mine"),))], ""),
        ([ServerEntry(url="https://h/mcp"), ServerEntry(url="https://i/mcp")], ""),
        ([ServerEntry(("npx",))], ""),
    ],
)
def test_the_credentials_of_callers_are_for_the_only_server_that_has_none(entries: list[ServerEntry], url: str) -> None:
    assert find_sign_in_url(entries) == url
