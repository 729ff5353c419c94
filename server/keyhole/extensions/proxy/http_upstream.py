"""Exchange messages with an MCP server over streamable HTTP, each request in a task of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import httpx2

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.handshake import is_modern, version_of
from keyhole.extensions.proxy.http_exchange import HttpExchange
from keyhole.extensions.proxy.lines import Line
from keyhole.extensions.proxy.messages import CANCELLED, Key, Message, error_response, key_of, load
from keyhole.extensions.proxy.modern_http import read_header_names
from keyhole.extensions.proxy.outline import Unreadable, find_id, is_response, read_messages

log = logging.getLogger(__name__)

MAX_WAITING: Final = 200
"""Messages that wait in each direction, and requests without an answer. Beyond them, requests are refused, and the
server's streams are not read."""
TIMEOUT: Final = httpx2.Timeout(30.0, read=300.0)
"""Seconds to connect and to send, and the longest pause within an open response. The SDK has the same values."""


class HttpUpstream:
    """A server at a URL. Its headers, which may contain tokens, are sent and never logged."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._url = url
        self._host = urlsplit(url).hostname
        """The part of the URL that is logged: its query may contain a key."""
        self._headers = dict(headers or {})
        self._outgoing: asyncio.Queue[Message] = asyncio.Queue(MAX_WAITING)
        self._incoming: asyncio.Queue[Line | None] = asyncio.Queue(MAX_WAITING)
        self._open: set[Key] = set()
        """The requests that the server has not answered."""
        self._calls: dict[Key, asyncio.Task[None]] = {}
        self._is_finishing = False
        self._fault = ""
        self._work: asyncio.Task[None] | None = None
        self._exchange: HttpExchange | None = None

    async def authorize(self, authorization: str) -> bool:
        """Use other credentials from now on, if the server accepts them in its session; return whether it does."""
        is_accepted = self._exchange is not None and await self._exchange.authorize(authorization)
        if is_accepted:
            self._headers = {**self._headers, "Authorization": authorization}  # for the next connection
        return is_accepted

    async def start(self) -> None:
        self._fault, self._is_finishing = "", False
        self._work = asyncio.create_task(self._run())

    async def lines(self) -> AsyncIterator[Line]:
        while (line := await self._incoming.get()) is not None:
            yield line

    def send(self, raw: bytes) -> bool:
        if self._outgoing.full():
            return False
        message = load(raw)
        if message.kind == "request" and message.key:
            if len(self._open) >= MAX_WAITING:
                return False
            self._open.add(message.key)
        self._outgoing.put_nowait(message)
        return True

    async def finish(self) -> None:
        self._is_finishing = True
        await self._end_if_answered()

    async def stop(self) -> str:
        if self._work is None:
            return "was not connected"
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)
        self._work = None
        self._open.clear()
        self._calls.clear()
        self._outgoing, self._incoming = asyncio.Queue(MAX_WAITING), asyncio.Queue(MAX_WAITING)
        return self._fault or "was disconnected"

    async def _run(self) -> None:
        """Exchange messages until the connection or the session ends, for whatever reason."""
        (error,) = await asyncio.gather(self._exchange_messages(), return_exceptions=True)
        if isinstance(error, ConnectionError):
            self._fault = str(error)
        elif isinstance(error, BaseException):
            log.error("the connection to %s failed", self._host, exc_info=error)
            self._fault = f"was disconnected by an error: {type(error).__name__}"
        await self._incoming.put(None)

    async def _exchange_messages(self) -> None:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(headers=self._headers, timeout=TIMEOUT, limits=limits) as client:
            exchange = self._exchange = HttpExchange(client, self._url)
            try:
                async with asyncio.TaskGroup() as tasks:
                    await self._send_all(exchange, tasks)
            except BaseExceptionGroup as group:
                raise group.exceptions[0] from group
            finally:
                await exchange.close()

    async def _send_all(self, exchange: HttpExchange, tasks: asyncio.TaskGroup) -> None:
        """Send the messages in their order; responses are read meanwhile."""
        has_sessions = True
        while True:
            message = await self._outgoing.get()
            is_handshake = message.method == "initialize"  # may follow a refused `server/discover`
            has_sessions = is_handshake or (has_sessions and not is_modern(version_of(message, exchange.version)))
            if message.kind == "request" and message.key:
                self._calls[message.key] = tasks.create_task(self._call(exchange, message, message.key))
            elif message.method == CANCELLED and not has_sessions:  # closing the connection cancels
                call = self._calls.get(key_of(message.params.get("requestId")))  # type: ignore[arg-type]
                if call is not None:
                    call.cancel()
            else:
                await self._notify(exchange, message)
                if message.method == "notifications/initialized" and exchange.session:
                    tasks.create_task(self._listen(exchange))

    async def _call(self, exchange: HttpExchange, message: Message, key: Key) -> None:
        """Send a request; a failure becomes its answer."""
        faults: list[str] = []
        try:
            await exchange.post(message, partial(self._deliver, exchange, key, faults))
            if key in self._open:
                reason = (
                    f"the answer of the server {faults[-1]}"
                    if faults
                    else "the server ended its response without an answer"
                )
                raise KeyholeError(Code.SERVER_FAULT, reason)
        except KeyholeError as error:
            if message.method == "initialize":
                log.warning("the server at %s refused the handshake: %s", self._host, error.message)
            await self._incoming.put(Line(error_response(message.data["id"], error).raw))
        finally:
            self._calls.pop(key, None)
            self._open.discard(key)
        await self._end_if_answered()

    async def _notify(self, exchange: HttpExchange, message: Message) -> None:
        try:
            await exchange.post(message, partial(self._deliver, exchange, None, []))
        except KeyholeError as error:
            log.warning("the server at %s did not take a message: %s", self._host, error.message)

    async def _listen(self, exchange: HttpExchange) -> None:
        try:
            await exchange.listen(partial(self._deliver, exchange, None, []))
        except KeyholeError as error:
            log.warning("messages of the server at %s are not received any more: %s", self._host, error.message)

    async def _deliver(self, exchange: HttpExchange, waiting: Key | None, faults: list[str], raw: bytes) -> bool:
        """Hand on a message of the server; return whether the request `waiting` has been answered.

        `faults` collects what is wrong with messages that cannot be parsed and may be the answer.
        """
        for message in read_messages(raw):
            if isinstance(message, Unreadable):
                self._open.discard(key_of(find_id(message.outline, of_request=False)))
                faults += [message.reason] if is_response(message.outline) else []
            else:
                self._note(exchange, message)
        await self._incoming.put(Line(raw))
        return waiting is not None and waiting not in self._open

    def _note(self, exchange: HttpExchange, message: Message) -> None:
        """Remember what a message tells about the server and the requests that it has answered."""
        if message.kind == "response" and message.key:
            self._open.discard(message.key)
        if message.result and isinstance(message.result.get("protocolVersion"), str):
            exchange.version = message.result["protocolVersion"]
        if message.result and isinstance(message.result.get("tools"), list):
            exchange.header_names = {**exchange.header_names, **read_header_names(message.result["tools"])}

    async def _end_if_answered(self) -> None:
        if self._is_finishing and not self._open:
            await self._incoming.put(None)
