"""Serve over stdio: read messages, bound the open requests of a connection, run the server, and prepare its process."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import anyio
import mcp_types as types
from anyio import BrokenResourceError, ClosedResourceError
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.runtime.memory import return_large_blocks
from keyhole.serve.tenants_loader import BuildTenants, open_tenants
from keyhole.serve.tools import build_server

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

# Messages of stdio: lone surrogates are repaired, and invalid lines get a reply.
#
# The SDK only logs a line that it cannot parse, so the client would wait in vain for its answer. The SDK rejects lines
# with an escaped lone surrogate, such as `"\ud800"`, too: clients send them for text that was cut inside an emoji.

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


# Open requests: those received that are neither answered nor cancelled.
#
# A request is open until its answer is written, so a client that does not read its answers gets no more of them. While
# `MAX_OPEN` requests are open, the next request of the connection waits, and the messages after it are not read.

MAX_OPEN: Final = 9
"""Open requests of a connection: one more than a relay sends, so that its ping does not wait behind them."""


def bounded_streams(
    read: ReadStream[Item], write: WriteStream[SessionMessage], most: int = MAX_OPEN
) -> tuple[Requests, Answers]:
    """Return the messages of a connection and the stream for the answers, with at most `most` open requests."""
    free = asyncio.Semaphore(most)
    return Requests(read, write, free), Answers(write, free)


class Requests(StdioMessages):
    """The messages of a connection. Each open request occupies a place of `free`."""

    def __init__(self, read: ReadStream[Item], write: WriteStream[SessionMessage], free: asyncio.Semaphore) -> None:
        super().__init__(read, write)
        self._free = free

    async def _process(self, item: Item) -> Item:
        item = await super()._process(item)
        if not isinstance(item, SessionMessage) or not isinstance(item.message, types.JSONRPCRequest):
            return item
        await self._free.acquire()
        return SessionMessage(item.message, ServerMessageMetadata(on_request_unanswered=self._give_back))

    async def _give_back(self) -> None:
        """Free the place of a cancelled request, which gets no answer."""
        self._free.release()


class Answers:
    """The messages to a connection's client. An answer frees the place of its request."""

    def __init__(self, write: WriteStream[SessionMessage], free: asyncio.Semaphore) -> None:
        self._write = write
        self._free = free

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        try:
            await self._write.send(item)
        finally:  # also if the call was cancelled while its answer waited for the client
            if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                self._free.release()

    async def aclose(self) -> None:
        """Close the underlying stream."""
        await self._write.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


# The server over stdio, and the process of any server.

log = logging.getLogger(__name__)

CALL_THREADS: Final = 24
"""Threads of an HTTP server for the work of its calls. Python's default is the number of processors plus four. On a
small machine, that would make short reads of the store wait for rankings, and every call wait for a slow commit."""

MEMORY_DELAY: Final = 1.0
"""Seconds after the start until the return of freed memory is set up. The setup takes 5 ms, too long for the start."""
SWITCH_INTERVAL: Final = 0.0005
"""Seconds after which a thread that computes lets another run. A call changes threads about a dozen times, and beside
the ranking of another tenant's large page each change takes up to this long. In benchmarks/server/fair_shares.py, the
p95 of polite calls was 0.33 s, with Python's 5 ms 0.55 s. Threads that all compute take up to a tenth longer."""


def serve_stdio(config: Config, build: BuildTenants) -> int:
    """Serve one client over stdin and stdout, until it closes stdin.

    stdout carries only the protocol: the SDK points file descriptor 1 at stderr while it serves, so the output of a
    library that prints goes to stderr.
    """

    async def run() -> None:
        async with open_tenants(config, build) as tenants:
            server = build_server(tenants.get_retrieval, tenants.start, tenants.warm, folder=working_folder())
            async with stdio_server() as streams:
                await server.run(*bounded_streams(*streams), server.create_initialization_options())

    # SIGINT ends the process at once, as SIGTERM does: Python's handler would wait for the thread that reads stdin,
    # which only the client can wake. Writes to the store are transactions, and workers end with their server.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(run)
    except* BrokenPipeError:
        log.info("the client closed the connection before its answer was sent")
    return 0


def set_up_process() -> None:
    """Prepare the process of a server: short turns of threads, `CALL_THREADS` of them, and the return of freed memory.

    The event loop shuts the threads down.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(CALL_THREADS, "call"))
    loop.call_later(MEMORY_DELAY, return_large_blocks)
