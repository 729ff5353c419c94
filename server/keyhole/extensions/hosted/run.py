"""Serve the tools, or another application, over HTTP: the port `HttpHost`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from types import FrameType
from typing import Final

import anyio

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.hosted.admission import AdmissionMiddleware
from keyhole.extensions.hosted.app import PATH, AppDependencies, build_app
from keyhole.extensions.hosted.authenticate import add_authentication, create_verifier
from keyhole.extensions.hosted.host_check import add_host_check
from keyhole.extensions.hosted.listener import listener_url, open_listener, reserve_port
from keyhole.extensions.hosted.probes import DrainMiddleware, DrainState, check_stores
from keyhole.extensions.hosted.telemetry import CallLogger, TracingMiddleware, create_metrics, start_tracing
from keyhole.extensions.hosted.token_file import TokenFile
from keyhole.extensions.hosted.uvicorn_server import serve
from keyhole.extract.workers.worker_pool import SPARE_WORKERS
from keyhole.retrieval import instrumentation
from keyhole.runtime.extensions import open_port
from keyhole.serve.http.asgi import App
from keyhole.serve.http.host import HostedApp, HostedPages, Verifier
from keyhole.serve.stdio import set_up_process
from keyhole.serve.tenants_loader import BuildTenants, TenantsLoader, open_tenants
from keyhole.serve.tools import build_server

log = logging.getLogger(__name__)


class Host:
    """The HTTP server of the settings."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def serve(self, build: BuildTenants, host: str, port: int, processes: int) -> int:
        """Serve the tools; see HttpHost."""
        if processes == 1:
            return serve_http(self._config, build, host, port)
        if sys.platform == "win32":
            raise KeyholeError(Code.INVALID_ARGUMENT, "--processes is not available on Windows")
        stateless = replace(self._config, stateless=True)  # a request may reach any of the processes
        with reserve_port(self._config, host, port) as reserved:

            def serve_number(number: int) -> int:
                return serve_http(stateless, build, host, reserved, shared=True, announces=number == 0)

            return serve_processes(processes, serve_number)

    def serve_app(self, make: Callable[[bool], HostedApp], host: str, port: int) -> int:
        """Serve an application; see HttpHost."""
        config = self._config

        async def run() -> None:
            drain_state, verifier = DrainState(), create_verifier(config)
            hosted = make(verifier is not None)
            app = add_authentication(AdmissionMiddleware(hosted.app, config), config, verifier)
            app = add_host_check(hosted.around(app), config)
            print(f"keyhole: serving MCP at {listener_url(listener, hosted.path)}", file=sys.stderr, flush=True)
            try:
                await serve(DrainMiddleware(app, drain_state), listener, drain_state, config.drain_seconds)
            finally:
                await hosted.close()

        with open_listener(config, host, port) as listener:
            asyncio.run(run())
        return 0


def serve_http(
    config: Config, build: BuildTenants, host: str, port: int, *, shared: bool = False, announces: bool = True
) -> int:
    """Serve HTTP clients until SIGTERM or SIGINT.

    `shared`: True if several processes serve the port; `announces`: True for the one that prints the URL.
    Raises KeyholeError (invalid_argument) if the settings are not safe for this host.
    """

    async def run(listener: socket.socket) -> None:
        set_up_process()
        async with open_tenants(config, build, spare_workers=SPARE_WORKERS) as tenants:
            await _serve_on(listener, config, tenants, announces=announces)

    with open_listener(config, host, port, shared=shared) as listener:
        anyio.run(run, listener)
    return 0


