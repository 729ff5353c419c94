"""Exchange messages with an MCP server over streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from mcp.shared._httpx_utils import stream_within_origin
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.handshake import is_modern, version_of
from keyhole.extensions.proxy.http_headers import (
    REFUSALS,
    HeaderNames,
    argument_headers,
    authorization_error,
    read_header_names,
)
from keyhole.extensions.proxy.json_rpc import (
    CANCELLED,
    MAX_MESSAGE,
    METHOD_NOT_FOUND,
    Key,
    Message,
    MessageLine,
    Unreadable,
    build,
    error_response,
    find_id,
    is_response,
    key_of,
    load,
    one_line,
    parse,
    read_messages,
)
from keyhole.extensions.proxy.results import KNOWN_TYPES

log = logging.getLogger(__name__)

# One session: messages are posted, and those of the responses are handed on byte for byte.

SESSION: Final = "mcp-session-id"
RECONNECT_SECONDS: Final = 1.0
"""Seconds until a broken stream is opened again, unless the server asks for a different delay."""
MAX_RECONNECT_SECONDS: Final = 60.0
MAX_FAILURES: Final = 3
"""A stream is given up after this many consecutive failures to open it."""
CLOSE_SECONDS: Final = 2.0
"""Seconds that a server has to end a session that the proxy closes."""
PING: Final = build({"jsonrpc": "2.0", "id": "keyhole-ping", "method": "ping"})

Deliver = Callable[[bytes], Awaitable[bool]]
"""Takes a message of the server. Returns True once it has answered the request whose response is being read."""


@dataclass(slots=True)
class _Position:
    """The place from which a broken stream can continue."""

    last_id: str = ""
    delay: float = RECONNECT_SECONDS

    def note(self, event: httpx2.ServerSentEvent) -> None:
        self.last_id = event.id or self.last_id
        if event.retry is not None:
            self.delay = min(event.retry / 1_000, MAX_RECONNECT_SECONDS)


class HttpExchange:
    """One session with a server. It ends with a ConnectionError: the server cannot be reached or forgot the session."""

    def __init__(self, client: httpx2.AsyncClient, url: str) -> None:
        self._client = client
        self._url = url
        self.session = ""
        """The id of the session, "" for a server without sessions."""
        self.version = ""
        """The protocol version that `initialize` agreed on."""
        self.header_names: HeaderNames = {}

    async def post(self, message: Message, deliver: Deliver) -> None:
        """Send a message and hand on what the response contains.

        Raises KeyholeError (server_unavailable, server_fault) if the server refuses it or its answer cannot be read.
        """
        if message.method == "initialize":
            self.session = self.version = ""
        try:
            async with self._stream("POST", self._post_headers(message), content=message.raw) as response:
                await self._read(message, response, deliver)
        except httpx2.ConnectError as error:
            raise ConnectionError(f"cannot be reached: ConnectError: {error}"[:200]) from error
        except httpx2.RequestError as error:
            reason = f"the connection to the server failed: {type(error).__name__}"
            raise KeyholeError(Code.SERVER_UNAVAILABLE, reason) from error

    async def listen(self, deliver: Deliver, position: _Position | None = None) -> bool:
        """Hand on the server's general messages, or the rest of a broken response after `position`.

        Return True once `deliver` returns True, False if the server has no such stream or it cannot be opened again.
        """
        position, failures = position or _Position(), 0
        while failures < MAX_FAILURES:
            headers = {"accept": "text/event-stream", **self._session_headers()}
            headers |= {"last-event-id": position.last_id} if position.last_id else {}
            try:
                async with self._stream("GET", headers) as response:
                    if _content_type(response) != "text/event-stream" or not response.is_success:
                        return False
                    failures = 0
                    if await _deliver_events(response, position, deliver):
                        return True
            except httpx2.RequestError:
                failures += 1
            await asyncio.sleep(position.delay)
        return False

    async def authorize(self, authorization: str) -> bool:
        """Use new credentials from now on if the server accepts them in this session. Return whether it does."""
        if not self.session and "authorization" in self._client.headers:
            return False  # nothing shows that the new credentials belong to the same user
        try:
            headers = {**self._post_headers(PING), "authorization": authorization}
            async with self._stream("POST", headers, content=PING.raw) as response:
                is_accepted = bool(response.is_success)
        except httpx2.RequestError:
            return False
        if is_accepted:
            self._client.headers["authorization"] = authorization
        return is_accepted

    async def close(self) -> None:
        """End the session at the server."""
        if self.session:
            with suppress(httpx2.RequestError):
                async with self._stream("DELETE", self._session_headers(), timeout=CLOSE_SECONDS):
                    pass

    def _stream(self, method: str, headers: Mapping[str, str], **options: Any) -> Any:
        """Return a request as a context manager of its response. Redirects are followed within the server's origin."""
        return stream_within_origin(self._client, method, self._url, headers=headers, **options)

    def _post_headers(self, message: Message) -> dict[str, str]:
        return {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            **self._session_headers(),
            **request_headers(message, self.version),
            **(argument_headers(self.header_names, message) if is_modern(version_of(message, self.version)) else {}),
        }

    def _session_headers(self) -> dict[str, str]:
        named = {SESSION: self.session, MCP_PROTOCOL_VERSION_HEADER: self.version}
        return {name: value for name, value in named.items() if value}

    async def _read(self, message: Message, response: httpx2.Response, deliver: Deliver) -> None:
        """Hand on the messages of a response. Raises KeyholeError or ConnectionError if it contains no message."""
        is_request = message.kind == "request"
        if not response.is_success:
            await self._read_refusal(message, response, deliver)
            return
        if message.method == "initialize":
            self.session = response.headers.get(SESSION, "")
        content = _content_type(response)
        if content == "text/event-stream":
            position = _Position()
            if not await _deliver_events(response, position, deliver) and position.last_id:
                await self.listen(deliver, position)
        elif content == "application/json" and is_request:  # to others, a server may answer with an empty body
            await deliver(one_line(await _read_body(response)))
        elif is_request:
            named = f"content of the type {content}" if content in KNOWN_TYPES else "content of an unknown type"
            raise KeyholeError(Code.SERVER_FAULT, f"the server answered with {named if content else 'no content'}")

    async def _read_refusal(self, message: Message, response: httpx2.Response, deliver: Deliver) -> None:
        """Hand on the JSON-RPC error in an unsuccessful response; without one, raise the error for its status."""
        if response.status_code in REFUSALS:
            raise authorization_error(response.status_code, response.headers.get("www-authenticate", ""))
        error = await _read_error(response)
        if response.status_code == 404 and self.session and (error or {}).get("code") != METHOD_NOT_FOUND:
            self.session = ""
            raise ConnectionError("has ended the session")
        if error is None or message.kind != "request":
            raise refusal(response)
        await deliver(build({"jsonrpc": "2.0", "id": message.data["id"], "error": error}).raw)


