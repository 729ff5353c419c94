"""Exchange messages with an MCP server over streamable HTTP, through the SDK's transport below its typed layer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from keyhole.serve.proxy.lines import Line
from keyhole.serve.proxy.messages import MAX_MESSAGE, Key, Message, build, parse

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream, WriteStream

log = logging.getLogger(__name__)

MAX_WAITING: Final = 200
"""Messages that wait in each direction. Beyond them, requests are refused, and the server's streams are not read."""
VERSION_KEY: Final = types.PROTOCOL_VERSION_META_KEY
_REFUSED: Final = "Server returned an error response"
"""The SDK's message for a status from 400 on without a JSON-RPC error in its body."""


class HttpUpstream:
    """A server at a URL. Its headers, which may contain tokens, are sent and never logged."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._url = url
        self._headers = dict(headers or {})
        self._outgoing: asyncio.Queue[Message | None] = asyncio.Queue(MAX_WAITING)
        self._incoming: asyncio.Queue[Line | None] = asyncio.Queue(MAX_WAITING)
        self._open: set[Key] = set()
        """The requests that the server has not answered."""
        self._is_finishing = False
        self._version = ""
        """The protocol version that `initialize` agreed on."""
        self._status = 0
        """The last HTTP status that refused a request."""
        self._fault = ""
        self._work: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._fault, self._is_finishing = "", False
        self._work = asyncio.create_task(self._run())

    async def lines(self) -> AsyncIterator[Line]:
        while (line := await self._incoming.get()) is not None:
            yield line

    def send(self, raw: bytes) -> bool:
        if self._outgoing.full():
            return False
        for message in parse(raw):
            if message.kind == "request" and message.key:
                self._open.add(message.key)
            self._outgoing.put_nowait(message)
        return True

    async def finish(self) -> None:
        self._is_finishing = True
        if not self._open:
            await self._incoming.put(None)

    async def stop(self) -> str:
        if self._work is None:
            return "was not connected"
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)
        self._work = None
        self._open.clear()
        self._outgoing, self._incoming = asyncio.Queue(MAX_WAITING), asyncio.Queue(MAX_WAITING)
        return self._fault or "was disconnected"

    async def _run(self) -> None:
        """Connect and exchange messages until the connection fails."""
        try:
            async with create_mcp_http_client(headers=self._headers) as client:
                client.event_hooks["response"].append(self._note_status)
                transport = streamable_http_client(self._url, http_client=client, max_sse_event_size=MAX_MESSAGE)
                async with transport as (read, write), asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._write(write))
                    await self._read(read)
                    raise ConnectionError("the connection was closed")
        except ExceptionGroup as group:  # of the transport's tasks
            self._fault = f"cannot be reached: {_first(group)}"
        finally:
            await self._incoming.put(None)

    async def _note_status(self, response: Any) -> None:
        if response.status_code >= 400:
            self._status = response.status_code

    async def _write(self, write: WriteStream[SessionMessage]) -> None:
        while (message := await self._outgoing.get()) is not None:
            try:
                value = types.jsonrpc_message_adapter.validate_python(dict(message.data), by_name=False)
            except ValidationError:
                log.warning("a message that is no request, notification or response is not sent over HTTP")
                continue
            await write.send(SessionMessage(value, ClientMessageMetadata(headers=self._request_headers(message))))

    async def _read(self, read: ReadStream[SessionMessage | Exception]) -> None:
        async for item in read:
            if isinstance(item, Exception):
                log.warning("a message of %s is no JSON-RPC and was left out", self._url)
                continue
            data = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            message = build(self._named_refusal(data))
            if message.kind == "response" and message.key:
                self._open.discard(message.key)
            if message.result and isinstance(message.result.get("protocolVersion"), str):
                self._version = message.result["protocolVersion"]
            await self._incoming.put(Line(message.raw))
            if self._is_finishing and not self._open:
                await self._incoming.put(None)

    def _named_refusal(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return an error with the HTTP status, which the SDK leaves out."""
        error = data.get("error")
        if not (isinstance(error, dict) and error.get("message") == _REFUSED and self._status):
            return data
        advice = " The server needs an authorization: give it with --header." if self._status in (401, 403) else ""
        message = f"server_unavailable: the server answered with HTTP status {self._status}.{advice}"
        return {**data, "error": {**error, "message": message, "data": {"code": "server_unavailable"}}}

    def _request_headers(self, message: Message) -> dict[str, str]:
        """Return the headers that the transport requires beside a message."""
        meta = message.params.get("_meta")
        version = str((meta.get(VERSION_KEY) if isinstance(meta, dict) else None) or self._version)
        if not version or (message.method == "initialize" and version in HANDSHAKE_PROTOCOL_VERSIONS):
            return {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: version}
        if version not in HANDSHAKE_PROTOCOL_VERSIONS and message.method:
            headers[MCP_METHOD_HEADER] = message.method
            name = message.params.get(NAME_BEARING_METHODS.get(message.method, ""))
            headers |= {MCP_NAME_HEADER: encode_header_value(name)} if isinstance(name, str) else {}
        return headers


def _first(group: ExceptionGroup[Exception]) -> str:
    """Return the first exception of a group in words. Its text may contain the URL but no header."""
    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:200]
