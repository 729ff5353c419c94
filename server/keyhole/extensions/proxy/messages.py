"""Parse lines of JSON-RPC into messages that keep their bytes, and build Keyhole's own messages."""

from __future__ import annotations

import json
import re
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
MAX_DEPTH: Final = 200
"""Levels of arrays and objects in a message. Clients and servers in Python use pydantic's parser, which reads no deeper
message, so that callers would wait in vain. Real messages have a dozen levels."""
MAX_VALUES: Final = 1_000_000
"""Values in a message: 100,000 rows of ten columns. Each takes some 60 bytes of memory, whatever its length in JSON."""
CANCELLED: Final = "notifications/cancelled"
"""The method of the notification that a request is no longer wanted."""

_TOO_DEEP: Final = f"is nested more than {MAX_DEPTH} levels deep"
_LINE_BREAKS: Final = bytes.maketrans(b"\r\n", b"  ")
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_INFINITY: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|Infinity', re.DOTALL)


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

    @property
    def progress_token(self) -> Key | None:
        """Return the token by which a request and the notifications of its progress belong together."""
        if self.kind == "notification":
            return key_of(self.params.get("progressToken"))
        meta = self.params.get("_meta")
        return key_of(meta.get("progressToken")) if isinstance(meta, dict) else None

    def with_data(self, **changes: Any) -> Message:
        """Return a copy of the message with changed top-level fields, in the original order."""
        return build({**self.data, **changes})


def key_of(id: object) -> Key | None:
    """Return an id with its type, None for a value that is no id. NaN is no id, because it does not equal itself."""
    return (type(id), id) if isinstance(id, str | int | float) and not isinstance(id, bool) and id == id else None


def parse(line: bytes) -> tuple[Message, ...]:
    """Return the message of a line, or the messages of a batch.

    Raises ValueError, with the reason as the rest of a sentence about the line: it is no JSON object, or exceeds
    `MAX_MESSAGE`, `MAX_DEPTH` or `MAX_VALUES`.
    """
    if len(line) > MAX_MESSAGE:
        raise ValueError(too_long(len(line)))
    if len(line) > 2 * MAX_VALUES and count_values(line) > MAX_VALUES:  # a value takes two bytes at least
        raise ValueError(f"has more than {MAX_VALUES:,} values")
    value = _read_json(line)
    if isinstance(value, dict):
        return (Message(line, value),)
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return tuple(build(each) for each in value)
    raise ValueError("is no JSON object")


def load(raw: bytes) -> Message:
    """Return a message that Keyhole has parsed or built before. It may have become longer than `MAX_MESSAGE`."""
    return Message(raw, _read_json(raw))


def _read_json(line: bytes) -> Any:
    try:
        return from_json(line, cache_strings="none")
    except ValueError:
        return _read_again(line)


def _read_again(line: bytes) -> Any:
    """Parse a line that pydantic's parser refuses. Raises ValueError if it is no JSON or too deep.

    Python's own parser accepts escaped lone surrogates, which clients send for text that was cut inside an emoji.
    """
    try:
        value = json.loads(line)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError:
        raise ValueError("is no JSON that can be read") from None
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return value
    raise ValueError(_TOO_DEEP)


def count_values(line: bytes) -> int:
    """Return the number of values in JSON, or more: strings are excluded only if the count exceeds `MAX_VALUES`."""
    count = _count_signs(line)
    return count if count <= MAX_VALUES else _count_signs(_STRING.sub(b"", line))


def _count_signs(line: bytes) -> int:
    return line.count(b",") + line.count(b"[") + line.count(b"{")


def too_long(length: int) -> str:
    """Return what is wrong with a message of this length, as the rest of a sentence about it."""
    return f"has {length:,} bytes, more than the {MAX_MESSAGE:,} that are relayed"


def one_line(text: bytes) -> bytes:
    """Return JSON on one line. JSON strings contain no line breaks, so every line break is space between values."""
    return text.translate(_LINE_BREAKS)


def build(data: Mapping[str, Any]) -> Message:
    """Return a message with this value."""
    return Message(encode(data), data)


def encode(data: object) -> bytes:
    """Return a value as JSON on one line. Lone surrogates, which UTF-8 cannot express, make all of it ASCII.

    A number that is too large for a float, such as 1e400, becomes 1e999, because `Infinity` is not JSON.
    """
    try:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return _finite(text).encode()
    except UnicodeEncodeError:
        return _finite(json.dumps(data, separators=(",", ":"))).encode()


def _finite(text: str) -> str:
    return _INFINITY.sub(lambda match: match[1] or "1e999", text) if "Infinity" in text else text


def response(id: object, result: Mapping[str, Any]) -> Message:
    """Return the response to a request."""
    return build({"jsonrpc": "2.0", "id": id, "result": result})


def error_response(id: object, error: KeyholeError, number: int = INTERNAL_ERROR) -> Message:
    """Return the error that answers a request, with Keyhole's code, the cause and the next step."""
    text = f"{error.code}: {error.message}. {error.rule.next_step}"
    data = {"code": str(error.code), "retry": error.rule.retry, **error.facts}
    return build({"jsonrpc": "2.0", "id": id, "error": {"code": number, "message": text, "data": data}})


def invalid_line(reason: str = "is no JSON-RPC message") -> Message:
    """Return the error that answers a line of the client that cannot be relayed and has no id."""
    return error_response(None, KeyholeError(Code.INVALID_ARGUMENT, f"a line {reason}"), PARSE_ERROR)
