"""The rules of maintained scanners, as the generator writes them."""

from __future__ import annotations

import re

import pytest

from keyhole.text.secrets.shapes import VENDOR_RULES
from secret_rules import read_rule

END = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""


def test_each_pattern_is_one_of_python_and_its_sign_is_in_lower_case() -> None:
    for sign, pattern in VENDOR_RULES:
        re.compile(pattern)
        assert sign == sign.lower()
        assert len(sign) > 2
    assert len(VENDOR_RULES) > 200


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("ghp_[0-9a-zA-Z]{36}", [("ghp_", "ghp_[0-9a-zA-Z]{20,}")]),
        (rf"\b(p8e-(?i)[a-z0-9]{{32}}){END}", [("p8e-", "p8e-(?i:[a-z0-9]{20,})")]),
        (rf"(?i)\b(glc_[A-Za-z0-9+/]{{32,400}}={{0,3}}){END}", [("glc_", "(?i:glc_[A-Za-z0-9+/]{20,}={0,3})")]),
        (r"\b(sm_aat_[a-zA-Z0-9]{16})\b", [("sm_aat_", "sm_aat_[a-zA-Z0-9]{16,}")]),
        ("(AB_[a-z]{30}|CD_[a-z]{30})", [("ab_", "AB_[a-z]{20,}"), ("cd_", "CD_[a-z]{20,}")]),
        ("(?:AKIA|ASIA)[A-Z]{16}", [("akia", "(?:AKIA|ASIA)[A-Z]{16,}"), ("asia", "(?:AKIA|ASIA)[A-Z]{16,}")]),
        (rf"(?i)(?:zendesk)(?:=|:)([a-z0-9]{{40}}){END}", []),
        ("[0-9a-f]{32}", []),
        ("SK[0-9a-f]{32}", []),
        (r"(https://[^:\s]+:[^@]+@example\.org)", []),
    ],
)
def test_a_rule_is_shortened_or_left_out(rule: str, rows: list[tuple[str, str]]) -> None:
    assert sorted(read_rule(rule)) == rows
