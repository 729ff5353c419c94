"""Check that a conversation obeys the rules that its provider enforces: one table of rules for each provider.

The names of the rules are the providers' error messages, where known. A rule of a provider's documentation whose error
is not known has a name in our words.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.support.pairing import anthropic, chat, gemini, responses
from tests.support.pairing.rules import Items, Rule, check

__all__ = [
    "CHECKERS",
    "RULES",
    "Items",
    "Rule",
    "faults_of_anthropic",
    "faults_of_chat",
    "faults_of_gemini",
    "faults_of_responses",
]

RULES: dict[str, tuple[Rule, ...]] = {
    "chat": chat.RULES, "anthropic": anthropic.RULES, "responses": responses.RULES, "gemini": gemini.RULES,
}  # fmt: skip


def faults_of_chat(items: Items) -> list[str]:
    """Return why Chat Completions would refuse messages."""
    return check(chat.RULES, items)


def faults_of_anthropic(items: Items) -> list[str]:
    """Return why the Messages API would refuse messages."""
    return check(anthropic.RULES, items)


def faults_of_responses(items: Items) -> list[str]:
    """Return why the Responses API would refuse items."""
    return check(responses.RULES, items)


def faults_of_gemini(items: Items) -> list[str]:
    """Return why the Gemini API would refuse contents."""
    return check(gemini.RULES, items)


CHECKERS: dict[str, Callable[[Items], list[str]]] = {
    "chat": faults_of_chat, "anthropic": faults_of_anthropic, "responses": faults_of_responses,
    "gemini": faults_of_gemini,
}  # fmt: skip
