"""Speak the Chrome DevTools Protocol over two pipes: JSON messages separated by NUL.

See https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final

from keyhole.text.parse_json import parse_json

log = logging.getLogger(__name__)

MAX_MESSAGE: Final = 64 * 1024 * 1024
"""Largest message of the browser, in bytes. The HTML of a page is a message; it is bounded in visible.js."""

Handler = Callable[[Mapping[str, Any], str], None]
"""A function that takes the parameters of an event and the id of its session."""


class DevToolsError(Exception):
    """The browser refused a command, a script raised an exception, or the browser ended."""


class DevTools:
    """A connection to a browser. Commands may be sent concurrently; events are passed to handlers in their order."""

    def __init__(
        self, reader: asyncio.StreamReader, reading: asyncio.BaseTransport, writer: asyncio.WriteTransport
    ) -> None:
        self._reader = reader
        self._reading = reading
        self._writer = writer
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._handlers: dict[str, Handler] = {}
        self._failure = ""
        self._task = asyncio.create_task(self._receive())

    @classmethod
    async def open(cls, reading: int, writing: int) -> DevTools:
        """Take over the two ends of pipes and return the connection. They are closed if this is cancelled."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_MESSAGE)
        with ExitStack() as stack:
            source, sink = os.fdopen(reading, "rb", 0), os.fdopen(writing, "wb", 0)
            stack.callback(source.close)
            stack.callback(sink.close)
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
            stack.callback(transport.close)
            writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sink)
            stack.pop_all()
        return cls(reader, transport, writer)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` for each event of this name."""
        self._handlers[event] = handler

    async def send(self, method: str, parameters: Mapping[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """Send a command and return its result. Raises DevToolsError."""
        number = self.post(method, parameters, session)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self.check()
            return await future
        finally:
            del self._waiting[number]

    def post(self, method: str, parameters: Mapping[str, Any] | None = None, session: str = "") -> int:
        """Send a command whose result nobody waits for, and return its number."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        self._writer.write(json.dumps(message).encode() + b"\0")
        return number

    def check(self) -> None:
        """Raise DevToolsError if the browser or its page has ended."""
        if self._failure:
            raise DevToolsError(self._failure)

    def fail(self, reason: str) -> None:
        """Let all commands fail that wait for an answer, and those that are sent from now on."""
        self._failure = self._failure or reason
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(DevToolsError(reason))

    async def aclose(self) -> None:
        """Close the pipes. Chromium ends when they are closed."""
        if not self._writer.is_closing():  # asyncio fails to abort a pipe that is closed
            self._writer.abort()
        self._reading.close()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _receive(self) -> None:
        try:
            while True:
                data = await self._reader.readuntil(b"\0")
                self._dispatch(parse_json(data[:-1]))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            self.fail("the browser ended")

    def _dispatch(self, message: Mapping[str, Any]) -> None:
        if "id" in message:
            future = self._waiting.get(message["id"])
            if future is None or future.done():
                return
            if "error" in message:
                future.set_exception(DevToolsError(str(message["error"].get("message"))))
            else:
                future.set_result(message["result"])
        elif handler := self._handlers.get(message.get("method", "")):
            handler(message.get("params", {}), message.get("sessionId", ""))
