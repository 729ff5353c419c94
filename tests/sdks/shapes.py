"""Write conversations with the objects of SDKs: whole items, only what they hold, and mixed with dicts.

Needs the packages in tests/sdks/requirements.txt.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Sequence
from typing import Any

import anthropic.types.beta as anthropic_types
from anthropic._models import construct_type as construct_anthropic
from google.genai import types as gemini_types
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from openai._models import construct_type as construct_openai
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageToolCallUnion
from openai.types.responses import ResponseInputItem, ResponseOutputItem
from pydantic_ai import messages as pydantic_ai

from tests.support.conversations import FORMATS, Event

Item = dict[str, Any]
Write = Callable[[Sequence[Event], random.Random], list[Any]]
_INPUTS = {"message", "mcp_approval_response", "additional_tools", "item_reference", "note_of_a_client"}


def writers(formats: Sequence[str]) -> dict[str, Write]:
    """Return the functions that write a conversation with objects, by format and kind of the objects."""
    shapes: dict[str, dict[str, Callable[[Item], Any]]] = {
        "anthropic": {"blocks": anthropic_blocks, "messages": anthropic_message},
        "chat": {"calls": chat_calls, "messages": chat_message},
        "responses": {"items": responses_item},
        "gemini": {"parts": gemini_parts, "contents": gemini_content},
    }
    found = {
        f"{format} {name}": _mixing(format, shape)
        for format in formats
        for name, shape in shapes.get(format, {}).items()
    }
    return found | {"langchain": to_langchain, "pydantic-ai": to_pydantic_ai}


def _mixing(format: str, shape: Callable[[Item], Any]) -> Write:
    """Return a function that writes some or all items of a format as objects."""

    def write(steps: Sequence[Event], rng: random.Random) -> list[Any]:
        share = rng.choice((0.3, 0.7, 1))
        return [shape(item) if rng.random() < share else item for item in FORMATS[format](steps)]

    return write


def _is_known(parts: Sequence[Any]) -> bool:
    return not any(isinstance(part, dict) and "frobnicate" in (part.get("type"), *part) for part in parts)


def anthropic_blocks(item: Item) -> Item:
    """Return a message of the assistant whose blocks are those of a response."""
    if item["role"] != "assistant" or not isinstance(item["content"], list):
        return item
    block: Any = anthropic_types.BetaContentBlock
    return {**item, "content": [construct_anthropic(type_=block, value=each) for each in item["content"]]}


def anthropic_message(item: Item) -> Any:
    """Return a message of the assistant as the response itself."""
    if item["role"] != "assistant" or not isinstance(item["content"], list):
        return item
    usage = {"input_tokens": 1, "output_tokens": 1}
    fields = {"id": "msg", "type": "message", "model": "claude", "stop_reason": "end_turn", "usage": usage, **item}
    return construct_anthropic(type_=anthropic_types.BetaMessage, value=fields)


def chat_calls(item: Item) -> Item:
    """Return a message whose calls are those of a response."""
    if not item.get("tool_calls"):
        return item
    call: Any = ChatCompletionMessageToolCallUnion
    return {**item, "tool_calls": [construct_openai(type_=call, value=each) for each in item["tool_calls"]]}


def chat_message(item: Item) -> Any:
    """Return a message of the assistant as the message of a response."""
    if item["role"] != "assistant":
        return item
    return construct_openai(type_=ChatCompletionMessage, value=item)


def responses_item(item: Item) -> Any:
    """Return an item of a response, or of a list of input items."""
    kind = item.get("type", "message")
    if kind in ("message", "note_of_a_client", "item_reference") and item.get("role") != "assistant":
        return item
    is_input = kind.endswith("call_output") or kind in _INPUTS - {"message"}
    union: Any = ResponseInputItem if is_input else ResponseOutputItem
    return construct_openai(type_=union, value=item)


def _decode(value: Any) -> Any:
    """Return a part with bytes in the place of base64, as the SDK of Gemini has them."""
    if isinstance(value, list):
        return [_decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    fields = ("data", "thoughtSignature", "thought_signature")
    return {
        name: base64.b64decode(each) if name in fields and isinstance(each, str) else _decode(each)
        for name, each in value.items()
    }


def gemini_parts(item: Item) -> Item:
    """Return a content whose parts are objects."""
    if not _is_known(item["parts"]):
        return item
    return {**item, "parts": [gemini_types.Part.model_validate(_decode(part)) for part in item["parts"]]}


def gemini_content(item: Item) -> Any:
    """Return a content as an object."""
    return gemini_types.Content.model_validate(_decode(item)) if _is_known(item["parts"]) else item


def to_langchain(steps: Sequence[Event], rng: random.Random) -> list[Any]:
    """Return messages of LangChain."""
    return [
        _langchain(item)
        for item in FORMATS["chat"](steps)
        if "function_call" not in item and item["role"] != "function"
    ]


def _langchain(item: Item) -> BaseMessage:
    content, role = item.get("content") or "", item["role"]
    if role == "assistant":
        calls = [
            {"name": "sh", "args": {}, "id": call.get("id"), "type": "tool_call"}
            for call in item.get("tool_calls") or ()
        ]
        return AIMessage(content=content, tool_calls=calls)
    if role == "tool":
        return ToolMessage(content=content, tool_call_id=item.get("tool_call_id") or "")
    kinds: dict[str, Any] = {"user": HumanMessage, "system": SystemMessage, "developer": SystemMessage}
    return kinds[role](content=content) if role in kinds else ChatMessage(role=role, content=content)


def to_pydantic_ai(steps: Sequence[Event], rng: random.Random) -> list[Any]:
    """Return messages of pydantic-ai."""
    first = pydantic_ai.ModelRequest(parts=[pydantic_ai.SystemPromptPart("You are an agent.")])
    return [first, *(message for step in steps for message in _pydantic_ai(step))]


def _pydantic_ai(step: Event) -> list[Any]:
    thoughts = [pydantic_ai.ThinkingPart("Hm.", signature="sig")] if step.style & 1 else []
    if step.kind in ("calls", "orphan", "program", "mixed"):
        calls = [pydantic_ai.ToolCallPart("sh", {}, tool_call_id=id) for id in step.calls]
        results: list[Any] = [pydantic_ai.ToolReturnPart("sh", _content(step, text), id) for id, text in step.results]
        if step.is_marked and results:
            results.append(pydantic_ai.UserPromptPart("a reminder"))
        asked = [pydantic_ai.ModelResponse(parts=[*thoughts, *calls])] if calls else []
        return [*asked, *([pydantic_ai.ModelRequest(parts=results)] if results else [])]
    if step.kind in ("user", "imitation", "image", "file"):
        image = pydantic_ai.BinaryContent(b"\x89PNG", media_type="image/png")
        content: Any = [step.text, image] if step.kind == "image" else step.text
        return [pydantic_ai.ModelRequest(parts=[pydantic_ai.UserPromptPart(content)])]
    if step.kind == "model":
        return [pydantic_ai.ModelResponse(parts=[*thoughts, pydantic_ai.TextPart(step.text)])]
    return []


def _content(step: Event, text: str) -> Any:
    return {"parts": [text], "document": {"output": text}}.get(step.shape, text)
