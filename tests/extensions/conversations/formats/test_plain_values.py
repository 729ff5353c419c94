"""Objects of SDKs are read as plain values, and changed without changing their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from keyhole.extensions.conversations.formats.contents import is_readable, original_at, plain, replace_at, shape_like

CAMEL = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")
"""The API has the names in camel case."""


class Call(BaseModel):
    name: str
    call_args: dict[str, Any] | None = None
    model_config = CAMEL


class Part(BaseModel):
    text: str | None = None
    function_call: Call | None = None
    data: bytes | None = None
    model_config = CAMEL


class Content(BaseModel):
    role: str
    parts: list[Part]


class Block(BaseModel):
    """A block of an SDK that takes fields which it does not know."""

    type: str
    text: str = ""
    model_config = ConfigDict(extra="allow")


@dataclass
class Prompt:
    content: str
    part_kind: Literal["user-prompt"] = field(default="user-prompt", init=False)


@dataclass(frozen=True)
class Message:
    parts: list[Any]
    kind: Literal["request"] = field(default="request", init=False)
    note: str | None = None


class Record(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Convertible:
    """An object that only knows its dictionary."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def to_dict(self) -> dict[str, Any]:
        return self._values


class Color(Enum):
    RED = "red"


class Name(str):
    """A subclass of a text."""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
CONTENT = Content(role="model", parts=[Part(text="hi"), Part(function_call=Call(name="sh", call_args={"a": 1}))])


@given(JSON)
def test_a_plain_value_is_returned_itself(value: Any) -> None:
    assert plain(value) is value


def test_a_model_is_read_with_the_names_of_the_api_and_without_missing_fields() -> None:
    assert plain(CONTENT) == {
        "role": "model",
        "parts": [{"text": "hi"}, {"functionCall": {"name": "sh", "callArgs": {"a": 1}}}],
    }


def test_the_fields_that_a_model_does_not_know_are_read() -> None:
    assert plain(Block.model_validate({"type": "text", "text": "hi", "later": [1]})) == {
        "type": "text", "text": "hi", "later": [1],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Message([Prompt("hi")]), {"parts": [{"content": "hi", "part_kind": "user-prompt"}], "kind": "request"}),
        (Record(role="user", content="hi"), {"role": "user", "content": "hi"}),
        (Convertible(role="user", content=None), {"role": "user"}),
        (
            {"role": "assistant", "content": [Block(type="text")]},
            {"role": "assistant", "content": [{"type": "text", "text": ""}]},
        ),
        (("a", ["b"]), ["a", ["b"]]),
        (b"\x00\x01", "AAE="),
        (bytearray(b"\x00\x01"), "AAE="),
        (Color.RED, "red"),
        (Name("hi"), "hi"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (object(), {"type": "object"}),
        ({"data": Part(data=b"\x00\x01")}, {"data": {"data": "AAE="}}),
    ],
)
def test_objects_are_read_as_plain_values(value: Any, expected: Any) -> None:
    seen = plain(value)
    assert seen == expected
    assert type(seen) is type(expected)


def test_mappings_and_objects_with_fields_are_readable() -> None:
    items: list[Any] = [{}, Record(), CONTENT, Message([]), Convertible()]
    for item in items:
        assert is_readable(item)
    for value in ("hi", 3, None, [], object(), Content):
        assert not is_readable(value)


def test_a_value_is_found_by_the_names_of_the_api_and_those_of_the_object() -> None:
    for name in ("functionCall", "function_call"):
        assert original_at(CONTENT, ("parts", 1, name)) is CONTENT.parts[1].function_call
    assert original_at({"a": [Record(b=Message(["c"]))]}, ("a", 0, "b", "parts", 0)) == "c"
    assert original_at({"a": None}, ("b",)) is original_at(CONTENT, ("gone",)) is None


