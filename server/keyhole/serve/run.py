"""Run the MCP server over stdio or streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import anyio
from mcp.server.stdio import stdio_server

from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.extract.workers.pool import SPARE_WORKERS
from keyhole.retrieval import instrumentation
from keyhole.runtime.memory import return_large_blocks
from keyhole.serve.open_requests import bounded_streams
from keyhole.serve.tenants_loader import BuildTenants, TenantsLoader, open_tenants
from keyhole.serve.tools import build_server

if TYPE_CHECKING:
    from keyhole.serve.http.asgi import App
    from keyhole.serve.http.auth.authenticate import Verifier

log = logging.getLogger(__name__)

CALL_THREADS: Final = 24
"""Threads of an HTTP server for the work of its calls. Python's default is the number of processors plus four. On a
small machine, that would make short reads of the store wait for rankings, and every call wait for a slow commit."""

MEMORY_DELAY: Final = 1.0
"""Seconds after the start at which the return of freed memory is set up: that takes 5 ms, which the start saves."""
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


def serve_http(
    config: Config, build: BuildTenants, host: str, port: int, *, shared: bool = False, announces: bool = True
) -> int:
    """Serve HTTP clients until SIGTERM or SIGINT.

    `shared`: True if several processes serve the port; `announces`: True for the one that prints the URL.
    Raises KeyholeError (invalid_argument) if the settings are not safe for this host.
    """
    from keyhole.serve.http.listener import open_listener

    async def run(listener: socket.socket) -> None:
        set_up_process()
        async with open_tenants(config, build, spare_workers=SPARE_WORKERS) as tenants:
            await _serve_on(listener, config, tenants, announces=announces)

    with open_listener(config, host, port, shared=shared) as listener:
        anyio.run(run, listener)
    return 0


def set_up_process() -> None:
    """Prepare the process of a server: short turns of threads, `CALL_THREADS` of them, and the return of freed memory.

    The event loop shuts the threads down.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(CALL_THREADS, "call"))
    loop.call_later(MEMORY_DELAY, return_large_blocks)


async def _serve_on(listener: socket.socket, config: Config, tenants: TenantsLoader, *, announces: bool) -> None:
    from keyhole.serve.http.app import PATH, AppDependencies, build_app
    from keyhole.serve.http.drain import DrainState
    from keyhole.serve.http.listener import listener_url
    from keyhole.serve.http.probes import check_stores
    from keyhole.serve.http.telemetry.access_log import CallLogger
    from keyhole.serve.http.telemetry.metrics import create_metrics
    from keyhole.serve.http.telemetry.tracing import TracingMiddleware, start_tracing
    from keyhole.serve.http.uvicorn_server import serve

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
    from keyhole.serve.look.hosted.pages import hosted_pages

    return hosted_pages(config, tenants.get_retrieval, tenants.get)


def _announce(url: str, config: Config) -> None:
    message = f"serving MCP at {url}"
    if config.log_format == "json":
        log.info(message)
    else:
        print(f"keyhole: {message}", file=sys.stderr, flush=True)
