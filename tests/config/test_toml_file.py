"""A settings file is parsed by the same parsers as the environment; a fault names its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import SETTINGS, Config
from keyhole.config.load import parse_config, parse_settings
from keyhole.config.toml_file import parse_settings_file, settings_template

FILE = "/etc/keyhole.toml"


def config_of(text: str, environment: dict[str, str] | None = None) -> Config:
    """Return the settings of a file without faults."""
    settings, faults = parse_settings_file(text, FILE)
    assert faults == []
    return parse_config(environment or {}, settings)


def faults_of(text: str) -> list[str]:
    """Return all faults of a file."""
    settings, faults = parse_settings_file(text, FILE)
    return [*faults, *parse_settings({}, settings)[1]]


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
def test_a_value_is_parsed_like_its_variable(text: str, field: str, value: object) -> None:
    assert getattr(config_of(text), field) == value


def test_the_environment_takes_precedence_and_each_value_has_its_origin() -> None:
    config = config_of("# mine\nmax_chars = 12000\ntimeout = 20\n", {"KEYHOLE_TIMEOUT": "25", "KEYHOLE_MAX_CHARS": " "})
    assert (config.max_chars, config.timeout) == (12_000, 25.0)
    assert config.origins == {"max_chars": f"{FILE}:2", "timeout": "KEYHOLE_TIMEOUT"}


def test_a_blank_value_keeps_the_default() -> None:
    assert config_of('home = ""\nengines = []\nproxy = " "') == Config()


def test_an_unknown_key_is_reported_with_its_line_and_the_nearest_setting() -> None:
    assert faults_of("\nmax_char = 3\n") == [f"{FILE}:2: unknown setting max_char; did you mean max_chars?"]
    assert faults_of("KEYHOLE_TIMEOUT = 3") == [f"{FILE}:1: unknown setting KEYHOLE_TIMEOUT; did you mean timeout?"]
    assert faults_of("config = 'off'")[0].startswith(f"{FILE}:1: unknown setting config")


def test_every_fault_is_reported_and_no_key_is_shown() -> None:
    faults = faults_of('max_chars = 3\n[fetch]\nx = 1\n[[engine]]\nname = "x"\n')
    assert faults == [
        f"{FILE}:2: [fetch]: tables are not supported; write settings as `name = value` lines",
        f"{FILE}:4: unknown setting engine; did you mean engines?",
        f"{FILE}:1: max_chars='3': must be from 500 to 200,000",
    ]
    assert "s3cret" not in "".join(faults_of('brave_key = "s3cret"'))


@pytest.mark.parametrize("text", ["max_chars = [1, 200]", "timeout = 2024-01-01", "engines = [[1]]", "ports = [1.5]"])
def test_a_value_of_a_wrong_type_is_refused(text: str) -> None:
    (fault,) = faults_of(text)
    assert fault.startswith(f"{FILE}:1: {text.split(' ')[0]}: must be ")


@pytest.mark.parametrize("text", ["max_chars = true", "stateless = 1", "max_chars = 1e9", "timeout = nan"])
def test_a_value_that_its_parser_refuses_is_reported_with_its_line(text: str) -> None:
    (fault,) = faults_of(text)
    assert fault.startswith(f"{FILE}:1: ")


def test_invalid_toml_is_reported_with_line_and_column() -> None:
    (fault,) = faults_of("timeout = 3\nmax_chars 9000\n")
    assert fault == f"{FILE}: expected '=' after a key in a key/value pair (at line 2, column 11)"


def test_a_key_inside_a_multi_line_string_is_not_the_line_of_a_setting() -> None:
    text = 'embed_model = """\ntimeout = "not this line"\n"""\ntimeout = 0\n'
    (fault,) = faults_of(text)
    assert fault.startswith(f"{FILE}:4: timeout='0'")


def test_the_template_sets_nothing_until_a_line_is_uncommented_and_then_the_default() -> None:
    assert parse_settings_file(settings_template(), FILE) == ({}, [])
    uncommented = re.sub(r"^# (?=[a-z_]+ = )", "", settings_template(), flags=re.MULTILINE)
    assert uncommented.count("\n#") < settings_template().count("\n#")
    assert config_of(uncommented) == Config()
    assert all(f"\n{setting.field} = " in uncommented for setting in SETTINGS)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["timeout", "=", "[", "]", '"', "'''", "\n", "1", "."])).map("".join)
)
def test_any_text_gives_values_or_faults(text: str) -> None:
    settings, faults = parse_settings_file(text, FILE)
    assert all(fault.startswith(FILE) for fault in faults)
    assert all(re.fullmatch(rf"{FILE}:\d+", each.origin) for each in settings.values())


@pytest.mark.parametrize("number", ["9" * 5_000, "0x" + "f" * 5_000, "-0x" + "f" * 5_000, f"[{'0b' + '1' * 9_000}]"])
def test_a_number_too_long_for_python_is_a_fault(number: str) -> None:
    assert len(faults_of(f"max_chars = {number}\n")) == len(faults_of(f"ports = [{number}]\n")) == 1


def test_a_hostile_key_is_quoted_shortened_and_cleaned() -> None:
    for text in ('"\\u001b]0;title\\u0007x" = 1', '["\\u001b[31m"]', f"{'k' * 90_000} = 1"):
        (fault,) = faults_of(text)
        assert "\x1b" not in fault and len(fault) < 250


def test_thousands_of_keys_are_reported_as_one_fault() -> None:
    text = 'x = """a"""\n' + "".join(f"k{number} = 1\n" for number in range(9_000))
    (fault,) = faults_of(text)
    assert "9,001 keys" in fault
