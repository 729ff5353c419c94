"""Run `keyhole proxy`: an MCP server that relays to other servers and bounds their results."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Final

from keyhole.config.config import MAX_BUDGET, Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.proxy.results import LEAST_BYTES
from keyhole.serve.proxy.rewrite import Policy
from keyhole.serve.proxy.upstream import ProcessUpstream, Upstream

SOLE: Final = "server"
"""The name of the only server in messages about it."""


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Relay until the client disconnects, and return the exit code."""
    from keyhole.cli.build import build
    from keyhole.serve.proxy.run import proxy_stdio

    policy = read_policy(arguments)
    return proxy_stdio(config, policy, partial(_open_servers, arguments), partial(build, config, long_running=True))


def read_policy(arguments: argparse.Namespace) -> Policy:
    """Return the choices of the command line. Raises KeyholeError: invalid_argument."""
    sizes = dict(_tool_size(each) for each in arguments.tools or ())
    return Policy(tuple(arguments.only or ()), tuple(arguments.excluded or ()), sizes, arguments.keyhole_query)


def _tool_size(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal() or not LEAST_BYTES <= int(size) <= MAX_BUDGET:
        raise KeyholeError(
            Code.INVALID_ARGUMENT, f"--tool takes NAME=BYTES, from {LEAST_BYTES} to {MAX_BUDGET} bytes, not {text!r}"
        )
    return name, int(size)


def _open_servers(arguments: argparse.Namespace) -> Mapping[str, Upstream]:
    words = arguments.server_command
    if not words:
        raise KeyholeError(Code.INVALID_ARGUMENT, "give the server's command after --, such as: -- npx server")
    return {words[0].rpartition("/")[2]: ProcessUpstream(words)}
