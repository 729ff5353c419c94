"""Invalid tokens are counted by address; valid ones cost nothing."""

from __future__ import annotations

import pytest

from keyhole.extensions.look.hosted.gate import MAX_ACCEPTED, REFUSED_PER_MINUTE, Attempts


def fail(attempts: Attempts, address: str, count: int = REFUSED_PER_MINUTE) -> None:
    for number in range(count):
        assert attempts.begin(address, f"guess-{number}", 0.0) == 0
        attempts.end(address, f"guess-{number}", is_valid=False)


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_each_address_has_attempts_of_its_own_and_so_has_a_network_of_ipv6(
    one: str, other: str, are_same: bool
) -> None:
    attempts = Attempts()
    fail(attempts, one)
    assert attempts.begin(one, "guess", 0.0) > 0
    assert (attempts.begin(other, "guess", 0.0) > 0) is are_same


def test_valid_tokens_and_those_that_cannot_be_checked_cost_nothing() -> None:
    attempts = Attempts()
    for number in range(2 * REFUSED_PER_MINUTE):
        assert attempts.begin("", f"token-{number}", 0.0) == 0
        attempts.end("", f"token-{number}", is_valid=True if number % 2 else None)


def test_a_token_that_was_revoked_is_an_attempt_again() -> None:
    attempts = Attempts()
    attempts.begin("", "token", 0.0)
    attempts.end("", "token", is_valid=True)
    fail(attempts, "")
    assert attempts.begin("", "token", 0.0) == 0
    attempts.end("", "token", is_valid=False)
    assert attempts.begin("", "token", 0.0) > 0


def test_the_memory_of_valid_tokens_is_bounded() -> None:
    attempts = Attempts()
    for number in range(MAX_ACCEPTED + 1):
        attempts.begin("", f"token-{number}", 0.0)
        attempts.end("", f"token-{number}", is_valid=True)
    fail(attempts, "")
    assert attempts.begin("", "token-0", 0.0) > 0
    assert attempts.begin("", "token-1", 0.0) == 0
