"""Collect the top level of a JSON object that is read in chunks: its keys, and its values but for objects and arrays.

The outline of a message that is too long, too deep or cut off has the id of the message, wherever it stands, in little
memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from keyhole.extensions.proxy.messages import MAX_VALUES, Id, Message, count_values, parse

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
"""Stands for the start of a string that is longer than `MAX_STRING`."""
_ID: Final = re.compile(rb'[{,]\s*"id"\s*:\s*(-?\d{1,18}|' + _STRING + rb")\s*(?=[,}]|$)", re.DOTALL)
_HAS_ID: Final = re.compile(rb'[{,]\s*"id"\s*:')
_METHOD: Final = re.compile(rb'[{,]\s*"method"\s*:')


class Outline:
    """The top level of an object, as far as it has been read."""

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
    """What is wrong with it, as the rest of a sentence about it."""


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
    """Yield the objects in the array that a line is."""
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
    """Return whether the outline is that of a notification: it names a method and has no id, valid or invalid."""
    return not is_response(outline) and not _HAS_ID.search(outline)


def is_response(outline: bytes) -> bool:
    """Return whether the outline may be that of a response: it names no method."""
    return not _METHOD.search(outline)


def _shortened(text: bytes) -> bytes:
    """Return the start of a string, or `_LONG` if it is long. A last backslash stays: it escapes the next byte."""
    if len(text) <= MAX_STRING:
        return text
    return _LONG + b"\\" * ((len(text) - len(text.rstrip(b"\\"))) % 2)
