"""Run `keyhole server`: show and stop the servers that a user's clients share, and run one, as relays do."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from keyhole.cli.serve_command import check_engines, fast_imports
from keyhole.cli.table import Column, print_json, print_table
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.shared.address import Address, find_address, shared_folder
from keyhole.serve.shared.link import ask, prepare_folder
from keyhole.serve.shared.relay import BUSY

ASK_SECONDS = 2.0
"""Seconds to wait for a server's status: a busy server takes tenths of a second."""
COLUMNS = (Column("process"), Column("version"), Column("up", right=True), Column("clients", unshortened=True))


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Run one action and return the exit code."""
    if arguments.action == "run":
        return _run_server(config)
    servers = list(ask_servers(arguments.action))
    if arguments.json:
        print_json(servers)
    elif not servers:
        print("no shared server is running", file=sys.stderr)
    elif arguments.action == "stop":
        print("\n".join(f"stopped the server of process {server['process']}" for server in servers))
    else:
        print_table(COLUMNS, [_row(server) for server in servers])
    return 0


def ask_servers(action: str) -> Iterator[dict[str, Any]]:
    """Ask each shared server of this user for its status, or to stop, and yield the answers."""
    for path in sorted(Path(shared_folder(os.environ)).glob("*.sock")):
        try:
            asked = ask(str(path), {"ask": action}, ASK_SECONDS)
        except TimeoutError:
            print(f"keyhole: the server at {path} does not answer", file=sys.stderr)
            continue
        if asked:
            asked[0].close()
            yield asked[1]


def _row(server: Mapping[str, Any]) -> list[str]:
    minutes = max(0, int(time.time() - server["started"])) // 60
    clients = [f"{client['process']} in {client['folder']}" for client in server["clients"]]
    return [str(server["process"]), str(server["version"]), f"{minutes} min", "; ".join(clients) or "none"]


def _run_server(config: Config) -> int:
    """Serve the clients of these settings, unless another server does. Return the exit code.

    Prints the path of the socket when clients can connect, or `busy`.
    """
    address = find_address(os.environ)
    if address is None or not prepare_folder(address.folder):
        raise KeyholeError(Code.INVALID_ARGUMENT, "these settings share no server; see KEYHOLE_SHARED")
    with _lock(address) as is_ours:
        if not is_ours:
            _announce(BUSY)
            return 0
        check_engines(config)
        with fast_imports(deferred=True):
            from keyhole.cli.build import build
            from keyhole.serve.shared.server import serve_shared
        return serve_shared(config, partial(build, long_running=True), address, lambda: _announce(address.socket))


@contextmanager
def _lock(address: Address) -> Iterator[bool]:
    """Hold the lock of an address in the block; yield False if another process holds it."""
    import fcntl

    with Path(address.path("lock")).open("ab") as file:  # in a folder that only this user can read
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_ours = False
        else:
            is_ours = True
        yield is_ours


def _announce(word: str) -> None:
    """Print a word for the relay that started this server, and point stdout at stderr: the relay waits for its end."""
    print(word, flush=True)
    os.dup2(2, 1)