def test_a_value_deep_in_a_model_is_replaced_and_all_else_is_shared() -> None:
    changed = replace_at(CONTENT, ("parts", 1, "functionCall", "callArgs"), {"b": 2})
    assert isinstance(changed, Content)
    assert isinstance(changed.parts[1].function_call, Call)
    assert changed.parts[1].function_call.call_args == {"b": 2}
    assert changed.parts[0] is CONTENT.parts[0]
    assert plain(CONTENT)["parts"][1]["functionCall"]["callArgs"] == {"a": 1}


def test_a_value_in_a_dict_of_objects_is_replaced() -> None:
    other = Block(type="text")
    block = Block.model_validate({"type": "tool_result", "content": [{"type": "text", "text": "long"}]})
    changed = replace_at({"role": "user", "content": [other, block]}, ("content", 1, "content", 0, "text"), "short")
    assert changed["content"][0] is other
    assert isinstance(changed["content"][1], Block)
    assert plain(changed["content"][1])["content"] == [{"type": "text", "text": "short"}]


def test_a_value_in_a_frozen_dataclass_is_replaced() -> None:
    message = Message([Prompt("long"), Prompt("other")])
    changed = replace_at(message, ("parts", 0, "content"), "short")
    assert isinstance(changed, Message)
    assert changed.parts == [Prompt("short"), Prompt("other")]
    assert changed.parts[1] is message.parts[1]
    assert message.parts[0] == Prompt("long")


def test_an_object_that_only_knows_its_dictionary_becomes_a_dict() -> None:
    assert replace_at(Convertible(role="tool", content="long"), ("content",), "short") == {
        "role": "tool", "content": "short",
    }  # fmt: skip


def test_other_mappings_become_dicts_and_keep_their_other_values() -> None:
    values = [1]
    changed = replace_at(Record(content="long", values=values), ("content",), "short")
    assert changed == {"content": "short", "values": [1]}
    assert changed["values"] is values


@given(JSON, st.text(max_size=3), JSON)
def test_a_replaced_value_is_found_again(value: Any, name: str, new: Any) -> None:
    item: dict[str, Any] = {"a": [value, {name: value}], "b": value}
    changed = replace_at(item, ("a", 1, name), new)
    assert original_at(changed, ("a", 1, name)) == new
    assert changed["a"][0] is changed["b"] is value
    assert original_at(item, ("a", 1, name)) is value


def test_a_plain_value_gets_the_kind_of_a_sample() -> None:
    assert shape_like(CONTENT, {"role": "user", "parts": [{"text": "hi"}]}) == Content(
        role="user", parts=[Part(text="hi")]
    )
    assert shape_like([Part(text="a")], [{"text": "hi"}]) == [Part(text="hi")]
    made = shape_like(
        Message([Prompt("a")]), {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]}
    )
    assert made == Message([Prompt("hi")])
    assert isinstance(made.parts[0], Prompt)


def test_a_list_gets_the_kind_of_the_first_sample_that_holds_it() -> None:
    made = shape_like(
        [Prompt("a"), Part(text="b")], [{"text": "hi"}, {"part_kind": "user-prompt", "content": "ho"}, "x"]
    )
    assert made == [Part(text="hi"), Prompt("ho"), "x"]


@pytest.mark.parametrize(
    ("sample", "value"),
    [
        (Content, {"role": "user", "parts": []}),
        (CONTENT, {"role": "user"}),
        (Part(), {"text": "hi", "later": 1}),
        (Prompt("a"), {"part_kind": "system-prompt", "content": "hi"}),
        (Prompt("a"), {"part_kind": "user-prompt"}),
        ({"role": "user"}, {"role": "user"}),
        (None, {"role": "user"}),
        ("text", "other"),
        ("text", ["a"]),
    ],
)
def test_a_value_that_the_kind_of_the_sample_cannot_hold_stays_plain(sample: Any, value: Any) -> None:
    shaped = shape_like(sample, value)
    assert shaped == value
    assert type(shaped) is type(value)
