"""Lines over stdio that are no message: answered as JSON-RPC asks, so that nobody waits for ever. The SDK only logs
them. No message passes through here changed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from anyio import BrokenResourceError, ClosedResourceError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from keyhole.serve.stdio_stream import Item, Passing

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

_MESSAGES: Final = {types.PARSE_ERROR: "Parse error", types.INVALID_REQUEST: "Invalid request"}


class Answered(Passing):
    """Tells the other side of each line that is no message."""

    def __init__(self, read: ReadStream[Item], write: WriteStream[SessionMessage]) -> None:
        super().__init__(read)
        self._write = write

    async def passed(self, item: Item) -> Item:
        """The same, which the SDK logs."""
        if isinstance(item, ValidationError) and (answer := answer_to(item)):
            with suppress(BrokenResourceError, ClosedResourceError):  # the client went away, and reading ends next
                await self._write.send(SessionMessage(answer))
        return item


def answer_to(error: ValidationError) -> types.JSONRPCError | None:
    """What is said of a line that failed; None for an empty one, and for a notification or an answer of the client's,
    which nobody waits for."""
    faults = error.errors(include_url=False, include_context=False)
    if faults[0]["type"] == "json_invalid":
        return _error(types.PARSE_ERROR, None) if str(faults[0]["input"]).strip() else None
    # What is missing is told with the whole object around it, and from an answer's point of view something always is.
    whole: Any = next((each["input"] for each in faults if each["type"] == "missing"), None)
    if not isinstance(whole, dict):
        return _error(types.INVALID_REQUEST, None)
    id = whole.get("id")
    asked = "method" in whole and isinstance(id, str | int) and not isinstance(id, bool)
    return _error(types.INVALID_REQUEST, id) if asked else None


def _error(code: int, id: str | int | None) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=_MESSAGES[code]))
