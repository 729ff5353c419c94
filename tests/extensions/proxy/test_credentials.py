"""Callers and their credentials, and the demands of servers for credentials."""

from __future__ import annotations

import pytest

from keyhole.extensions.proxy.credentials import (
    AuthorizationDemand,
    Sender,
    authorization_error,
    find_demand,
    read_authorization,
)
from keyhole.extensions.proxy.messages import build, error_response, response

CHALLENGE = 'Bearer error="invalid_token", error_description="<b>go</b> away", scope="notes:read"'


def test_a_demand_is_carried_by_the_error_of_a_request() -> None:
    raw = error_response(1, authorization_error(403, CHALLENGE)).raw
    assert find_demand(raw) == AuthorizationDemand(403, CHALLENGE)


@pytest.mark.parametrize(
    "message",
    [
        response(1, {"code": "authorization_required"}),
        build({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "authorization_required"}}),
        build({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "other"}}),
    ],
)
def test_other_messages_carry_none(message: object) -> None:
    assert find_demand(message.raw) is None  # type: ignore[attr-defined]


def test_the_error_says_what_is_wrong_with_the_token_in_known_words_only() -> None:
    message = authorization_error(401, CHALLENGE).message
    assert "HTTP status 401 (error invalid_token, scope notes:read)" in message
    assert "<b>" not in message


def test_a_caller_is_shown_without_its_credentials() -> None:
    authorization = read_authorization([(b"host", b"h"), (b"authorization", b"Bearer s3cret")])
    caller = Sender("", authorization)
    assert caller != Sender("", "")
    assert "s3cret" not in repr(caller)
