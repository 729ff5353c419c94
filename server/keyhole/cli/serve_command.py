"""Run `keyhole serve`: the MCP server over stdio or HTTP."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from keyhole.cli.build import build, load_engine_specs
from keyhole.cli.parser import DEFAULT_PORT, LOOPBACK
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.runtime.extensions import open_port

if TYPE_CHECKING:
    from keyhole.serve.http.host import HttpHost


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Serve until the client disconnects or the process is stopped, and return the exit code."""
    if not arguments.http and (arguments.host, arguments.port, arguments.processes) != (LOOPBACK, DEFAULT_PORT, 1):
        raise KeyholeError(Code.INVALID_ARGUMENT, "--host, --port and --processes need --http")
    if not arguments.http and sys.stdin.isatty():  # a person at a terminal may expect a prompt
        print("keyhole: waiting for an MCP client on standard input; Ctrl-C ends it", file=sys.stderr)
    if config.store:
        from keyhole.store.open import check_packages

        check_packages(config)  # before the first call
    load_engine_specs(config)  # report wrong settings at the start instead of at the first call
    with fast_imports(deferred=not arguments.http):
        from keyhole.serve.stdio import serve_stdio

    build_server = partial(build, long_running=True)
    if arguments.http:
        http: HttpHost = open_port("hosted", config)
        return http.serve(build_server, arguments.host, arguments.port, arguments.processes)
    return serve_stdio(config, build_server)


@contextmanager
def fast_imports(*, deferred: bool) -> Iterator[None]:
    """Import a server in the block without garbage collections. `deferred`: see `deferred_imports`.

    Loading the protocol's types allocates half a million objects that live as long as the process. Garbage collections
    during the load, and later ones that scan these objects, cost a tenth of the start time.
    """
    gc.disable()
    from keyhole.runtime.lazy_imports import deferred_imports

    with deferred_imports() if deferred else nullcontext():
        yield
    gc.freeze()
    gc.enable()
