"""The records of JSON."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.records import MAX_JSON_DEPTH, describe, read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)


def spans(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(part[:2] for part in read_json(text)[0])


@pytest.mark.parametrize("indent", [None, 2])
def test_the_objects_and_arrays_in_the_longest_arrays_and_objects_are_the_records(indent: int | None) -> None:
    items = [{"id": number, "tags": [["a]"], ["}b"]]} for number in range(5)]
    files = {f"a{number}.py": {"lines": number} for number in range(9)}
    text = json.dumps({"count": 5, "pages": [[1], [2]], "items": items, "files": files}, indent=indent)
    addresses = [part.name for part in read_json(text)[0]]
    assert addresses == [
        *("$.pages[0]", "$.pages[1]"),
        *(f"$.items[{number}] id={number}" for number in range(5)),
        *(f'$.files["a{number}.py"]' for number in range(9)),
    ]
    assert [json.loads(text[start:end]) for start, end in spans(text)[:7]] == [[1], [2], *items]


@pytest.mark.parametrize("text", ["", "[1, 2, 3]", '{"a": {"b": 1}}', "[{]}", '[{"a": 1}', "]", '[{"only": "one"}]'])
def test_other_text_has_no_records(text: str) -> None:
    assert spans(text) == ()


def test_json_may_follow_a_few_lines() -> None:
    text = 'npm warn Unknown user config "nodedir".\n{"name": "x", "ships": [{"id": 1}, {"id": 2}]}\n'
    parts, shapes, values = read_json(text)
    assert values == ({"id": 1}, {"id": 2})
    assert [(part.name, text[part.start : part.end]) for part in parts] == [
        ("$.ships[0] id=1", '{"id": 1}'),
        ("$.ships[1] id=2", '{"id": 2}'),
    ]
    assert shapes[0] == "shape: {name, ships: [2 × {id: number}]}"


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"id": 1, "name": "pump"}, " name=pump"),
        ({"metadata": {"name": "web-1"}, "spec": {}}, " name=web-1"),
        ({"url": "https://a.example"}, " url=https://a.example"),
        ({"name": "x" * 90}, ""),
        ({"size": 3}, ""),
        ({"": [0]}, ""),
    ],
)
def test_a_record_is_named_by_its_field(record: dict[str, object], name: str) -> None:
    assert read_json(json.dumps([record, {}]))[0][0].name == f"$[0]{name}"


def value_at(data: Any, path: str) -> Any:
    for key in re.findall(r'\.(\w+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]', path):
        data = data[key[0] or (int(key[1]) if key[1] else json.loads(key[2]))]
    return data


@given(JSON)
def test_every_record_is_the_value_at_its_address_and_they_do_not_overlap(value: Any) -> None:
    text = json.dumps(value)
    records = read_json(text).parts
    for record in records:
        shown = text[record.start : record.end]
        found = value_at(value, record.name)
        assert shown == json.dumps(found) or shown.endswith(f'": {json.dumps(found)}')
    assert all(before.end < after.start for before, after in pairwise(records))


def test_a_shape_has_the_keys_the_lengths_of_arrays_and_the_types_of_other_values_than_strings() -> None:
    data = {"name": "a", "n": 1, "ok": True, "none": None, "list": [{"id": "x", "tags": ["b"]}] * 3, "b c": {}}
    detailed, *_, shortest = describe(data)
    assert detailed == (
        'shape: {name, n: number, ok: boolean, none: null, list: [3 × {id, tags: [1 × string]}], "b c": {0 keys}}'
    )
    assert shortest == 'shape: {name, n: number, ok: boolean, none: null, list: [3 items], "b c": {0 keys}}'
    assert describe(dict.fromkeys(map(str, range(99)), 0))[0].endswith(', "11": number, 87 more keys}')


def test_records_far_down_are_not_looked_for() -> None:
    nested = "[" * (MAX_JSON_DEPTH + 2) + "{}, {}" + "]" * (MAX_JSON_DEPTH + 2)
    assert read_json(nested)[0] == ()
    assert len(read_json(nested[2:-2])[0]) == 2
