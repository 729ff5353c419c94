"""Run the MCP server over stdio, and prepare the process of any server."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import anyio
from mcp.server.stdio import stdio_server

from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.runtime.memory import return_large_blocks
from keyhole.serve.open_requests import bounded_streams
from keyhole.serve.tenants_loader import BuildTenants, open_tenants
from keyhole.serve.tools import build_server

if TYPE_CHECKING:
    pass

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


def set_up_process() -> None:
    """Prepare the process of a server: short turns of threads, `CALL_THREADS` of them, and the return of freed memory.

    The event loop shuts the threads down.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(CALL_THREADS, "call"))
    loop.call_later(MEMORY_DELAY, return_large_blocks)
