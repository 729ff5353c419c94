"""A file of settings gives what the environment would, by the same parsers; a mistake is named with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import Config, examined, load
from keyhole.config.schema import SETTINGS
from keyhole.config.toml_file import settings_of, template

FILE = "/etc/keyhole.toml"


def loaded(text: str, environment: dict[str, str] | None = None) -> Config:
    """The settings of a file that has nothing wrong in it."""
    found, faults = settings_of(text, FILE)
    assert faults == []
    return load(environment or {}, found)


def faults_of(text: str) -> list[str]:
    """All that is wrong with a file."""
    found, faults = settings_of(text, FILE)
    return [*faults, *examined({}, found)[1]]


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("max_chars = 12000", "max_chars", 12_000),
        ("timeout = 2.5", "timeout", 2.5),
        ("timeout = 3", "timeout", 3.0),
        ('engines = ["Keyless", "searxng"]', "engines", ("keyless", "searxng")),
        ('engines = "keyless, searxng"', "engines", ("keyless", "searxng")),
        ('ports = [443, "8000-8002"]', "ports", {443, 8000, 8001, 8002}),
        ('searxng_url = ["http://a.example/x,y", "https://b.example"]', "searxng_url",
         ("http://a.example/x,y", "https://b.example")),
        ("stateless = true", "stateless", True),
        ('stateless = "on"', "stateless", True),
        ("robots = false", "robots", "off"),
        ('home = "~/keyhole"', "home", Path("~/keyhole")),
        ('brave_key = "k3yk3yk3y"', "brave_key", "k3yk3yk3y"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_its_variable_would_be(text: str, field: str, value: object) -> None:
    assert getattr(loaded(text), field) == value


def test_the_environment_wins_and_each_value_knows_where_it_is_from() -> None:
    config = loaded("# mine\nmax_chars = 12000\ntimeout = 20\n", {"KEYHOLE_TIMEOUT": "25", "KEYHOLE_MAX_CHARS": " "})
    assert (config.max_chars, config.timeout) == (12_000, 25.0)
    assert config.origins == {"max_chars": f"{FILE}:2", "timeout": "KEYHOLE_TIMEOUT"}


def test_what_is_blank_keeps_the_default() -> None:
    assert loaded('home = ""\nengines = []\nproxy = " "') == Config()


def test_an_unknown_key_is_named_with_its_line_and_the_nearest() -> None:
    assert faults_of("\nmax_char = 3\n") == [f"{FILE}:2: unknown setting max_char; did you mean max_chars?"]
    assert faults_of("KEYHOLE_TIMEOUT = 3") == [f"{FILE}:1: unknown setting KEYHOLE_TIMEOUT; did you mean timeout?"]
    assert faults_of("config = 'off'")[0].startswith(f"{FILE}:1: unknown setting config")


def test_every_mistake_is_told_and_no_key_is_shown() -> None:
    told = faults_of('max_chars = 3\n[fetch]\nx = 1\n[[engine]]\nname = "x"\n')
    assert told == [
        f"{FILE}:2: [fetch]: there are no tables here; settings stand at the top, one a line",
        f"{FILE}:4: unknown setting engine; did you mean engines?",
        f"{FILE}:1: max_chars='3': must be from 500 to 200,000",
    ]
    assert "s3cret" not in "".join(faults_of('brave_key = "s3cret"'))


@pytest.mark.parametrize("text", ["max_chars = [1, 200]", "timeout = 2024-01-01", "engines = [[1]]", "ports = [1.5]"])
def test_a_value_of_a_kind_that_never_fits_is_refused(text: str) -> None:
    (fault,) = faults_of(text)
    assert fault.startswith(f"{FILE}:1: {text.split(' ')[0]}: must be ")


@pytest.mark.parametrize("text", ["max_chars = true", "stateless = 1", "max_chars = 1e9", "timeout = nan"])
def test_a_value_that_its_parser_refuses_is_refused_with_what_would_be_right(text: str) -> None:
    (fault,) = faults_of(text)
    assert fault.startswith(f"{FILE}:1: ")


def test_what_is_not_toml_is_named_by_line_and_column() -> None:
    (fault,) = faults_of("timeout = 3\nmax_chars 9000\n")
    assert fault == f"{FILE}: expected '=' after a key in a key/value pair (at line 2, column 11)"


def test_a_key_within_a_long_text_is_not_taken_for_the_line_of_a_setting() -> None:
    text = 'embed_query_prefix = """\ntimeout = "not this line"\n"""\ntimeout = 0\n'
    (fault,) = faults_of(text)
    assert fault.startswith(f"{FILE}:4: timeout='0'")


def test_the_template_sets_nothing_until_a_line_is_uncommented_and_then_the_default() -> None:
    assert settings_of(template(), FILE) == ({}, [])
    uncommented = re.sub(r"^# (?=[a-z_]+ = )", "", template(), flags=re.MULTILINE)
    assert uncommented.count("\n#") < template().count("\n#")
    assert loaded(uncommented) == Config()
    assert all(f"\n{setting.field} = " in uncommented for setting in SETTINGS)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["timeout", "=", "[", "]", '"', "'''", "\n", "1", "."])).map("".join)
)
def test_any_text_gives_values_or_faults(text: str) -> None:
    found, faults = settings_of(text, FILE)
    assert all(fault.startswith(FILE) for fault in faults)
    assert all(re.fullmatch(rf"{FILE}:\d+", each.origin) for each in found.values())


@pytest.mark.parametrize("number", ["9" * 5_000, "0x" + "f" * 5_000, "-0x" + "f" * 5_000, f"[{'0b' + '1' * 9_000}]"])
def test_a_number_too_long_for_python_is_a_fault_and_no_end(number: str) -> None:
    assert len(faults_of(f"max_chars = {number}\n")) == len(faults_of(f"ports = [{number}]\n")) == 1


def test_a_hostile_key_is_told_short_and_as_a_reader_sees_it() -> None:
    for text in ('"\\u001b]0;title\\u0007x" = 1', '["\\u001b[31m"]', f"{'k' * 90_000} = 1"):
        (fault,) = faults_of(text)
        assert "\x1b" not in fault and len(fault) < 250


def test_of_thousands_of_keys_nothing_more_is_said_than_that_they_are_too_many() -> None:
    text = 'x = """a"""\n' + "".join(f"k{number} = 1\n" for number in range(9_000))
    (fault,) = faults_of(text)
    assert "9,001 keys" in fault
