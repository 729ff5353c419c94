"""Names of secrets, and values that can be secrets."""

from __future__ import annotations

import pytest

from keyhole.text.secrets.assignments import is_given, is_secret_name, is_secret_option, is_secret_value

RANDOM = "aB3dE6gH9jK2mN5pQ8sT1vW4"


@pytest.mark.parametrize(
    "name",
    [
        "password", "DB_PASSWORD", "dbPassword", "PGPASSWORD", "MYAPP_PW", "SSHPASS", "--storepass", "X-Auth-Token",
        "npmAuthToken", "client_secret", "SECRET_KEY_BASE", "PASSWORD_HASH", "api-key", "apikey",
        "APIKey", "AccountKey",
        "aws_secret_access_key", "spring.datasource.password", "credentials", "//r/:_authToken", "TOKEN2", "wifi.psk",
    ],
)  # fmt: skip
def test_the_name_of_a_secret_ends_with_a_word_for_it(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens", "token_url", "password-file", "--password-stdin", "tokenizer", "bypass", "compass", "GIT_ASKPASS",
        "author", "monkey", "key", "public_key", "cache-key", "secretName", "passport", "existingSecret", "id",
        "", "--",
    ],
)  # fmt: skip
def test_other_names_are_not(name: str) -> None:
    assert not is_secret_name(name)


def test_a_key_is_a_secret_if_its_value_is_random() -> None:
    assert is_secret_name("LICENSE_NO_KEY", RANDOM)
    assert not is_secret_name("LICENSE_NO_KEY", "value")
    assert not is_secret_name("public_key", RANDOM)


def test_an_option_that_asks_for_a_secret_has_no_value() -> None:
    assert is_secret_option("--password", "a")
    assert not is_secret_option("--ask-pass", "a")


@pytest.mark.parametrize(
    "value",
    [
        "$TOKEN",
        "${A}",
        "<token>",
        "{{ token }}",
        "%PASS%",
        "***",
        "…",
        "12",
        "^1.2.3",
        "~/t",
        "/run/secrets/t",
        "env:A",
    ],
)
def test_a_variable_a_placeholder_or_a_path_is_no_secret(value: str) -> None:
    assert not is_given(value)


@pytest.mark.parametrize(
    ("value", "sign"), [("str", ":"), ("Token", ":"), ("other", "="), ("self.token", ""), ("API_KEY", "")]
)
def test_a_type_or_another_name_is_no_secret(value: str, sign: str) -> None:
    assert not is_secret_value(value, "token", sign)
