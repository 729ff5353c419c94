"""The values of JSON at a path are read."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.outputs.bound import bound
from keyhole.outputs.json_path import parse_path, select_path
from tests.support.product import SECRET, retrieval

DATA = {"items": [{"name": f"pump {n}", "state": {"ok": n != 3}, "note": "x" * 40} for n in range(40)], "a b": 7}
TEXT = json.dumps(DATA)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("$.items[*].name", ("items", "*", "name")),
        ('$["a b"]', ("a b",)),
        (" $.items[3].state.ok ", ("items", "3", "state", "ok")),
        ("$5 discount", None),
        ("$", None),
        ("which item", None),
        ("$.items and more", None),
    ],
)
def test_a_path_is_told_from_a_question(query: str, path: tuple[str, ...] | None) -> None:
    assert parse_path(query) == path


@pytest.mark.parametrize("indent", [None, 2])
def test_the_values_at_a_path_are_shown_with_their_keys(indent: int | None) -> None:
    text = json.dumps(DATA, indent=indent)
    shown = select_path(text, ("items", "*", "name"), 8_000, len)
    assert shown is not None
    assert [text[start:end] for start, end in shown.spans] == [f'"name": "pump {n}"' for n in range(40)]
    one = select_path(text, ("items", "3", "state", "ok"), 900, len)
    assert one is not None
    assert [text[start:end] for start, end in one.spans] == ['"ok": false']


@given(st.integers(0, 3_000))
def test_the_first_values_that_fit_are_shown(max_chars: int) -> None:
    shown = select_path(TEXT, ("items", "*", "note"), max_chars, len)
    assert shown is None or len(shown.text) <= max_chars


@pytest.mark.parametrize("text", ["no JSON", "[1, 2", '{"b": 1}', "{}", '"text"'])
def test_a_text_without_such_values_has_none(text: str) -> None:
    assert select_path(text, ("items", "*", "name"), 900, len) is None


def test_read_artifact_reads_a_stored_output_by_a_path() -> None:
    product = retrieval({})
    id = str(bound(TEXT, budget=500, secret=SECRET, store=product.store, now=product.pages.clock()).id)
    answer = asyncio.run(product.read_artifact(id, query="$.items[*].name"))
    assert not answer.is_error
    assert all(f'"name": "pump {n}"' in answer.text for n in range(40))
    assert "xxxx" not in answer.text
    assert '"a b": 7' in asyncio.run(product.read_artifact(id, query='$["a b"]')).text
