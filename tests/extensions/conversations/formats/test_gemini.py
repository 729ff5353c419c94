"""Contents of the Gemini API, as its JSON and as its SDK writes them."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.extensions.conversations.formats.gemini import is_own, read_item, text_part, text_path, user_item
from keyhole.extensions.conversations.formats.values import ToolResult


@pytest.mark.parametrize("field", ["functionCall", "function_call"])
def test_calls_are_read_in_both_spellings(field: str) -> None:
    parts = [
        {"text": "I run it.", "thoughtSignature": "YWI="},
        {field: {"id": "1", "name": "sh", "args": {}}},
        {field: {"name": "read", "args": {}}},
    ]
    facts = read_item({"role": "model", "parts": parts}, 0)
    assert (facts.kind, facts.calls, facts.unknown) == ("model", (("1", "sh"), ("read",)), ())


@pytest.mark.parametrize("field", ["functionResponse", "function_response"])
@pytest.mark.parametrize("role", ["user", "function", None])
def test_a_response_is_found_by_the_number_of_its_part(field: str, role: str | None) -> None:
    response = {"id": "1", "name": "sh", "response": {"output": "done"}}
    facts = read_item({"role": role, "parts": [{"text": "so"}, {field: response}]}, 4)
    assert (facts.kind, facts.has_user_text) == ("result", True)
    assert facts.results == (ToolResult(4, ("parts", 1, field), ("1", "sh"), response),)
    assert facts.results[0].place == (4, 1)


def test_a_content_with_responses_alone_has_no_text_of_the_user() -> None:
    assert not read_item({"role": "user", "parts": [{"functionResponse": {"name": "sh"}}]}, 0).has_user_text


def test_roles_are_told_apart() -> None:
    roles = ["user", "model", "system", None, "critic"]
    kinds = [read_item({"role": role, "parts": [{"text": "hi"}]}, 0).kind for role in roles]
    assert kinds == ["user", "model", "system", "user", "unknown"]


@pytest.mark.parametrize(
    "part",
    [
        {"inlineData": {"mimeType": "image/png", "data": "x"}},
        {"file_data": {"file_uri": "x"}},
        {"executableCode": {"code": "1+1"}},
        {"code_execution_result": {"output": "2"}},
        {"text": "hm", "thought": True},
        {"thoughtSignature": "YWI="},
    ],
)
def test_parts_of_all_known_fields_are_understood(part: dict[str, Any]) -> None:
    assert read_item({"role": "model", "parts": [part]}, 0).unknown == ()


@pytest.mark.parametrize(
    ("item", "unknown"),
    [
        ({"role": "critic", "parts": []}, "role critic"),
        ({"role": "user", "parts": "hi"}, "parts"),
        ({"role": "user", "parts": [{"hologram": {}}]}, "part hologram"),
        ({"role": "user", "parts": ["hi"]}, "part str"),
        ({"role": "user", "parts": [{"functionResponse": {"name": "sh"}}, {"hologram": {}}]}, "part hologram"),
    ],
)
def test_contents_that_are_not_understood_are_named_and_have_no_results(item: dict[str, Any], unknown: str) -> None:
    facts = read_item(item, 0)
    assert (facts.unknown, facts.results) == ((unknown,), ())


def test_a_content_is_recognised_by_its_parts() -> None:
    assert is_own({"role": "user", "parts": []})
    assert is_own({"parts": [{"text": "hi"}]})
    assert not is_own({"kind": "request", "parts": []})
    assert not is_own({"role": "user", "content": "hi"})


def test_contents_of_the_user_are_written() -> None:
    assert user_item("hi") == {"role": "user", "parts": [text_part("hi")]}
    assert text_path(user_item("hi")) == ("parts",)
