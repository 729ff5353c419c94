"""The budget of one call, from what was asked for, the client and the settings."""

from __future__ import annotations

import pytest

from keyhole.budget.budget import KNOWN_CLIENT_BYTES, Budget, call_timeout, client_budget
from keyhole.budget.clients import UNKNOWN_CLIENT, ClientLimits, limits_of
from keyhole.budget.tokens import estimate
from keyhole.config.config import Config, parse_config
from keyhole.config.schema import MAX_BUDGET
from keyhole.text.measure import serialized_size

CODEX = limits_of("codex-mcp-client", "0.169.0")
OLD_CODEX = limits_of("codex-mcp-client", "0.57.0")
CLAUDE = limits_of("claude-code", "2.1.197")
OLD_CLAUDE = limits_of("claude-code", "2.0.0")
VSCODE = limits_of("Visual Studio Code", "1.120.0")


@pytest.mark.parametrize(
    ("limits", "size"),
    [(UNKNOWN_CLIENT, 9_000), (limits_of("somebody"), 9_000), (CODEX, 11_000), (CLAUDE, KNOWN_CLIENT_BYTES), (OLD_CODEX, 9_500),
     (VSCODE, 7_783)],
)  # fmt: skip
def test_the_default_is_what_every_client_takes_and_more_for_a_known_one_up_to_its_cap(
    limits: ClientLimits, size: int
) -> None:
    assert client_budget(Config(), limits).size == size


def test_the_operators_default_holds_for_known_clients_too_up_to_their_cap() -> None:
    config = parse_config({"KEYHOLE_MAX_CHARS": "30000"})
    assert client_budget(config, CODEX).size == 30_000
    assert client_budget(config, UNKNOWN_CLIENT).size == 30_000
    assert client_budget(config, OLD_CODEX).size == 9_500


def test_a_cap_in_characters_is_held_only_where_the_bytes_allow_more() -> None:
    assert client_budget(Config(), OLD_CLAUDE, 40_000).chars is None
    assert client_budget(Config(), OLD_CLAUDE, 150_000).chars == 47_500
    assert client_budget(Config(), OLD_CLAUDE, 150_000).tokens == 7_600


def test_a_small_context_bounds_the_tokens_of_a_result_and_a_large_one_does_not() -> None:
    assert client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT).tokens == 4_096
    assert client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=1_000).tokens == 1_000
    greedy = client_budget(Config(context_tokens=32_768), UNKNOWN_CLIENT, max_tokens=20_000)
    assert (greedy.tokens, greedy.note) == (
        4_096, "Limited to 4,096 tokens by the context, less than requested.",
    )  # fmt: skip
    large = client_budget(Config(context_tokens=1_000_000), UNKNOWN_CLIENT, MAX_BUDGET)
    assert large.measure("the pump " * 20_000) == serialized_size("the pump " * 20_000)


def test_without_tokens_or_characters_nothing_is_estimated() -> None:
    assert client_budget(Config(), CODEX).measure is serialized_size


def test_a_text_that_measures_the_whole_budget_has_the_budgets_tokens() -> None:
    budget = Budget(20_000, tokens=1_000)
    text = "The pump in the cellar runs at 1.250 rpm. "
    times = max(n for n in range(400) if budget.measure(text * n) <= budget.size)
    assert 980 < estimate(text * times) <= 1_000


def test_a_call_ends_before_a_client_stops_waiting_and_else_as_set() -> None:
    assert call_timeout(30.0, CLAUDE) == 30.0
    assert call_timeout(120.0, CLAUDE) == 55.0
    assert call_timeout(120.0, UNKNOWN_CLIENT) == 120.0


def test_a_text_is_held_as_far_as_all_bounds_allow() -> None:
    assert Budget(100).holds("a" * 98)
    assert not Budget(100).holds("a" * 101)
    assert not Budget(100).holds("é" * 60)
    assert not Budget(1_000, tokens=20).holds("word " * 40)
    assert not Budget(1_000, chars=50).holds("a" * 60)
