"""Serve the APIs of four providers on loopback: a model that calls a tool many times, and refuses faulty requests.

A request is refused, with the provider's form of an error, if it breaks the rules by which the provider pairs calls
with results, if a message of the model in it is not as the model wrote it, or if its conversation exceeds the budget.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from keyhole.extensions.conversations.items import estimate_item
from tests.support.pairing import faults_of_anthropic, faults_of_chat, faults_of_responses

Json = dict[str, Any]
STEPS = 40
"""Answers of the model that call the tool."""
PARALLEL = 4
"""Every fourth answer has two calls."""
CALLS = STEPS + STEPS // PARALLEL
THOUGHT_CHARS = 9_000
"""Characters that the model writes beside each call: so many that whole turns must be left out."""
DONE = "All calls were made."
SIGNATURE = "c2ln-bmF0_XJl" * 8
"""Base64 in the alphabet for URLs, as Gemini writes it."""


class Api(Protocol):
    """The API of a provider."""

    path: str
    """A part of the path of its requests."""

    def items(self, request: Json) -> list[Json]:
        """Return the conversation in a request."""

    def written(self, items: list[Json]) -> list[Json]:
        """Return the items of the model in a conversation."""

    def answer(self, number: int, calls: list[str], thought: str) -> tuple[list[Json], Json]:
        """Return the items that the model writes, and the response with them. Without calls, the model is done."""

    def faults(self, items: list[Json]) -> list[str]:
        """Return why the provider would refuse a conversation."""

    def error(self, message: str) -> Json:
        """Return the body of a refusal."""


@dataclass(slots=True)
class Model:
    """The model behind the APIs, and the conversations that it was sent."""

    budget: int
    url: str = ""
    sent: list[list[Json]] = field(default_factory=list)
    """The conversation in each request."""
    refusals: list[str] = field(default_factory=list)
    written: list[Json] = field(default_factory=list)
    """All items that the model wrote, as the provider sent them."""
    may_rewrite: bool = False
    """True if the client converts the model's messages, so that they are not compared with what the model wrote."""

    def reply(self, api: Api, request: Json) -> tuple[int, Json]:
        """Return the status and the body of a response."""
        items = api.items(request)
        faults = [*api.faults(items), *self._check(api, items)]
        if faults:
            self.refusals += faults
            return 400, api.error("; ".join(faults[:3]))
        self.sent.append(items)
        number = len(self.sent) - 1
        names = [f"call_{number}_{each}" for each in range(2 if number % PARALLEL == PARALLEL - 1 else 1)]
        thought = f"Step {number}: " + "I compare the last output with the one before it. " * (THOUGHT_CHARS // 50)
        written, response = api.answer(number, names if number < STEPS else [], thought)
        self.written += written
        return 200, response

    def _check(self, api: Api, items: list[Json]) -> list[str]:
        tokens = sum(map(estimate_item, items))
        too_long = [f"prompt is too long: {tokens} tokens > {self.budget} maximum"] if tokens > self.budget else []
        if self.may_rewrite:
            return too_long
        changed = [each for each in api.written(items) if each not in self.written]
        return [*too_long, *(f"not as the model wrote it: {json.dumps(each)[-600:]}" for each in changed)]


class Anthropic:
    """Anthropic's Messages API."""

    path = "/v1/messages"

    def items(self, request: Json) -> list[Json]:
        items: list[Json] = request["messages"]
        return items

    def written(self, items: list[Json]) -> list[Json]:
        return [item for item in items if item["role"] == "assistant"]

    def answer(self, number: int, calls: list[str], thought: str) -> tuple[list[Json], Json]:
        citation = {"type": "char_location", "cited_text": "make", "document_index": 0, "document_title": "Manual"}
        citation |= {"start_char_index": 4, "end_char_index": 8, "future_field": "kept"}
        blocks: list[Json] = [
            {"type": "thinking", "thinking": thought, "signature": f"{SIGNATURE}{number}"},
            {"type": "redacted_thinking", "data": f"{SIGNATURE}{number}"},
            {"type": "text", "text": f"{DONE if not calls else 'Next.'}", "citations": [citation]},
        ]
        blocks += [
            {"type": "tool_use", "id": call, "name": "make", "input": {"target": call}, "caller": {"type": "direct"}}
            for call in calls
        ]
        message = {"role": "assistant", "content": blocks}
        response = {"id": f"msg_{number}", "type": "message", "model": "claude", **message, "stop_sequence": None}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return [message], response | {"stop_reason": "tool_use" if calls else "end_turn", "usage": usage}

    def faults(self, items: list[Json]) -> list[str]:
        last = [block["id"] for block in _parts(items[-1], "content") if block["type"] == "tool_use"]
        empty = [item for item in items if not item["content"]]
        return [
            *faults_of_anthropic([*items, {"role": "assistant", "content": "the answer"}]),
            *(f"no result of {call}" for call in last),
            *("a message has no content" for _ in empty),
        ]

    def error(self, message: str) -> Json:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


class Chat:
    """OpenAI's Chat Completions."""

    path = "/chat/completions"

    def items(self, request: Json) -> list[Json]:
        items: list[Json] = request["messages"]
        return items

    def written(self, items: list[Json]) -> list[Json]:
        return [item for item in items if item["role"] == "assistant"]

    def answer(self, number: int, calls: list[str], thought: str) -> tuple[list[Json], Json]:
        citation = {"url": "https://example.org/", "title": "Manual", "start_index": 0, "end_index": 4}
        message: Json = {"role": "assistant", "content": thought if calls else DONE, "refusal": None}
        message |= {"annotations": [{"type": "url_citation", "url_citation": citation}], "future_field": {"kept": True}}
        if calls:
            message["tool_calls"] = [
                {"id": call, "type": "function", "function": {"name": "make", "arguments": f'{{"target": "{call}"}}'}}
                for call in calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        response: Json = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": "gpt"}
        return [message], response | {"choices": [choice], "usage": usage}

    def faults(self, items: list[Json]) -> list[str]:
        user = {"role": "user", "content": "the next request"}  # the last calls may not be open
        return faults_of_chat([*items, user])

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": None}}


class Responses:
    """OpenAI's Responses API, with reasoning items that their calls need."""

    path = "/responses"

    def items(self, request: Json) -> list[Json]:
        items: list[Json] = request["input"]
        return items

    def written(self, items: list[Json]) -> list[Json]:
        mine = ("reasoning", "function_call")
        return [item for item in items if item.get("type") in mine or item.get("role") == "assistant"]

    def answer(self, number: int, calls: list[str], thought: str) -> tuple[list[Json], Json]:
        citation = {"type": "url_citation", "url": "https://example.org/", "title": "M", "start_index": 0}
        part: Json = {"type": "output_text", "text": thought if calls else DONE}
        part |= {"annotations": [citation | {"end_index": 4}], "logprobs": []}
        items: list[Json] = [
            {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": SIGNATURE},
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [part]},
        ]
        items += [
            {"type": "function_call", "id": f"fc_{call}", "call_id": call, "name": "make", "status": "completed"}
            | {"arguments": f'{{"target": "{call}"}}', "future_field": {"kept": True}}
            for call in calls
        ]
        details: Json = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
        response: Json = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "gpt", "tools": []}
        response |= {"status": "completed", "parallel_tool_calls": True, "tool_choice": "auto"}
        return items, response | {"output": items, "usage": usage}

    def faults(self, items: list[Json]) -> list[str]:
        faults = faults_of_responses([*items, {"role": "user", "content": "the next request"}])
        ids = [item.get("id", "") for item in items]
        for index, item in enumerate(items):
            number = str(item.get("call_id", item.get("id", ""))).split("_")[1:2]
            reasoning = f"rs_{number[0]}" if number else ""
            if item.get("type") == "function_call" and item.get("id") and reasoning not in ids[:index]:
                faults.append(f"{item['id']} was provided without its required 'reasoning' item: '{reasoning}'")
            following = items[index + 1 : index + 2]
            if item.get("type") == "reasoning" and (not following or following[0].get("role") == "user"):
                faults.append(f"{item['id']} was provided without its required following item")
        return faults

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "invalid_request_error", "param": "input", "code": None}}