async def _serve_on(listener: socket.socket, config: Config, tenants: TenantsLoader, *, announces: bool) -> None:

    # A separate thread, so that /readyz can check the store while calls occupy all other threads.
    check_thread = ThreadPoolExecutor(1, "store-check")

    async def check_store() -> str:
        stores = (await tenants.get()).stores
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(check_thread, check_stores, stores, config.store == "memory")

    tenants.start()  # now, so that the first call does not wait for the loading
    tenants.warm()
    metrics, tracing = create_metrics(), start_tracing(os.environ)
    observers: list[instrumentation.Observer] = [CallLogger()]
    observers += [metrics] if metrics else []
    observers += [tracing.observer] if tracing else []
    outer = [TracingMiddleware] if tracing else []
    pages = _load_pages(config, tenants) if config.look else None
    dependencies = AppDependencies(DrainState(), check_store, tenants.store_sizes, metrics, outer=outer, pages=pages)
    try:
        with instrumentation.observed_by(*observers):
            app = build_app(config, build_server(tenants.get_retrieval), dependencies)
            if announces:  # only now: build_app raises for an invalid token file
                _announce(listener_url(listener, PATH), config)
            await serve(app, listener, dependencies.drain_state, config.drain_seconds)
    finally:
        check_thread.shutdown(wait=False, cancel_futures=True)
        if tracing:
            await asyncio.to_thread(tracing.shutdown)


def _load_pages(config: Config, tenants: TenantsLoader) -> Callable[[Verifier], App]:
    names = TokenFile(config.tokens_file).tenants if config.tokens_file else tuple
    pages: HostedPages = open_port("look")
    return pages.hosted_pages(config, tenants, names)


def _announce(url: str, config: Config) -> None:
    message = f"serving MCP at {url}"
    if config.log_format == "json":
        log.info(message)
    else:
        print(f"keyhole: {message}", file=sys.stderr, flush=True)


# Several processes on one port, each of which uses one processor. The kernel gives each connection to one of them
# (SO_REUSEPORT, socket(7)). A process that ends is started again.

RESTART_PAUSE: Final = 1.0
"""Seconds before an ended process is started again, so that a process that cannot start uses little CPU."""
WRONG_SETTINGS: Final = 2
"""Exit code of a process with wrong settings, which is not started again."""
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def serve_processes(count: int, serve: Callable[[int], int]) -> int:
    """Run `serve(number)` in `count` child processes until SIGTERM or SIGINT, and return the exit code.

    Each child gets these signals too, and drains. The caller has started no thread.
    """
    supervisor = Supervisor(serve)
    for number in STOP_SIGNALS:
        signal.signal(number, supervisor.stop)
    return supervisor.run(count)


class Supervisor:
    """The parent of the processes that serve."""

    def __init__(self, serve: Callable[[int], int]) -> None:
        self._serve = serve
        self._children: dict[int, int] = {}  # the numbers of the processes by their ids
        self._is_stopping = False

    def run(self, count: int) -> int:
        """Start the processes, restart each that ends until `stop` is called, and return the exit code."""
        for number in range(count):
            if not self._is_stopping:
                self._start(number)
        code = 0
        while self._children:
            process, status = os.wait()
            number = self._children.pop(process)
            code = os.waitstatus_to_exitcode(status)
            if code == WRONG_SETTINGS:
                self.stop(signal.SIGTERM, None)
                return code
            if not self._is_stopping:
                log.warning("process %d of the server ended with %d and is started again", process, code)
                time.sleep(RESTART_PAUSE)
            if not self._is_stopping:  # a signal may have arrived during the pause
                self._start(number)
        return max(code, 0)

    def stop(self, number: int, _frame: FrameType | None) -> None:
        """Pass a signal on to the processes. They end, and are not started again."""
        self._is_stopping = True
        for process in list(self._children):
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(process, number)

    def _start(self, number: int) -> None:
        # A signal between the fork and the next lines would not reach the child, or would run `stop` in the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        process = os.fork()
        if process:
            self._children[process] = number
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            return
        code = 1
        try:
            for each in STOP_SIGNALS:
                signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            code = self._serve(number)
        except KeyholeError as error:
            print(f"keyhole: {error.message}", file=sys.stderr)
            code = WRONG_SETTINGS
        finally:  # the child must not return into its parent's code
            if sys.exc_info()[0]:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(code)
