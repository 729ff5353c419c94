"""Documents and forms of a sign-in, as the proxy's clients see them."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from keyhole.extensions.proxy.sign_in import (
    Front,
    is_replaceable,
    named_metadata,
    resource_metadata,
    rewrite_challenge,
    server_metadata,
    with_resource,
)

FRONT = Front("http://127.0.0.1:8765/mcp")
OWN = 'resource_metadata="http://127.0.0.1:8765/.well-known/oauth-protected-resource/mcp"'
SERVER = {"issuer": "https://as", "authorization_endpoint": "https://as/authorize", "token_endpoint": "https://as/t"}


@pytest.mark.parametrize(
    ("challenge", "rewritten"),
    [
        ("", f"Bearer {OWN}"),
        ('Bearer realm="x"', 'Bearer realm="x"'),
        ('Bearer resource_metadata="https://h/a,b", scope="a b"', f'Bearer {OWN}, scope="a b"'),
        ("Bearer Resource_Metadata = https://h/a, error=x", f"Bearer {OWN}, error=x"),
    ],
)
def test_a_challenge_names_the_metadata_of_the_proxy(challenge: str, rewritten: str) -> None:
    assert rewrite_challenge(challenge, FRONT) == rewritten


def test_the_metadata_that_a_server_names_is_found() -> None:
    assert named_metadata('Bearer scope="a", resource_metadata="https://h/m"') == "https://h/m"
    assert named_metadata('Bearer scope="a"') == ""


def test_the_resource_is_the_proxy_and_other_fields_stay() -> None:
    found = {"resource": "https://h/mcp", "authorization_servers": ["https://as"], "x": [1], "signed_metadata": "j"}
    expected = {"resource": FRONT.resource, "authorization_servers": [FRONT.origin], "x": [1]}
    assert resource_metadata(found, FRONT, replaced=True) == expected
    kept = resource_metadata(found, FRONT, replaced=False)
    assert kept == {**expected, "authorization_servers": ["https://as"]}


def test_codes_and_tokens_are_asked_for_at_the_proxy() -> None:
    found = {**SERVER, "registration_endpoint": "https://as/register", "device_authorization_endpoint": "https://as/d"}
    assert server_metadata(found, FRONT) == {
        "issuer": "http://127.0.0.1:8765",
        "authorization_endpoint": "http://127.0.0.1:8765/oauth/authorize",
        "token_endpoint": "http://127.0.0.1:8765/oauth/token",
        "registration_endpoint": "https://as/register",
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"authorization_response_iss_parameter_supported": True}, False),
        ({"require_pushed_authorization_requests": True}, False),
        ({"token_endpoint": None}, False),
        ({"token_endpoint": "https://other/t"}, False),
        ({"token_endpoint": "https://as:444/t"}, False),
        ({"registration_endpoint": "https://other/r"}, False),
        ({"jwks_uri": "https://other/keys"}, True),
    ],
)
def test_a_server_whose_answers_name_it_is_not_replaced(changes: dict[str, object], expected: bool) -> None:
    assert is_replaceable({**SERVER, **changes}) is expected


def test_only_the_resource_of_a_form_is_replaced() -> None:
    form = "grant_type=authorization_code&code=a%2Bb&resource=http%3A%2F%2Fproxy&empty="
    assert parse_qsl(with_resource(form, "https://h/mcp?a=1&b"), keep_blank_values=True) == [
        ("grant_type", "authorization_code"),
        ("code", "a+b"),
        ("resource", "https://h/mcp?a=1&b"),
        ("empty", ""),
    ]
