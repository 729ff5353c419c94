"""Run `keyhole server`: show and stop the servers that a user's clients share, and run one, as relays do."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from keyhole.cli.build import load_engine_specs
from keyhole.cli.serve_command import fast_imports
from keyhole.cli.terminal import TableColumn, print_json, print_table
from keyhole.config.config import Config
from keyhole.config.load import load_config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.shared.address import Address, find_address, shared_folder
from keyhole.serve.shared.link import ask_servers, prepare_folder
from keyhole.serve.shared.relay import BUSY

OK, FAILED = 0, 1
END_SECONDS: Final = 3
"""Seconds that a stopping server has to end. It usually needs tenths of a second."""
WRITE_SECONDS: Final = 0.1
"""Seconds to wait until a server has written into its new lock."""
COLUMNS = (
    TableColumn("process"),
    TableColumn("version"),
    TableColumn("up", right=True),
    TableColumn("clients", unshortened=True),
)


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Run one action and return the exit code."""
    if arguments.action == "run":
        return _run_server()
    folder = shared_folder(os.environ)
    answers = stop_servers(folder) if arguments.action == "stop" else ask_servers(folder, arguments.action)
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


def stop_servers(folder: str) -> dict[str, dict[str, Any] | None]:
    """Ask the servers of a folder to stop, and end each that does not.

    Return their last answers by the paths of their sockets, None for a server that keeps running.
    """
    locks = sorted(map(str, Path(folder).glob("*.lock")))
    if not locks:
        return {}
    from keyhole.serve.shared.lock import end_server, find_server, wait_for_end

    servers = {lock: process for lock in locks if (process := find_server(lock))}
    answers = ask_servers(folder, "stop")
    for lock, process in servers.items():
        path = lock.removesuffix("lock") + "sock"
        if not answers.get(path) or not wait_for_end(lock, process, END_SECONDS + 1):
            answers[path] = {"process": process} if end_server(lock, process) else None
    return answers


def _row(server: Mapping[str, Any]) -> list[str]:
    minutes = max(0, int(time.time() - server["started"])) // 60
    clients = [f"{client['process']} in {client['folder']}" for client in server["clients"]]
    return [str(server["process"]), str(server["version"]), f"{minutes} min", "; ".join(clients) or "none"]


def _run_server() -> int:
    """Serve the clients of these settings, unless another server does. Return the exit code.

    Prints the path of the socket when clients can connect, or `busy`.
    """
    from keyhole.serve.shared.lock import take_lock

    address = find_address(os.environ)
    if address is None or not prepare_folder(address.folder):
        raise KeyholeError(Code.INVALID_ARGUMENT, "these settings share no server; see KEYHOLE_SHARED")
    if not take_lock(address.path("lock")):
        return _leave_to_other(address)
    # From the reading of the files that the address was computed from: a later one may differ.
    config = load_config(os.environ, address.settings)
    load_engine_specs(config, address.engines)
    with fast_imports(deferred=True):
        from keyhole.cli.build import build
        from keyhole.outputs.hooks.answer import PREFER_KEY, answer
        from keyhole.outputs.hooks.prefer import Preferences
        from keyhole.serve.shared.server import serve_shared

    preferences = Preferences()

    def answer_hook(event: bytes, client: str, budget: int, folders: Collection[str]) -> bytes:
        if PREFER_KEY.encode() not in event:
            return answer(event, client, budget, os.environ)
        refusal = preferences.answer(json.loads(event), client, folders)
        return json.dumps(refusal).encode() if refusal else b""

    return serve_shared(
        config,
        partial(build, long_running=True, engines_file=address.engines),
        address,
        partial(_announce, address.socket),
        answer_hook,
        on_end=partial(signal.alarm, END_SECONDS),  # a thread that computes cannot keep the process from ending
    )


def _leave_to_other(address: Address) -> int:
    """Print `busy` for the relay, which then waits for the other server. Raises KeyholeError if there is none."""
    from keyhole.serve.shared.lock import find_server

    end = time.monotonic() + WRITE_SECONDS
    while not find_server(address.path("lock")):
        if time.monotonic() > end:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"another program holds {address.path('lock')}")
        time.sleep(WRITE_SECONDS / 10)
    _announce(BUSY)
    return OK


def _announce(word: str) -> None:
    """Print a word for the relay that started this server, then redirect stdout to stderr, which ends the relay's pipe.

    A relay that has ended already is no error: other relays wait for this server.
    """
    with suppress(BrokenPipeError):
        print(word, flush=True)
    os.dup2(2, 1)
