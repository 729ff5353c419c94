"""JSON and JSON Lines: outline, unchanged values, and invalid JSON."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract import extract
from keyhole.extract.formats.data import indent_json
from keyhole.records import Document
from keyhole.text.markdown import parse_blocks
from tests.support.machine import allowed


def read(body: str, content_type: str = "application/json") -> Document:
    return extract(body.encode("utf-8", "replace"), url="https://example.org/a", content_type=content_type)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_indentation_keeps_the_values(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    assert json.loads(indent_json(text)) == value


def test_the_outline_precedes_the_values() -> None:
    assert read('{"name":"x","items":[{"id":1,"at":[1.5,2]},{"id":2}],"n":null,"ok":true}').text == (
        "JSON: object with 4 keys (`name`, `items`, `n`, `ok`)\n"
        "\n"
        "- `name`: string\n"
        "- `items`: array of 2 objects (`id`, `at`)\n"
        "- `n`: null\n"
        "- `ok`: boolean\n"
        "\n"
        "```json\n"
        "{\n"
        '  "name": "x",\n'
        '  "items": [\n'
        "    {\n"
        '      "id": 1,\n'
        '      "at": [1.5, 2]\n'
        "    },\n"
        '    {"id": 2}\n'
        "  ],\n"
        '  "n": null,\n'
        '  "ok": true\n'
        "}\n"
        "```\n"
    )


def test_the_outline_is_short_whatever_the_values() -> None:
    text = read(json.dumps({f"key {n}": {"a" * 500: n} for n in range(1_000)})).text
    outline = text.partition("```")[0].split("\n")
    assert len(outline) < 18
    assert "- and 988 more keys" in outline
    assert max(map(len, outline)) < 400


@pytest.mark.parametrize(
    "token",
    ["1.0", "1E400", "-0", "9" * 5_000, "0.1000000000000000055511151231257827", '"\\u00e9\\ud83d\\ude00\\u0007"'],
)
def test_numbers_and_strings_keep_their_digits(token: str) -> None:
    expected = token.replace("\\u00e9", "é")
    assert f'"a": {expected}\n' in read(f'{{"a":{token}}}').text


def test_a_duplicate_key_is_shown_twice() -> None:
    assert '{\n  "a": 1,\n  "a": 2\n}' in read('{"a":1,"a":2}').text


def test_text_with_line_breaks_is_unchanged() -> None:
    text = '{\n    "a": [1,\n          2]\n}'
    assert text in read(text).text


@pytest.mark.parametrize(
    "text", ['{"a": [1, 2', "{'a': 1}", "words", "[" * 100_000, '{"a":1}{"b":2}', "[" * 5_000 + "]" * 5_000]
)
def test_invalid_json_is_unchanged(text: str) -> None:
    assert read(text).text == text


def test_the_title_is_the_title_or_name_of_the_object() -> None:
    assert read('{"name":"b","title":"A title"}').title == "A title"
    assert read('{"name":"b","title":5}').title == "b"
    assert read("[1]").title == ""


@pytest.mark.parametrize("content_type", ["application/x-ndjson", "application/jsonl", "application/json-seq"])
def test_json_lines_are_unchanged(content_type: str) -> None:
    text = read('{"a":1}\n{"a":2}\nbroken\n', content_type).text
    assert (
        text
        == 'JSON Lines: 3 values; the first is: object with 1 key (`a`)\n\n```json\n{"a":1}\n{"a":2}\nbroken\n```\n'
    )


def test_a_fence_in_a_value_does_not_end_the_values() -> None:
    document = read("1\n```\n2\n", "application/jsonl")
    assert [block.kind for block in parse_blocks(document.text)] == ["paragraph", "code"]


SLOW = {
    "numbers": "[" + "1," * 500_000 + "1]",
    "empty arrays": "[" * 15 + "[]," * 300_000 + "[]" + "]" * 15,
    "backslashes": '["' + "\\\\" * 500_000,
    "a long string": '["' + "a" * 3_000_000 + '"]',
    "open objects": '{"a":' * 300_000,
}


@pytest.mark.parametrize("name", list(SLOW))
def test_no_json_is_slow_to_read_or_grows_without_bound(name: str) -> None:
    started = time.process_time()
    assert len(read(SLOW[name]).text) < 15 * len(SLOW[name]) + 1_000
    assert time.process_time() - started < allowed(4)
