"""The records of JSON."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.extract.outputs.json_records import find_records

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.parametrize("indent", [None, 2])
def test_the_objects_of_the_longest_array_are_the_records(indent: int | None) -> None:
    items = [{"id": number, "tags": ["a]", "}b"]} for number in range(5)]
    text = json.dumps({"count": 5, "pages": [[1], [2]], "items": items}, indent=indent)
    assert [json.loads(text[start:end]) for start, end in find_records(text)] == items


@pytest.mark.parametrize("text", ["", "[1, 2, 3]", '{"a": {"b": 1}}', "[{]}", '[{"a": 1}', "]", '[{"only": "one"}]'])
def test_other_text_has_no_records(text: str) -> None:
    assert find_records(text) == ()


@given(JSON)
def test_every_record_is_valid_json_and_they_do_not_overlap(value: Any) -> None:
    text = json.dumps(value)
    records = find_records(text)
    assert all(isinstance(json.loads(text[start:end]), dict | list) for start, end in records)
    assert list(records) == sorted(records)
    assert all(before[1] < after[0] for before, after in pairwise(records))
