"""Test the engines file: valid files, and errors that name the table and the key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.engines.engines_file import KEYS, parse_engines_file

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "search-engines" / "engines-file.md"
ENVIRONMENT = {"WIKI_TOKEN": "s3cret/token+7", "EMPTY": "", "LINES": "two\r\nlines-of-it"}
PLAIN = """
[[engine]]
name = "wiki"
url = "http://wiki.corp.example:8080/search?q={query}"
results = "items"
link = "url"
title = "name"
"""


def error_message(text: str) -> str:
    with pytest.raises(KeyholeError) as caught:
        parse_engines_file(text, ENVIRONMENT)
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert "s3cret" not in caught.value.message
    return caught.value.message


def with_line(line: str, without: str = "-") -> str:
    return "\n".join([*(row for row in PLAIN.splitlines() if not row.startswith(without)), line])


def test_the_example_in_the_guide_is_a_valid_file() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    wiki, handbook = parse_engines_file(example, ENVIRONMENT)
    assert (wiki.name, wiki.endpoint, wiki.timeout) == ("wiki", "wiki.corp.example:443", 5.0)
    assert wiki.supported_filters == {"language", "freshness"}
    assert wiki.headers == (("Authorization", "Bearer s3cret/token+7"),)
    assert (handbook.name, handbook.supported_filters, handbook.headers) == ("handbook", frozenset(), ())
    assert handbook.body["size"] == "{count}"
    rows = re.findall(r"^\| (`.+?`) \|", text, re.MULTILINE)
    assert sorted(re.findall(r"`([a-z]+)`", " ".join(rows))) == sorted(KEYS)


@pytest.mark.parametrize("text", ["", "# none yet", "engine = []"])
def test_a_file_without_engines_is_refused(text: str) -> None:
    with pytest.raises(KeyholeError, match="engines file: it has no"):
        parse_engines_file(text, {})


def test_values_of_the_environment_are_not_in_the_repr() -> None:
    text = with_line(
        'url = "https://a.example/?q={query}&key=${WIKI_TOKEN}"\nbody = \'{"q": "{query}", "key": "${WIKI_TOKEN}"}\'\n'
        'headers = { X-Key = "${WIKI_TOKEN}" }',
        "url",
    )
    (spec,) = parse_engines_file(text, ENVIRONMENT)
    assert spec.url == "https://a.example/?q={query}&key=s3cret%2Ftoken%2B7"
    assert spec.body == {"q": "{query}", "key": "s3cret/token+7"}
    assert spec.secrets == ("s3cret/token+7",)
    assert "s3cret" not in repr(spec)


@pytest.mark.parametrize(
    ("line", "without", "message"),
    [
        ("", "name", "[[engine]] 1: name: is missing"),
        ("", "results", "[[engine]] 1 (wiki): results: is missing"),
        ("titel = 'x'", "-", "[[engine]] 1 (wiki): titel: unknown key; did you mean title?"),
        ("name = 'Wiki'", "name", "name: must consist of a-z"),
        ("name = 'brave'", "name", "name: brave is the name of another engine"),
        ("name = 5", "name", "name: must be text"),
        ("url = 'wiki.corp.example/{query}'", "url", "url: the URL has no scheme"),
        ("url = 'ftp://wiki.corp.example/{query}'", "url", "url: the scheme ftp: is not allowed"),
        ("url = 'https://{query}.example/'", "url", "url: scheme, host and port must not contain placeholders"),
        ("url = 'https://${WIKI_TOKEN}/{query}'", "url", "url: scheme, host and port must not contain placeholders"),
        ("url = 'https://me:pw@a.example/?q={query}'", "url", "url: "),
        ("url = 'https://a.example/?q={querry}'", "url", "url: {querry} is not one of {query}, {count}"),
        ("url = 'https://a.example/?q=x'", "url", "url: {query} is in neither the url nor the body"),
        (
            "url = 'https://a.example/?q={query}&k=${NOT_SET}'",
            "url",
            "url: the environment variable NOT_SET is not set",
        ),
        ("url = 'https://a.example/?q={query}&k=${EMPTY}'", "url", "url: the environment variable EMPTY is not set"),
        (
            "headers = { Authorization = '${NOT_SET}' }",
            "-",
            "headers.Authorization: the environment variable NOT_SET is not set",
        ),
        ("headers = { X = '${LINES}' }", "-", "headers.X: must be printable ASCII"),
        ("headers = { Host = 'x' }", "-", "headers.Host: cannot be set"),
        ("headers = { 'a b' = 'x' }", "-", "headers.a b: cannot be set"),
        ("headers = { X = 5 }", "-", "headers.X: must be text"),
        ("headers = 'X: y'", "-", "headers: must be a table"),
        ("method = 'PUT'", "-", "method: must be GET or POST"),
        ("method = 'POST'", "-", "body: required for POST"),
        ("method = 'GET'\nbody = '{}'", "-", "body: required for POST and not allowed for GET"),
        ("body = '{'", "-", "body: is not JSON"),
        ("link = 'a['", "link", "link: is not a JMESPath"),
        ("date = ''", "-", "date: must be text"),
        ("timeout = 0", "-", "timeout: must be seconds"),
        ("timeout = true", "-", "timeout: must be seconds"),
        ("freshness = { day = 1 }", "-", "freshness: must be a table of texts"),
        ("freshness = { hour = 'h' }", "-", "freshness.hour: is not one of day, week, month, year"),
        (PLAIN, "-", "[[engine]] 2 (wiki): name: wiki is the name of another engine"),
        ("[engines]", "-", "engines: only [[engine]] tables are allowed"),
        ("x =", "-", "engines file: Invalid"),
    ],
)
def test_an_error_names_the_table_and_the_key(line: str, without: str, message: str) -> None:
    assert message in error_message(with_line(line, without))


def test_too_many_engines_and_non_tables_are_refused() -> None:
    assert "must be at most" in error_message("[[engine]]\n" * 51)
    assert "must be at most" in error_message("engine = 5")
    assert "must be at most" in error_message("engine = [5]")


VALUES = (
    st.text(max_size=30)
    | st.integers()
    | st.booleans()
    | st.sampled_from(["{query}", "${WIKI_TOKEN}", "https://a.example/{query}"])
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_table_gives_an_engine_or_a_keyhole_error(row: dict[str, object]) -> None:
    def literal(value: object) -> str:
        if isinstance(value, str):
            return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
        return str(value).lower()

    text = "[[engine]]\n" + "\n".join(f"{key} = {literal(value)}" for key, value in row.items())
    try:
        specs = parse_engines_file(text, ENVIRONMENT)
    except KeyholeError as error:
        assert error.code is Code.INVALID_ARGUMENT
        assert "s3cret" not in error.message
    else:
        assert len(specs) == 1