def refusal(response: httpx2.Response) -> KeyholeError:
    """Return the error for the HTTP status with which a server refused a message."""
    status = response.status_code
    return KeyholeError(Code.SERVER_UNAVAILABLE, f"the server answered with HTTP status {status}", http_status=status)


def request_headers(message: Message, agreed: str) -> dict[str, str]:
    """Return the headers that the transport requires for a message."""
    version = version_of(message, agreed)
    if not version or (message.method == "initialize" and not is_modern(version)):
        return {}
    headers = {MCP_PROTOCOL_VERSION_HEADER: version}
    if is_modern(version) and message.method:
        headers[MCP_METHOD_HEADER] = message.method
        name = message.params.get(NAME_BEARING_METHODS.get(message.method, ""))
        headers |= {MCP_NAME_HEADER: encode_header_value(name)} if isinstance(name, str) else {}
    return headers


async def _deliver_events(response: httpx2.Response, position: _Position, deliver: Deliver) -> bool:
    """Hand on the messages of an event stream; return whether one of them was the answer.

    Raises KeyholeError (server_fault) if a message is too long.
    """
    try:
        async for event in httpx2.EventSource(response, max_event_size=MAX_MESSAGE):
            position.note(event)
            if event.event == "message" and event.data and await deliver(one_line(event.data.encode())):
                return True
    except httpx2.SSEError as error:
        raise _too_long() from error
    except httpx2.RequestError as error:
        log.info("a stream of the server broke off: %s", type(error).__name__)
    return False


async def _read_body(response: httpx2.Response) -> bytes:
    """Return the body. Raises KeyholeError (server_fault) if it is longer than a message may be."""
    chunks, length = [], 0
    async for chunk in response.aiter_bytes():
        chunks.append(chunk)
        length += len(chunk)
        if length > MAX_MESSAGE:
            raise _too_long()
    return b"".join(chunks)


async def _read_error(response: httpx2.Response) -> Mapping[str, Any] | None:
    """Return the JSON-RPC error in the body of a response, None if there is none."""
    if _content_type(response) != "application/json":
        return None
    try:
        (message,) = parse(await _read_body(response))
    except (ValueError, KeyholeError):
        return None
    error = message.data.get("error")
    return error if isinstance(error, dict) else None


def _content_type(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _too_long() -> KeyholeError:
    return KeyholeError(Code.SERVER_FAULT, f"the answer of the server has more than {MAX_MESSAGE:,} bytes")


# The server: each request runs in a task of its own.

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
        self._incoming: asyncio.Queue[MessageLine | None] = asyncio.Queue(MAX_WAITING)
        self._open: set[Key] = set()
        """The requests that the server has not answered."""
        self._calls: dict[Key, asyncio.Task[None]] = {}
        self._is_finishing = False
        self._fault = ""
        self._work: asyncio.Task[None] | None = None
        self._exchange: HttpExchange | None = None

    async def authorize(self, authorization: str) -> bool:
        """Use new credentials from now on if the server accepts them in this session. Return whether it does."""
        is_accepted = self._exchange is not None and await self._exchange.authorize(authorization)
        if is_accepted:
            self._headers = {**self._headers, "Authorization": authorization}  # for the next connection
        return is_accepted

    async def start(self) -> None:
        self._fault, self._is_finishing = "", False
        self._work = asyncio.create_task(self._run())

    async def lines(self) -> AsyncIterator[MessageLine]:
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
        """Send the messages in their order, while tasks read the responses."""
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
        """Send a request. If this fails, the error becomes its answer."""
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
            await self._incoming.put(MessageLine(error_response(message.data["id"], error).raw))
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
        await self._incoming.put(MessageLine(raw))
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
