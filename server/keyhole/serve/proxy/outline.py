"""Collect the top level of a JSON object that is read in chunks: its keys, and its values but for objects and arrays.

The outline of a message that is too long or cut off has the id of the message, wherever it stands, in little memory.
"""

from __future__ import annotations

import json
import re
from typing import Final

from keyhole.serve.proxy.messages import Id

MAX_STRING: Final = 256
"""Bytes of the longest string that an outline keeps: ids and names of methods are shorter."""
MAX_OUTLINE: Final = 16 * 1024
"""Bytes of an outline. A message has some five keys at its top level."""
MAX_PASSES: Final = 64
"""Passes that remove pairs of brackets from a chunk, one for each level of nesting. JSON rarely has a dozen levels."""

_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_WITHOUT_OPEN_STRING: Final = re.compile(rb'(?:[^"]++|' + _STRING + rb")*+", re.DOTALL)
_TOKENS: Final = re.compile(_STRING + rb"|[\[\]{}]", re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_LONG: Final = b'"' + b" " * MAX_STRING
"""Stands for the start of a string that is longer than those that are kept."""
_ID: Final = re.compile(rb'[{,]\s*"id"\s*:\s*(-?\d{1,18}|' + _STRING + rb")\s*(?=[,}]|$)", re.DOTALL)
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
        """Return whether a chunk is inside a value of the top level as a whole; then only its brackets count."""
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
        position = 0
        for match in _TOKENS.finditer(chunk):
            self._keep(chunk[position : match.start()])
            position, token = match.end(), match[0]
            if token.startswith(b'"'):
                self._keep(token if len(token) <= MAX_STRING else b'""')
            elif token in b"{[":
                self._depth += 1
                self._keep(token)
            else:
                self._keep(token)
                self._depth -= 1
        self._keep(chunk[position:])

    def _keep(self, text: bytes) -> None:
        if self._depth <= 1 and len(self._kept) + len(text) <= MAX_OUTLINE:
            self._kept += text


def outline_of(line: bytes) -> bytes:
    """Return the outline of a line that is no JSON, such as one that was cut off."""
    outline = Outline()
    outline.feed(line)
    return outline.text


def find_id(outline: bytes, *, of_request: bool) -> Id | None:
    """Return the id of a request or of a response, None if the outline is that of another message or has no id."""
    match = _ID.search(outline) if outline.lstrip().startswith(b"{") else None
    if match is None or bool(_METHOD.search(outline)) != of_request:
        return None
    try:
        id: Id = json.loads(match[1])
    except ValueError:
        return None
    return id


def _shortened(text: bytes) -> bytes:
    """Return the start of a string, or what stands for it; a backslash at its end also concerns the next byte."""
    if len(text) <= MAX_STRING:
        return text
    return _LONG + b"\\" * ((len(text) - len(text.rstrip(b"\\"))) % 2)