class Gemini:
    """Google's generateContent, with the thought signatures that Gemini 3 demands."""

    path = ":generateContent"

    def items(self, request: Json) -> list[Json]:
        items: list[Json] = request["contents"]
        return items

    def written(self, items: list[Json]) -> list[Json]:
        return [item for item in items if item["role"] == "model"]

    def answer(self, number: int, calls: list[str], thought: str) -> tuple[list[Json], Json]:
        parts: list[Json] = [{"text": thought, "thought": True}, {"text": DONE if not calls else "Next."}]
        parts += [{"functionCall": {"id": call, "name": "make", "args": {"target": call}}} for call in calls]
        parts[2 if calls else 1]["thoughtSignature"] = f"{SIGNATURE}{number:04}"
        content = {"role": "model", "parts": parts}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return [content], {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini"}

    def faults(self, items: list[Json]) -> list[str]:
        faults = [] if items[0]["role"] == "user" else ["the first content is not the user's"]
        calls: list[Json] = []
        for number, item in enumerate([*items, {"role": "user", "parts": [{"text": "the next request"}]}]):
            results = [part["functionResponse"] for part in item["parts"] if "functionResponse" in part]
            if len(results) != len(calls):
                faults.append(f"{number}: {len(calls)} function calls, {len(results)} function responses")
            faults += [
                f"{number}: no call of {result}"
                for result, call in zip(results, calls, strict=False)
                if (result["id"], result["name"]) != (call["id"], call["name"])
            ]
            signed = [part for part in item["parts"] if "functionCall" in part]
            calls = [part["functionCall"] for part in signed]
            faults += [f"{number}: no thought signature" for part in signed[:1] if "thoughtSignature" not in part]
        return faults

    def error(self, message: str) -> Json:
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


APIS: tuple[Api, ...] = (Anthropic(), Chat(), Responses(), Gemini())


def _parts(item: Json, name: str) -> list[Json]:
    return item[name] if isinstance(item[name], list) else []


def output(call: str) -> str:
    """Return what the tool prints for a call: some 15,000 characters, of which each line is different."""
    lines = (f"{call}.c:{number}: compiled in {number * 7 % 13} ms, with no warnings" for number in range(300))
    return "\n".join([*lines, f"{call}: error: disk full", ""])


@contextmanager
def serve(budget: int) -> Iterator[Model]:
    """Run the model until the block ends."""
    model = Model(budget)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            [api] = [each for each in APIS if each.path in self.path]
            with lock:
                status, body = model.reply(api, request)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        log_message: Callable[..., None] = staticmethod(lambda *_arguments: None)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model.url = f"http://127.0.0.1:{server.server_port}"
        yield model
        server.shutdown()
