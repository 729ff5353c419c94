"""Run `keyhole server`: show and stop the servers that a user's clients share, and run one, as relays do."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from keyhole.cli.serve_command import check_engines, fast_imports
from keyhole.cli.table import Column, print_json, print_table
from keyhole.config.config import Config
from keyhole.config.load import load_config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.shared.address import Address, find_address, shared_folder
from keyhole.serve.shared.link import ask_servers, prepare_folder
from keyhole.serve.shared.relay import BUSY

OK, FAILED = 0, 1
COLUMNS = (Column("process"), Column("version"), Column("up", right=True), Column("clients", unshortened=True))


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Run one action and return the exit code."""
    if arguments.action == "run":
        return _run_server()
    answers = ask_servers(shared_folder(os.environ), arguments.action)
    for path in (path for path, server in answers.items() if server is None):
        print(f"keyhole: the server at {path} does not answer", file=sys.stderr)
    servers = [server for server in answers.values() if server is not None]
    if arguments.json:
        print_json(servers)
    elif not answers:
        print("no shared server is running", file=sys.stderr)
    elif arguments.action == "stop":
        print("".join(f"stopped the server of process {server['process']}\n" for server in servers), end="")
    else:
        print_table(COLUMNS, [_row(server) for server in servers])
    return OK if len(servers) == len(answers) else FAILED


def _row(server: Mapping[str, Any]) -> list[str]:
    minutes = max(0, int(time.time() - server["started"])) // 60
    clients = [f"{client['process']} in {client['folder']}" for client in server["clients"]]
    return [str(server["process"]), str(server["version"]), f"{minutes} min", "; ".join(clients) or "none"]


def _run_server() -> int:
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
        # From the reading of the files that the address was computed from: a later one may differ.
        config = load_config(os.environ, address.settings)
        check_engines(config, address.engines)
        with fast_imports(deferred=True):
            from keyhole.cli.build import build
            from keyhole.cli.hook.prefer import Preferences
            from keyhole.cli.hook.program import PREFER_KEY, answer
            from keyhole.serve.shared.server import serve_shared

        preferences = Preferences()

        def answer_hook(event: bytes, client: str, budget: int, folders: Collection[str]) -> bytes:
            if PREFER_KEY.encode() not in event:
                return answer(event, client, budget, os.environ)
            refusal = preferences.answer(json.loads(event), client, folders)
            return json.dumps(refusal).encode() if refusal else b""

        announce = partial(_announce, address.socket)
        build_tenants = partial(build, long_running=True, engines_file=address.engines)
        return serve_shared(config, build_tenants, address, announce, answer_hook)


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
