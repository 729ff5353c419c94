"""Every error code has a rule, and an error has a code, a message and facts."""

from __future__ import annotations

import dataclasses
import re

import pytest

from keyhole.errors import RULES, Code, KeyholeError, Rule
from keyhole.retrieval.dispatch import ARGUMENTS, argument_schema

ALL_CODES = pytest.mark.parametrize("code", list(Code))


@ALL_CODES
def test_every_code_has_a_rule_with_a_next_step_that_is_a_sentence(code: Code) -> None:
    step = RULES[code].next_step
    assert step.endswith(".")
    assert step == step.strip()
    assert "\n" not in step


@ALL_CODES
def test_a_code_equals_its_lower_case_name_so_that_an_agent_can_match_it(code: Code) -> None:
    assert str(code) == code.value == code.name.lower()


def test_every_rule_has_a_code() -> None:
    assert set(RULES) == set(Code)


def test_an_error_has_its_code_message_and_facts() -> None:
    error = KeyholeError(Code.HTTP_STATUS, "HTTP 404", status=404)
    assert error.code is Code.HTTP_STATUS
    assert error.message == "HTTP 404"
    assert error.facts == {"status": 404}
    assert error.rule is RULES[Code.HTTP_STATUS]


def test_an_error_shows_its_code_and_message_in_a_traceback() -> None:
    shown = str(KeyholeError(Code.TIMEOUT, "too late"))
    assert "timeout" in shown
    assert "too late" in shown


def test_the_table_of_rules_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        RULES[Code.TIMEOUT] = Rule(False, "x")  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        RULES[Code.TIMEOUT].retry = False  # type: ignore[misc]


@pytest.mark.parametrize("code", [Code.TIMEOUT, Code.RATE_LIMITED, Code.DNS_FAILURE, Code.STORE_UNAVAILABLE])
def test_temporary_failures_can_be_retried(code: Code) -> None:
    assert RULES[code].retry


@pytest.mark.parametrize("code", [Code.INVALID_URL, Code.BLOCKED_ADDRESS, Code.UNKNOWN_ARTIFACT, Code.QUOTE_NOT_FOUND])
def test_permanent_failures_cannot_be_retried(code: Code) -> None:
    assert not RULES[code].retry


def test_every_code_has_advice_of_its_own() -> None:
    steps = [rule.next_step for rule in RULES.values()]
    assert len(steps) == len(set(steps))


@ALL_CODES
def test_advice_is_short_and_names_only_tools_and_arguments_that_exist(code: Code) -> None:
    step = RULES[code].next_step
    assert len(step) <= 160
    known = {name: set(argument_schema(name)["properties"]) for name in ARGUMENTS}
    for tool, arguments in re.findall(r"(\w+)\(([^)]*)\)", step):
        assert set(re.findall(r"(\w+)=", arguments)) <= known[tool]
    assert set(re.findall(r"(\w+)=(?!off)", step)) <= set.union(*known.values())
