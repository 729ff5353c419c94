"""The budget of a call, computed from its arguments, the client and the settings."""

from __future__ import annotations

import re

import pytest

from keyhole.config.config import MAX_BUDGET, Config
from keyhole.config.load import parse_config
from keyhole.render.budget import (
    CLIENT_LIMITS,
    UNKNOWN_CLIENT,
    Budget,
    ClientLimits,
    call_timeout,
    client_budget,
    limits_of,
)
from keyhole.render.tokens import estimate

CODEX = limits_of("codex-mcp-client", "0.169.0")
OLD_CODEX = limits_of("codex-mcp-client", "0.57.0")
CLAUDE = limits_of("claude-code", "2.1.197")
OLD_CLAUDE = limits_of("claude-code", "2.0.0")
VSCODE = limits_of("Visual Studio Code", "1.120.0")


@pytest.mark.parametrize(
    ("limits", "most"),
    [(UNKNOWN_CLIENT, 9_500), (limits_of("somebody"), 9_500), (CODEX, 11_000), (CLAUDE, None), (OLD_CODEX, 9_500),
     (VSCODE, 7_783)],
)  # fmt: skip
def test_the_default_budget_has_9000_characters_and_the_bytes_that_every_client_takes(
    limits: ClientLimits, most: int | None
) -> None:
    assert client_budget(Config(), limits).size == 9_000
    assert client_budget(Config(), limits).bytes == most


def test_a_configured_default_applies_to_every_client_up_to_its_cap() -> None:
    config = parse_config({"KEYHOLE_MAX_CHARS": "30000"})
    assert client_budget(config, CODEX) == Budget(30_000, bytes=45_600)
    assert client_budget(config, UNKNOWN_CLIENT) == Budget(30_000)
    assert client_budget(config, OLD_CODEX) == Budget(30_000, bytes=9_500)


def test_requested_characters_are_limited_by_the_client_s() -> None:
    assert client_budget(Config(), UNKNOWN_CLIENT, 40_000) == Budget(40_000)
    assert client_budget(Config(), OLD_CLAUDE, 40_000).size == 40_000
    assert client_budget(Config(), OLD_CLAUDE, 150_000).size == 47_500
    assert client_budget(Config(), OLD_CLAUDE, 150_000).tokens == 7_600


def test_only_a_small_context_limits_the_tokens_of_a_result() -> None:
    assert client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT).tokens == 4_096
    assert client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=1_000).tokens == 1_000
    greedy = client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=20_000)
    assert (greedy.tokens, greedy.note) == (
        4_096, "Limited to 4,096 tokens by the context, less than requested.",
    )  # fmt: skip
    large = client_budget(Config(context_tokens=1_000_000), UNKNOWN_CLIENT, MAX_BUDGET)
    assert large.measure("the pump " * 20_000) == 180_000


def test_the_largest_size_in_tokens_holds_for_every_result() -> None:
    config = Config(max_tokens=2_000)
    assert client_budget(config, UNKNOWN_CLIENT).tokens == 2_000
    assert client_budget(config, UNKNOWN_CLIENT, max_tokens=500).tokens == 500
    greedy = client_budget(config, UNKNOWN_CLIENT, MAX_BUDGET, 20_000)
    assert greedy.tokens == 2_000
    assert greedy.note == "Limited to 2,000 tokens by KEYHOLE_MAX_TOKENS, less than requested."
    both = client_budget(Config(max_tokens=5_000, context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=20_000)
    assert (both.tokens, both.note) == (4_096, "Limited to 4,096 tokens by the context, less than requested.")


def test_without_a_limit_of_tokens_or_bytes_only_characters_are_counted() -> None:
    assert client_budget(Config(), CLAUDE).measure is len


def test_a_text_that_fills_the_budget_has_the_tokens_of_the_budget() -> None:
    budget = Budget(20_000, tokens=1_000)
    text = "The pump in the cellar runs at 1.250 rpm. "
    times = max(n for n in range(400) if budget.measure(text * n) <= budget.size)
    assert 980 < estimate(text * times) <= 1_000


def test_the_timeout_of_a_call_is_shorter_than_the_client_s() -> None:
    assert call_timeout(30.0, CLAUDE) == 30.0
    assert call_timeout(120.0, CLAUDE) == 55.0
    assert call_timeout(120.0, UNKNOWN_CLIENT) == 120.0


def test_a_text_is_allowed_only_within_all_limits() -> None:
    assert Budget(100).allows("é" * 100)
    assert not Budget(100).allows("a" * 101)
    assert not Budget(100, bytes=110).allows("é" * 60)
    assert not Budget(1_000, tokens=20).allows("word " * 40)
    assert not Budget(1_000, bytes=50).allows("a" * 60)


# Clients


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
