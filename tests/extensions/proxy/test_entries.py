"""Servers of configuration files, as clients write them."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.errors import KeyholeError
from keyhole.extensions.proxy.entries import ServerEntry, expand, read_entries, read_header, read_url

ENV = {"TOKEN": "t0k", "HOME": "/home/u"}


@pytest.mark.parametrize(
    ("settings", "entry"),
    [
        (
            {"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "${TOKEN}"}, "cwd": "${HOME}"}}},
            ServerEntry(("npx", "-y", "x"), (("K", "t0k"),), "/home/u"),
        ),
        ({"servers": {"a": {"type": "stdio", "command": "x"}}}, ServerEntry(("x",))),
        (
            {"mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"K": "1"}}}},
            ServerEntry(("x", "y"), (("K", "1"),)),
        ),
        (
            {"mcpServers": {"a": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}}}},
            ServerEntry(url="https://h/mcp", headers=(("Authorization", "Bearer t0k"),)),
        ),
        (
            {"mcpServers": {"a": {"httpUrl": "https://h/mcp"}, "b": {"disabled": True}}},
            ServerEntry(url="https://h/mcp"),
        ),
    ],
)
def test_each_clients_format_is_read(settings: dict[str, Any], entry: ServerEntry) -> None:
    assert read_entries(settings, ENV) == {"a": entry}


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({}, "none of the keys"),
        ({"mcpServers": {}}, "names no server"),
        ({"mcpServers": {"a": {}}}, "'a' has neither"),
        ({"mcpServers": {"a": "x"}}, "'a' is no object"),
        ({"mcpServers": {"a": {"command": "x", "env": ["K=1"]}}}, "'a' has variables"),
    ],
)
def test_a_faulty_file_is_named(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(KeyholeError, match=fault):
        read_entries(settings, ENV)


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
