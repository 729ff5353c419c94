"""Run the proxy over stdin and stdout, or over HTTP."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import stat
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.extensions.proxy.bounding import Bounder, StoredTexts, reader_schema
from keyhole.extensions.proxy.json_rpc import MessageLine, read_lines
from keyhole.extensions.proxy.proxy_relay import ProxyRelay
from keyhole.extensions.proxy.proxy_session import SWITCH_SECONDS, ProxySession, Send
from keyhole.extensions.proxy.rewrite import Policy
from keyhole.extensions.proxy.upstream import Upstream
from keyhole.runtime.extensions import open_port
from keyhole.serve.http.host import HostedApp, HttpHost
from keyhole.store.base import LOCAL
from keyhole.store.home import home_folder
from keyhole.store.ids import random_id
from keyhole.store.spool import spool_folder

if TYPE_CHECKING:
    from keyhole.retrieval.tenants import Tenants

OpenServer = Callable[[str], Upstream]
"""Returns the server for one session. Its argument is the caller's `Authorization`, "" without one."""


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """The server behind the proxy, and the options for bounding its results."""

    server: str
    """The name of the server, for messages."""
    open_server: OpenServer
    policy: Policy
    sign_in_url: str = ""
    """The URL of the server if it gets the credentials of the callers, else ""."""


def converse(
    config: Config, options: ProxyOptions, server: Upstream, send: Send, texts: StoredTexts, tenant: str = LOCAL
) -> ProxySession:
    """Return the session of a client with the server. Its results are stored for the tenant."""
    relay = ProxyRelay(options.server, options.policy, reader_schema)
    session = random_id()
    record = partial(texts.record, tenant=tenant, session=session)
    spool = spool_folder(home_folder(config.home)) if tenant == LOCAL and not config.store else ""
    bounder = Bounder(config, options.policy, partial(texts.open_store, tenant), time.time, record, spool)
    return ProxySession(relay, server, send, bounder, partial(texts.read, tenant=tenant, session=session))


def proxy_stdio(config: Config, options: ProxyOptions, build: Callable[[], Tenants]) -> int:
    """Serve one client over stdin and stdout, until it closes stdin or SIGTERM or SIGINT arrives."""

    async def run() -> None:
        texts = StoredTexts(build, working_folder())
        work = asyncio.current_task()
        assert work  # noqa: S101 - for the type checker: this code runs in a task
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        try:
            await converse(config, options, options.open_server(""), open_stdout(), texts).run(await open_stdin())
        finally:
            await texts.aclose()

    sys.setswitchinterval(SWITCH_SECONDS)
    with suppress(asyncio.CancelledError, BrokenPipeError):  # stopped, or the client has gone
        asyncio.run(run())
    return 0


def proxy_http(config: Config, options: ProxyOptions, build: Callable[[], Tenants], host: str, port: int) -> int:
    """Serve HTTP clients until SIGTERM or SIGINT.

    Raises KeyholeError (invalid_argument) if the settings are not safe for this host.
    """
    from keyhole.extensions.proxy.http_app import PATH, ProxyApp
    from keyhole.extensions.proxy.http_headers import Sender
    from keyhole.extensions.proxy.http_session import HttpSession
    from keyhole.extensions.proxy.http_upstream import HttpUpstream
    from keyhole.extensions.proxy.oauth_proxy import SignIn, SignInClient

    texts = StoredTexts(build)

    async def run_session(session: HttpSession, caller: Sender) -> None:
        server = options.open_server(caller.authorization)
        session.authorize = server.authorize if isinstance(server, HttpUpstream) else None
        await converse(config, options, server, session.send, texts, caller.tenant).run(session.receive)

    def make(has_tokens: bool) -> HostedApp:
        url = options.sign_in_url
        if not url or has_tokens:
            return HostedApp(ProxyApp(run_session, None), PATH, lambda app: app, texts.aclose)
        sign_in = SignIn(url, SignInClient(config, url), config.public_url)
        return HostedApp(ProxyApp(run_session, sign_in.challenge), PATH, sign_in.around, texts.aclose)

    http: HttpHost = open_port("hosted", config)
    sys.setswitchinterval(SWITCH_SECONDS)
    return http.serve_app(make, host, port)


async def open_stdin() -> Callable[[], Awaitable[MessageLine | None]]:
    """Return a function that returns the next line of stdin, None at its end."""
    descriptor = sys.stdin.fileno()
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        lines = read_lines(reader.read)
    else:  # the event loop cannot wait for a file or a terminal
        lines = read_lines(lambda count: asyncio.to_thread(os.read, descriptor, count))

    async def receive() -> MessageLine | None:
        return await anext(lines, None)

    return receive


def open_stdout() -> Send:
    """Return a function that writes a line to stdout, and returns once its reader has room for it.

    Writes may block, because other processes may share the stdout, so they run in a thread. A pipe that has room takes
    `PIPE_BUF` bytes at once: messages up to this size are written without a thread, in a tenth of the time.
    """
    poll = select.poll()
    poll.register(1, select.POLLOUT)
    is_pipe = stat.S_ISFIFO(os.fstat(1).st_mode)

    async def send(raw: bytes) -> None:
        data = raw + b"\n"
        if is_pipe and len(data) <= select.PIPE_BUF and poll.poll(0):
            _write(data)
        else:
            await asyncio.to_thread(_write, data)

    return send


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]
