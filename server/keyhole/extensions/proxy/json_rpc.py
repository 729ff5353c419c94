"""Read JSON-RPC messages from lines of bytes, keep their bytes, and build Keyhole's own messages."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic_core import from_json

from keyhole.errors import Code, KeyholeError

# Messages: their values, beside the bytes that were received.

Id = str | int | float
Key = tuple[type, Id]
"""An id together with its type: to JSON-RPC, 1 and "1" are two ids, and to Python, 1 and 1.0 are one number."""
Kind = Literal["request", "notification", "response", "other"]

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603
"""Error numbers of JSON-RPC 2.0. Keyhole's own code is in the message and in `data.code` of an error."""

MAX_MESSAGE: Final = 32 * 1024**2
"""Bytes of the longest message that is relayed: several times the largest image or file that a client accepts in a
result. A longer one is skipped while it is read, so that it takes no memory."""
MAX_FOR_CLIENT: Final = 8 * 1024**2
"""Bytes of the longest message that a client gets: the largest media of a result, and a text as large. Clients that
read lines into a buffer of fixed size end at a longer one."""
MAX_DEPTH: Final = 200
"""Levels of arrays and objects in a message. Clients and servers in Python use pydantic's parser, which reads no deeper
message, so that callers would wait in vain. Real messages have a dozen levels."""
MAX_VALUES: Final = 1_000_000
"""Values in a message: 100,000 rows of ten columns. Each takes some 60 bytes of memory, whatever its length in JSON."""
CANCELLED: Final = "notifications/cancelled"
"""The method of the notification that a request is no longer wanted."""

_TOO_DEEP: Final = f"is nested more than {MAX_DEPTH} levels deep"
_LINE_BREAKS: Final = bytes.maketrans(b"\r\n", b"  ")
_STRING_OR_START: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_INFINITY: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|Infinity', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Message:
    """One JSON-RPC message: the bytes as they were received, without the line break, and their value."""

    raw: bytes
    data: Mapping[str, Any]

    @property
    def kind(self) -> Kind:
        """Return the kind of the message. Messages of the kind "other" are relayed as they are."""
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
        """Return the token that a request shares with the notifications of its progress."""
        if self.kind == "notification":
            return key_of(self.params.get("progressToken"))
        meta = self.params.get("_meta")
        return key_of(meta.get("progressToken")) if isinstance(meta, dict) else None

    def with_data(self, **changes: Any) -> Message:
        """Return a copy of the message with changed top-level fields, in the original order."""
        return build({**self.data, **changes})


def key_of(id: object) -> Key | None:
    """Return an id with its type, None for an invalid id. NaN is invalid, because it does not equal itself."""
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
    """Return at least the number of values in JSON. Strings are left out only if the count exceeds `MAX_VALUES`."""
    count = _count_signs(line)
    return count if count <= MAX_VALUES else _count_signs(_STRING_OR_START.sub(b"", line))


def _count_signs(line: bytes) -> int:
    return line.count(b",") + line.count(b"[") + line.count(b"{")


def too_long(length: int, most: int = MAX_MESSAGE) -> str:
    """Return the reason why a message of this length is not relayed, as the rest of a sentence about it."""
    return f"has {length:,} bytes, more than the {most:,} that are relayed"


def one_line(text: bytes) -> bytes:
    """Return JSON on one line. JSON strings contain no line breaks, so every line break is space between values."""
    return text.translate(_LINE_BREAKS)


def build(data: Mapping[str, Any]) -> Message:
    """Return a message with this value."""
    return Message(encode(data), data)


