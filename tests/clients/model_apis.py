"""Read requests and write responses of the model APIs that agents use.

A ModelApi reads the tools and the tool results in a request, and writes the response, as server-sent events, in which a
model calls a tool or ends its turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol

Json = dict[str, Any]
DONE = "All calls were made."


class ModelApi(Protocol):
    """The API of a model."""

    path: str
    """A part of the path of its requests."""

    def tool_names(self, request: Json) -> list[str]:
        """Return the names of the tools that the model may call."""

    def results(self, request: Json) -> list[str]:
        """Return the tool results in a request, in order."""

    def call(self, name: str, arguments: Json, number: int) -> bytes:
        """Return the response that calls a tool."""

    def search_tools(self, words: str) -> bytes | None:
        """Return the response that searches for deferred tools; None if the API has no deferred tools."""

    def finish(self) -> bytes:
        """Return the response that ends the turn."""


def events(items: Iterable[Json], named: bool = False) -> bytes:
    """Encode server-sent events."""
    return b"".join(
        (f"event: {item['type']}\n" if named else "").encode() + f"data: {json.dumps(item)}\n\n".encode()
        for item in items
    )


def _join_text(content: Any) -> str:
    """Return the text of a content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


class Responses:
    """OpenAI's Responses API."""

    path = "/responses"

    def tool_names(self, request: Json) -> list[str]:
        found = [item["tools"] for item in request["input"] if item.get("type") == "tool_search_output"]
        names = []
        for tool in [*(request.get("tools") or []), *(tool for tools in found for tool in tools)]:
            if tool.get("type") == "namespace":
                names += [f"{tool['name']}|{each['name']}" for each in tool.get("tools", [])]
            else:
                names.append(str(tool.get("name", tool.get("type"))))
        return names

    def results(self, request: Json) -> list[str]:
        return [_join_text(item["output"]) for item in request["input"] if item.get("type") == "function_call_output"]

    def call(self, name: str, arguments: Json, number: int) -> bytes:
        space, _, short = name.rpartition("|")
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": short}
        item |= {"arguments": json.dumps(arguments), "status": "completed"}
        return self._answer([item | ({"namespace": space} if space else {})])

    def search_tools(self, words: str) -> bytes | None:
        item = {"type": "tool_search_call", "call_id": "search_1", "execution": "client", "status": "completed"}
        return self._answer([{**item, "arguments": {"query": words}}])

    def finish(self) -> bytes:
        part = {"type": "output_text", "text": DONE, "annotations": []}
        return self._answer([{"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}])

    def _answer(self, items: list[Json]) -> bytes:
        usage: Json = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": "resp_1", "object": "response", "output": items, "usage": usage, "status": "completed"}
        stream: list[Json] = [{"type": "response.created", "response": {"id": "resp_1"}}]
        stream += [
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(items)
        ]
        return events([*stream, {"type": "response.completed", "response": response}], named=True)


class Messages:
    """Anthropic's Messages API."""

    path = "/messages"

    def tool_names(self, request: Json) -> list[str]:
        return [tool["name"] for tool in request.get("tools") or []]

    def results(self, request: Json) -> list[str]:
        parts = [part for each in request["messages"] if isinstance(each["content"], list) for part in each["content"]]
        return [_join_text(part["content"]) for part in parts if part["type"] == "tool_result"]

    def call(self, name: str, arguments: Json, number: int) -> bytes:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        return self._answer(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")

    def search_tools(self, words: str) -> bytes | None:
        return None

    def finish(self) -> bytes:
        return self._answer({"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}, "end_turn")

    def _answer(self, block: Json, delta: Json, reason: str) -> bytes:
        message: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        stream: list[Json] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 1},
            },
            {"type": "message_stop"},
        ]
        return events(stream, named=True)


class Completions:
    """OpenAI's Chat Completions API, which most other providers use too."""

    path = "/chat/completions"

    def tool_names(self, request: Json) -> list[str]:
        return [tool["function"]["name"] for tool in request.get("tools") or []]

    def results(self, request: Json) -> list[str]:
        return [_join_text(message["content"]) for message in request["messages"] if message["role"] == "tool"]

    def call(self, name: str, arguments: Json, number: int) -> bytes:
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        return self._answer({"role": "assistant", "tool_calls": [call]}, "tool_calls")

    def search_tools(self, words: str) -> bytes | None:
        return None

    def finish(self) -> bytes:
        return self._answer({"role": "assistant", "content": DONE}, "stop")

    def _answer(self, delta: Json, reason: str) -> bytes:
        chunk: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        stream = [
            chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        ]
        return events(stream) + b"data: [DONE]\n\n"


class Gemini:
    """Google's generateContent API."""

    path = "GenerateContent"

    def tool_names(self, request: Json) -> list[str]:
        groups = [tool.get("functionDeclarations") or [] for tool in request.get("tools") or []]
        return [each["name"] for group in groups for each in group]

    def results(self, request: Json) -> list[str]:
        parts = [part for each in request["contents"] for part in each["parts"] if "functionResponse" in part]
        return [_value(part["functionResponse"]["response"]) for part in parts]

    def call(self, name: str, arguments: Json, number: int) -> bytes:
        return self._answer({"functionCall": {"name": name, "args": arguments, "id": f"call_{number}"}})

    def search_tools(self, words: str) -> bytes | None:
        return None

    def finish(self) -> bytes:
        return self._answer({"text": DONE})

    def _answer(self, part: Json) -> bytes:
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return events([{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}])


def _value(response: Json) -> str:
    """Return the text of a function response, which is the only value of an object."""
    values = [value for value in response.values() if isinstance(value, str)]
    return values[0] if len(values) == len(response) == 1 else json.dumps(response, ensure_ascii=False)


MODEL_APIS: tuple[ModelApi, ...] = (Responses(), Messages(), Completions(), Gemini())
