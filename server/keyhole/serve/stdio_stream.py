"""Read messages from stdio: repair lone surrogates and reply to invalid lines.

The SDK only logs a line that it cannot parse, so the client would wait in vain for its answer. The SDK rejects lines
with an escaped lone surrogate, such as `"\\ud800"`, too: clients send them for text that was cut inside an emoji.
"""

from __future__ import annotations

import re
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import mcp_types as types
from anyio import BrokenResourceError, ClosedResourceError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

Item = SessionMessage | Exception

_HIGH: Final = r"[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = r"[dD][c-fC-F][0-9a-fA-F]{2}"
# Backslashes are matched in pairs from the first, and possessively, so that matching takes linear time. Group 2 is a
# complete surrogate pair, which is not replaced.
_LONE: Final = re.compile(rf"(?<!\\)((?:\\\\)*+)(?:(\\u{_HIGH}\\u{_LOW})|\\u(?:{_HIGH}|{_LOW}))")
_REPLACEMENT: Final = "\\ufffd"

_MESSAGES: Final = {types.PARSE_ERROR: "Parse error", types.INVALID_REQUEST: "Invalid request"}


class StdioMessages:
    """A stream of the messages of `read`, which sends a reply to each invalid line to `write`."""

    def __init__(self, read: ReadStream[Item], write: WriteStream[SessionMessage]) -> None:
        self._read = read
        self._write = write

    async def receive(self) -> Item:
        """Return the next message, or the parser's error for an invalid line."""
        return await self._process(await self._read.receive())

    async def aclose(self) -> None:
        """Close the underlying stream."""
        await self._read.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self._process(await self._read.__anext__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _process(self, item: Item) -> Item:
        item = repair_message(item)
        if isinstance(item, ValidationError) and (reply := error_reply(item)):
            with suppress(BrokenResourceError, ClosedResourceError):  # the client has disconnected; reading ends next
                await self._write.send(SessionMessage(reply))
        return item


def repair_message(item: Item) -> Item:
    """Parse a line again with its lone surrogates replaced by U+FFFD; return `item` if that does not make it valid."""
    if not isinstance(item, ValidationError):
        return item
    line = item.errors(include_url=False, include_context=False)[0]["input"]
    if not isinstance(line, str) or (repaired := replace_lone_surrogates(line)) == line:
        return item
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(repaired, by_name=False))
    except ValidationError:
        return item


def replace_lone_surrogates(text: str) -> str:
    """Replace each escaped lone surrogate in JSON text by U+FFFD, in linear time."""
    return _LONE.sub(lambda match: match[0] if match[2] else match[1] + _REPLACEMENT, text)


def error_reply(error: ValidationError) -> types.JSONRPCError | None:
    """Return the JSON-RPC error for an invalid line; None for an empty line, a notification or a response."""
    faults = error.errors(include_url=False, include_context=False)
    if faults[0]["type"] == "json_invalid":
        return _json_rpc_error(types.PARSE_ERROR, None) if str(faults[0]["input"]).strip() else None
    # A fault of type `missing` has the whole object as its input. There is always one: the parser tries every
    # kind of message, and a request lacks the fields of a response.
    message: Any = next((fault["input"] for fault in faults if fault["type"] == "missing"), None)
    if not isinstance(message, dict):
        return _json_rpc_error(types.INVALID_REQUEST, None)
    id = message.get("id")
    is_request = "method" in message and isinstance(id, str | int) and not isinstance(id, bool)
    return _json_rpc_error(types.INVALID_REQUEST, id) if is_request else None


def _json_rpc_error(code: int, id: str | int | None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=_MESSAGES[code]))
