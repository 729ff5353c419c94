"""Run the proxy over stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from keyhole.config.config import Config
from keyhole.serve.proxy.bounding import Bounder
from keyhole.serve.proxy.conversation import Conversation, Send
from keyhole.serve.proxy.lines import Line, read_lines
from keyhole.serve.proxy.relay import Relay
from keyhole.serve.proxy.rewrite import Policy
from keyhole.serve.proxy.stored_texts import StoredTexts, reader_schema
from keyhole.serve.proxy.upstream import Upstream

if TYPE_CHECKING:
    from keyhole.retrieval.tenants import Tenants

OpenServers = Callable[[], Mapping[str, Upstream]]
"""Returns the servers of one conversation, by name."""


def converse(
    config: Config, policy: Policy, servers: Mapping[str, Upstream], send: Send, texts: StoredTexts
) -> Conversation:
    """Return the conversation of a client with these servers."""
    relay = Relay(list(servers), policy, reader_schema)
    return Conversation(relay, servers, send, Bounder(config, policy, texts.open_store, time.time), texts.read)


def proxy_stdio(config: Config, policy: Policy, open_servers: OpenServers, build: Callable[[], Tenants]) -> int:
    """Serve one client over stdin and stdout, until it closes stdin or SIGTERM or SIGINT arrives."""

    async def run() -> None:
        texts = StoredTexts(build)
        work = asyncio.current_task()
        assert work  # noqa: S101 - for the type checker: this code runs in a task
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        try:
            await converse(config, policy, open_servers(), send_stdout, texts).run(await open_stdin())
        finally:
            await texts.aclose()

    with suppress(asyncio.CancelledError, BrokenPipeError):  # stopped, or the client has gone
        asyncio.run(run())
    return 0


async def open_stdin() -> Callable[[], Awaitable[Line | None]]:
    """Return a function that returns the next line of stdin, None at its end."""
    descriptor = sys.stdin.fileno()
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        lines = read_lines(reader.read)
    else:  # the event loop cannot wait for a file or a terminal
        lines = read_lines(lambda count: asyncio.to_thread(os.read, descriptor, count))

    async def receive() -> Line | None:
        return await anext(lines, None)

    return receive


async def send_stdout(raw: bytes) -> None:
    """Write a line to stdout, and return once its reader has room for it."""
    await asyncio.to_thread(_write, raw + b"\n")


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]
