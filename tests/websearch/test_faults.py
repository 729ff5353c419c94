"""Test the short names of failures and their limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.records import EngineReport
from keyhole.text.measure import serialized_size
from keyhole.websearch.faults import MAX_REASON, describe_fault, describe_faults, retry_after_seconds


@pytest.mark.parametrize(
    ("code", "message", "fault"),
    [
        (Code.RATE_LIMITED, "Brave asks to slow down", "quota"),
        (Code.KEY_REFUSED, "m", "bad key"),
        (Code.BOT_CHALLENGE, "m", "challenge"),
        (Code.TIMEOUT, "m", "timeout"),
        (Code.ENGINE_UNAVAILABLE, "SearXNG answers HTTP 500.", "down (SearXNG answers HTTP 500)"),
        (Code.ENGINE_UNAVAILABLE, "", "down"),
        (Code.CONNECT_FAILURE, "10.0.0.1 refused", "down (connect failure)"),
    ],
)
def test_a_failure_is_a_few_words(code: Code, message: str, fault: str) -> None:
    assert describe_fault(KeyholeError(code, message)) == fault


@given(st.sampled_from(Code), st.text(max_size=400))
def test_any_failure_is_one_short_line(code: Code, message: str) -> None:
    fault = describe_fault(KeyholeError(code, message))
    assert fault
    assert "\n" not in fault
    assert serialized_size(fault) <= MAX_REASON + len("down ()")


def test_retry_after_is_read_if_present() -> None:
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m", retry_after=30)) == 30.0
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m")) is None
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m", retry_after=-1)) is None
    assert retry_after_seconds(KeyholeError(Code.RATE_LIMITED, "m", retry_after="soon")) is None


def test_long_fault_lists_drop_reasons_and_keep_every_engine() -> None:
    reports = [EngineReport(f"engine{n}", "down (the server says a great deal about it)") for n in range(12)]
    fault = describe_faults(reports, 300)
    assert serialized_size(fault) <= 300
    assert all(f"engine{n}: down" in fault for n in range(12))
    assert "(" not in fault
    assert describe_faults(reports[:1], 300) == "engine0: down (the server says a great deal about it)"
    assert describe_faults([EngineReport("well"), EngineReport("brave", "quota")], 300) == "brave: quota"
