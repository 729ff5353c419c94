"""Parse lines of JSON-RPC into messages that keep their bytes, and build Keyhole's own messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic_core import from_json

from keyhole.errors import Code, KeyholeError

Id = str | int | float
Key = tuple[type, Id]
"""An id together with its type: to JSON-RPC, 1 and "1" are two ids, and to Python, 1 and 1.0 are one number."""
Kind = Literal["request", "notification", "response", "other"]

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603
"""Numbers of JSON-RPC 2.0. Keyhole's own code is in the message and in `data.code` of an error."""

MAX_MESSAGE: Final = 32 * 1024**2
"""Bytes of the longest message that is relayed: several times the largest image or file that a client accepts in a
result. A longer one is skipped while it is read, so that it takes no memory."""
CANCELLED: Final = "notifications/cancelled"
"""The method of the notification that a request is no longer wanted."""

_LINE_BREAKS: Final = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class Message:
    """One JSON-RPC message: the bytes as they were received, without the line break, and their value."""

    raw: bytes
    data: Mapping[str, Any]

    @property
    def kind(self) -> Kind:
        """Return what the message is. A message that is none of the three kinds is relayed as it is."""
        if isinstance(self.data.get("method"), str):
            return "request" if self.key is not None else "notification"
        return "response" if self.key is not None and ("result" in self.data or "error" in self.data) else "other"

    @property
    def key(self) -> Key | None:
        """Return the id with its type, None without a valid id."""
        return key_of(self.data.get("id"))

    @property
    def method(self) -> str:
        """Return the method, "" for a response."""
        return str(self.data.get("method", ""))

    @property
    def params(self) -> Mapping[str, Any]:
        """Return the parameters, empty if there are none."""
        params = self.data.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def result(self) -> Mapping[str, Any] | None:
        """Return the result of a response, None for an error and for a request."""
        result = self.data.get("result")
        return result if isinstance(result, dict) else None

    def with_data(self, **changes: Any) -> Message:
        """Return the message with other values of top-level fields, in the order of the original."""
        return build({**self.data, **changes})


def key_of(id: object) -> Key | None:
    """Return an id with its type, None for a value that is no id."""
    return (type(id), id) if isinstance(id, str | int | float) and not isinstance(id, bool) else None


def parse(line: bytes) -> tuple[Message, ...]:
    """Return the message of a line, or the messages of a batch. Raises ValueError for a line that is no JSON object."""
    try:
        value = from_json(line, cache_strings="none")
    except ValueError:
        value = json.loads(line)  # accepts escaped lone surrogates, which clients send for text cut inside an emoji
    if isinstance(value, dict):
        return (Message(line, value),)
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return tuple(build(each) for each in value)
    raise ValueError("no JSON object")


def one_line(text: bytes) -> bytes:
    """Return JSON on one line. Its strings contain no line breaks, so those that it has are space between values."""
    return text.translate(_LINE_BREAKS)


def build(data: Mapping[str, Any]) -> Message:
    """Return a message with this value."""
    return Message(encode(data), data)


def encode(data: object) -> bytes:
    """Return a value as JSON on one line. Lone surrogates, which UTF-8 cannot express, make all of it ASCII."""
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":")).encode()


def response(id: object, result: Mapping[str, Any]) -> Message:
    """Return the response to a request."""
    return build({"jsonrpc": "2.0", "id": id, "result": result})


def error_response(id: object, error: KeyholeError, number: int = INTERNAL_ERROR) -> Message:
    """Return the error that answers a request, with Keyhole's code, the cause and the next step."""
    text = f"{error.code}: {error.message}. {error.rule.next_step}"
    data = {"code": str(error.code), "retry": error.rule.retry, **error.facts}
    return build({"jsonrpc": "2.0", "id": id, "error": {"code": number, "message": text, "data": data}})


def invalid_line() -> Message:
    """Return the error that answers a line of the client that is no message."""
    return error_response(None, KeyholeError(Code.INVALID_ARGUMENT, "a line is no JSON-RPC message"), PARSE_ERROR)
