"""The budget of a call, computed from its arguments, the client and the settings."""

from __future__ import annotations

import pytest

from keyhole.budget.budget import KNOWN_CLIENT_BYTES, Budget, call_timeout, client_budget
from keyhole.budget.clients import UNKNOWN_CLIENT, ClientLimits, limits_of
from keyhole.budget.tokens import estimate
from keyhole.config.config import MAX_BUDGET, Config
from keyhole.config.parse import parse_config
from keyhole.text.measure import serialized_size

CODEX = limits_of("codex-mcp-client", "0.169.0")
OLD_CODEX = limits_of("codex-mcp-client", "0.57.0")
CLAUDE = limits_of("claude-code", "2.1.197")
OLD_CLAUDE = limits_of("claude-code", "2.0.0")
VSCODE = limits_of("Visual Studio Code", "1.120.0")


@pytest.mark.parametrize(
    ("limits", "size"),
    [(UNKNOWN_CLIENT, 9_000), (limits_of("somebody"), 9_000), (CODEX, 11_000), (CLAUDE, KNOWN_CLIENT_BYTES),
     (OLD_CODEX, 9_500), (VSCODE, 7_783)],
)  # fmt: skip
def test_the_default_budget_fits_every_client_and_is_larger_for_known_clients(limits: ClientLimits, size: int) -> None:
    assert client_budget(Config(), limits).size == size


def test_a_configured_default_applies_to_known_clients_up_to_their_cap() -> None:
    config = parse_config({"KEYHOLE_MAX_CHARS": "30000"})
    assert client_budget(config, CODEX).size == 30_000
    assert client_budget(config, UNKNOWN_CLIENT).size == 30_000
    assert client_budget(config, OLD_CODEX).size == 9_500


def test_a_cap_in_characters_applies_only_if_the_bytes_allow_more() -> None:
    assert client_budget(Config(), OLD_CLAUDE, 40_000).chars is None
    assert client_budget(Config(), OLD_CLAUDE, 150_000).chars == 47_500
    assert client_budget(Config(), OLD_CLAUDE, 150_000).tokens == 7_600


def test_only_a_small_context_limits_the_tokens_of_a_result() -> None:
    assert client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT).tokens == 4_096
    assert client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=1_000).tokens == 1_000
    greedy = client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=20_000)
    assert (greedy.tokens, greedy.note) == (
        4_096, "Limited to 4,096 tokens by the context, less than requested.",
    )  # fmt: skip
    large = client_budget(Config(context_tokens=1_000_000), UNKNOWN_CLIENT, MAX_BUDGET)
    assert large.measure("the pump " * 20_000) == serialized_size("the pump " * 20_000)


def test_the_largest_size_in_tokens_holds_for_every_result() -> None:
    config = Config(max_tokens=2_000)
    assert client_budget(config, UNKNOWN_CLIENT).tokens == 2_000
    assert client_budget(config, UNKNOWN_CLIENT, max_tokens=500).tokens == 500
    greedy = client_budget(config, UNKNOWN_CLIENT, MAX_BUDGET, 20_000)
    assert greedy.tokens == 2_000
    assert greedy.note == "Limited to 2,000 tokens by KEYHOLE_MAX_TOKENS, less than requested."
    both = client_budget(Config(max_tokens=5_000, context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=20_000)
    assert (both.tokens, both.note) == (4_096, "Limited to 4,096 tokens by the context, less than requested.")


def test_without_a_limit_of_tokens_or_characters_nothing_is_estimated() -> None:
    assert client_budget(Config(), CODEX).measure is serialized_size


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
    assert Budget(100).allows("a" * 98)
    assert not Budget(100).allows("a" * 101)
    assert not Budget(100).allows("é" * 60)
    assert not Budget(1_000, tokens=20).allows("word " * 40)
    assert not Budget(1_000, chars=50).allows("a" * 60)