def encode(data: object) -> bytes:
    """Return a value as JSON on one line. If it has lone surrogates, which UTF-8 cannot express, all of it is ASCII.

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


# Outlines: the top level of messages that are too long, too deep or cut off, with their ids, in little memory.

MAX_STRING: Final = 256
"""Bytes of the longest string that an outline keeps: ids and names of methods are shorter."""
MAX_OUTLINE: Final = 16 * 1024
"""Bytes of an outline. A message has some five keys at its top level."""
CHUNK: Final = 256 * 1024
"""Bytes of a line that are read at once."""
MAX_PASSES: Final = 64
"""Passes that remove pairs of brackets from a chunk, one for each level of nesting. JSON rarely has a dozen levels."""

_STRING: Final = rb'(?<!\\)"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_WITHOUT_OPEN_STRING: Final = re.compile(rb'(?:[^"]++|' + _STRING + rb")*+", re.DOTALL)
_TOKENS: Final = re.compile(_STRING + rb"|[\[\]{}]", re.DOTALL)
_STEPS: Final = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_LONG: Final = b'"' + b" " * MAX_STRING
"""Replaces the start of a string that is longer than `MAX_STRING`."""
_ID: Final = re.compile(rb'[{,]\s*"id"\s*:\s*(-?\d{1,18}|' + _STRING + rb")\s*(?=[,}]|$)", re.DOTALL)
_HAS_ID: Final = re.compile(rb'[{,]\s*"id"\s*:')
_METHOD: Final = re.compile(rb'[{,]\s*"method"\s*:')


class Outline:
    """The top level of an object that is read in chunks: its keys, and its values except objects and arrays."""

    def __init__(self) -> None:
        self._depth = 0
        self._rest = b""
        """The start of a string that a later chunk ends."""
        self._kept = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Read the next chunk."""
        chunk = self._rest + chunk
        match = _WITHOUT_OPEN_STRING.match(chunk)
        end = match.end() if match else 0
        self._rest = _shortened(chunk[end:])
        if not self._skip_nested(chunk[:end]):
            self._read(chunk[:end])

    @property
    def text(self) -> bytes:
        """Return what has been collected."""
        return bytes(self._kept)

    def _skip_nested(self, chunk: bytes) -> bool:
        """Skip a chunk that is wholly inside a top-level value: count only its brackets. Return False for others."""
        brackets = _STRINGS.sub(b"", chunk).translate(None, _NO_BRACKETS)
        for _ in range(MAX_PASSES):
            fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
            if len(fewer) == len(brackets):
                break
            brackets = fewer
        closed = brackets.count(b"]") + brackets.count(b"}")
        if self._depth - closed <= 1:
            return False
        self._depth += len(brackets) - 2 * closed
        return True

    def _read(self, chunk: bytes) -> None:
        position, depth = 0, self._depth
        for match in _TOKENS.finditer(chunk):
            token = match[0]
            if depth > 1:  # most tokens of a deep message are here
                depth += _STEPS.get(token, 0)
                position = match.end()
                continue
            self._keep(chunk[position : match.start()])
            position = match.end()
            depth += _STEPS.get(token, 0)
            if depth <= 1:
                self._keep(token if len(token) <= MAX_STRING else b'""')
        if depth <= 1:
            self._keep(chunk[position:])
        self._depth = depth

    def _keep(self, text: bytes) -> None:
        if len(self._kept) + len(text) <= MAX_OUTLINE:
            self._kept += text


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A message, or a whole line, that cannot be parsed."""

    outline: bytes
    reason: str
    """The fault of the message, as the rest of a sentence about it."""


def read_messages(line: bytes) -> list[Message | Unreadable]:
    """Return the messages of a line. If a batch cannot be parsed, each of its messages is parsed alone."""
    try:
        return list(parse(line))
    except ValueError as error:
        reason = str(error)
    found: list[Message | Unreadable] = []
    for part in _objects(line) if line.lstrip().startswith(b"[") and count_values(line) <= MAX_VALUES else ():
        try:
            found += parse(part)
        except ValueError as error:
            found.append(Unreadable(outline_of(part), str(error)))
    return found or [Unreadable(outline_of(line), reason)]


def _objects(batch: bytes) -> Iterator[bytes]:
    """Yield the objects of a batch, which is a JSON array."""
    depth = start = 0
    for match in _TOKENS.finditer(batch):
        if match[0] in (b"{", b"["):
            depth += 1
            start = match.start() if depth == 2 else start
        elif match[0] in (b"}", b"]"):
            depth -= 1
            if depth == 1 and match[0] == b"}":
                yield batch[start : match.end()]


def outline_of(line: bytes) -> bytes:
    """Return the outline of a line that cannot be parsed, such as one that was cut off."""
    outline = Outline()
    for start in range(0, len(line), CHUNK):
        outline.feed(line[start : start + CHUNK])
    return outline.text


def find_id(outline: bytes, *, of_request: bool) -> Id | None:
    """Return the id of a request or of a response, None if the outline is that of another message or has no id."""
    matches = list(_ID.finditer(outline)) if outline.lstrip().startswith(b"{") else []
    if not matches or is_response(outline) == of_request:
        return None
    try:
        id: Id = json.loads(matches[-1][1])  # parsers take the last of duplicate keys
    except ValueError:
        return None
    return id


def is_notification(outline: bytes) -> bool:
    """Return whether the outline is that of a notification: it names a method, and no id of any form."""
    return not is_response(outline) and not _HAS_ID.search(outline)


def is_response(outline: bytes) -> bool:
    """Return whether the outline may be that of a response: it names no method."""
    return not _METHOD.search(outline)


def _shortened(text: bytes) -> bytes:
    """Return the start of a string, or `_LONG` if it is long. A last backslash stays: it escapes the next byte."""
    if len(text) <= MAX_STRING:
        return text
    return _LONG + b"\\" * ((len(text) - len(text.rstrip(b"\\"))) % 2)


# Lines: a stream of bytes is split, and of a line that is too long only the outline is kept.


@dataclass(frozen=True, slots=True)
class MessageLine:
    """A line without its line break, or the outline of a line that is too long."""

    raw: bytes
    """The line, empty if it is too long."""
    outline: bytes = b""
    """The top level of a message that is too long."""
    length: int = 0
    """Bytes of a line that is too long, 0 for others."""


class LineSplitter:
    """Collects the chunks of a stream and returns its complete lines."""

    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._most = most
        self._chunks: list[bytes] = []
        self._length = 0
        self._outline = Outline()

    def feed(self, chunk: bytes) -> list[MessageLine]:
        """Return the lines that end in this chunk."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._add(end)
            lines.append(self.take())
        if rest:
            self._add(rest)
        return lines

    def take(self) -> MessageLine:
        """Return the bytes collected so far as a line. Called at each line break and at the end of the stream."""
        chunks, length, outline = self._chunks, self._length, self._outline
        self._chunks, self._length, self._outline = [], 0, Outline()
        if length <= self._most:
            return MessageLine(b"".join(chunks).removesuffix(b"\r"))
        return MessageLine(b"", outline.text, length)

    def _add(self, chunk: bytes) -> None:
        self._length += len(chunk)
        self._chunks.append(chunk)
        if self._length > self._most:
            for each in self._chunks:
                self._outline.feed(each)
            self._chunks.clear()


async def read_lines(read: Callable[[int], Awaitable[bytes]], most: int = MAX_MESSAGE) -> AsyncIterator[MessageLine]:
    """Yield the lines of a stream; its last line may lack the line break. `read` returns b"" at the end."""
    splitter = LineSplitter(most)
    while chunk := await read(CHUNK):
        for line in splitter.feed(chunk):
            yield line
    last = splitter.take()
    if last.raw or last.length:
        yield last
