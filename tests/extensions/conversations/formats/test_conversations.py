"""The format of a conversation is recognised from its items."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.formats import FORMATS, dialect, read_conversation, recognise
from keyhole.extensions.conversations.formats.contents import original_at

TASK = {"role": "user", "content": "hi"}
RESPONSE = {"type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "ho"}]}
"""A response of Anthropic's API as it came. OpenAI's items of the type "message" have parts of other types."""
THINKING_AND_CALLS = [
    {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]},
    {"role": "tool", "tool_call_id": "a", "content": ""},
]
"""Messages of a local server, whose thoughts are parts as in Anthropic's API."""


@pytest.mark.parametrize(
    ("items", "format"),
    [
        ([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "a", "content": ""}], "chat"),
        ([{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}], "chat"),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}], "anthropic"),
        ([{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}], "anthropic"),
        (
            [{"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web_search"}]}],
            "anthropic",
        ),
        ([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}], "responses"),
        ([{"role": "user", "content": "hi"}, {"type": "function_call", "call_id": "a"}], "responses"),
        ([{"type": "message", "role": "user", "content": "hi"}], "responses"),
        (
            [{"type": "message", "role": "user", "content": "hi"}, {"type": "mcp_approval_request", "id": "r"}],
            "responses",
        ),
        ([{"role": "user", "parts": [{"text": "hi"}]}], "gemini"),
        ([{"parts": [{"text": "hi"}]}], "gemini"),
        ([{"type": "human", "content": "hi"}], "langchain"),
        ([{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]}], "pydantic-ai"),
        ([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}], "chat"),
        ([], "chat"),
        ([RESPONSE, TASK, {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}], "anthropic"),
        ([RESPONSE, TASK], "anthropic"),
        ([{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image"}]}], "anthropic"),
        ([*THINKING_AND_CALLS, *THINKING_AND_CALLS], "chat"),
        ([{"type": "ai", "content": "", "tool_calls": [{"id": "a"}]}], "langchain"),
        ([{"role": "user", "parts": [{"hologram": 1}]}, TASK], "gemini"),
    ],
)
def test_the_format_is_recognised_by_the_whole_conversation(items: list[dict[str, Any]], format: str) -> None:
    assert recognise(items) == format
    assert read_conversation(items).format == format


def test_a_format_that_is_named_is_not_recognised() -> None:
    assert read_conversation([{"role": "user", "content": "hi"}], "anthropic").format == "anthropic"


@pytest.mark.parametrize(
    ("items", "name"),
    [
        (
            [{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "hi"}}],
            "constructor",
        ),
        ([{"role": "critic", "content": "no"}, {"role": "judge"}], "role critic"),
    ],
)
def test_a_conversation_of_which_no_item_is_understood_is_refused_with_the_first_type(
    items: list[dict[str, Any]], name: str
) -> None:
    with pytest.raises(KeyholeError) as refused:
        read_conversation(items)
    assert refused.value.code is Code.INVALID_ARGUMENT
    assert name in refused.value.message


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_reads_the_message_of_the_user_that_it_writes(format: Any) -> None:
    form = dialect(format)
    item = form.user_item("hi")
    facts = form.read_item(item, 0)
    assert (facts.kind, facts.has_user_text, facts.unknown) == ("user", True, ())
    assert "hi" in str(original_at(item, form.text_path(item)))
    assert recognise([item]) in (format, "chat")


def test_the_items_that_are_not_understood_are_named_with_their_index() -> None:
    items: list[dict[str, Any]] = [
        {"role": "user", "content": "hi"},
        {"role": "critic"},
        {"role": "user", "content": [{"type": "hologram"}]},
    ]
    assert read_conversation(items).unknown == ((1, "role critic"), (2, "block hologram"))
