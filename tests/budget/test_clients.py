"""Clients are found in the table of limits by name and version."""

from __future__ import annotations

import re

import pytest

from keyhole.budget.clients import CLIENT_LIMITS, UNKNOWN_CLIENT, limits_of


@pytest.mark.parametrize(
    ("client", "version", "cap"),
    [
        ("codex-mcp-client", "0.169.0", 48_000),
        ("Codex-MCP-Client", "0.170.1-alpha.2", 48_000),
        ("codex-mcp-client", "0.57.0", 10_000),
        ("codex-mcp-client", "", 10_000),
        ("codex-mcp-client", "unknown", 10_000),
        ("claude-code", "2.1.197", 200_000),
        ("claude-code", "2.1.91", 200_000),
        ("claude-code", "2.1.90", 50_000),
        ("claude-code (via mcp-remote 0.1.37)", "2.1.197", 200_000),
        ("Visual Studio Code - Insiders", "1.120.0", 8_192),
        ("qwen-cli-mcp-client-keyhole", "0.0.1", 25_000),
        ("gemini-cli-mcp-client", "0.61.0", 40_000),
    ],
)
def test_a_client_is_recognized_by_name_and_version(client: str, version: str, cap: int) -> None:
    host = limits_of(client, version)
    assert cap in (host.max_bytes, host.max_chars)


@pytest.mark.parametrize("client", ["", "mcp", "my-codex-mcp-client", "codex-mcp-client-2", "x" * 100_000, "claude"])
def test_other_names_are_unknown(client: str) -> None:
    assert limits_of(client, "9.9.9") is UNKNOWN_CLIENT


def test_every_row_has_a_cap_and_a_dated_source_and_is_found_by_its_name() -> None:
    for host in CLIENT_LIMITS:
        assert host.max_bytes or host.max_chars
        assert re.search(r"\b20\d\d-\d\d\b", host.source), host.name
        assert limits_of(host.name.upper(), ".".join(map(str, host.since))) == host
