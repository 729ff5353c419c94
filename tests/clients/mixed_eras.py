"""Let real clients use servers of both eras of the protocol behind one proxy, with either of them first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Final

from . import inspector
from .npm import InstallError, install_from_npm
from .pip import install_from_pypi
from .proxied_servers import READER
from .real_servers import NPM_PACKAGES
from .setup import PROXY, Setup
from .steps import Steps, run_program

PACKAGES = inspector.PACKAGES
FOLDER: Final = Path(__file__).parent
TEXT: Final = "Ask at pier 3.\n"
ORDERS: Final = (("files", "sums"), ("sums", "files"))
"""The names of the servers in the configuration file; `files` speaks the older versions only."""
NEW: Final = "2026-07-28"
VERSIONS: Final = {NEW: (NEW,), "auto": (NEW, "2025-11-25"), "legacy": ("2025-11-25",)}
"""The versions that a client may agree on, by how it chooses one. The Python clients choose by time: after 10 seconds
without an answer they take a server for an older one."""
AT_ONCE: Final = 2
"""Clients that run at the same time."""
SEEN: Final = {
    "templates": ["keyhole:sums:data://{name}"],
    "sum": "5",
    "same name": "sums has x",
    "file": TEXT,
    "resource": "data of x",
    "prompt": "Greet me.",
}
"""What every client sees, beside its version and the tools."""


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Check the Python SDK, FastMCP and the TypeScript SDK in each order, and the older versions."""
    try:
        python = str(install_from_pypi("fastmcp") / "python")
        files = str(install_from_npm(NPM_PACKAGES) / "mcp-server-filesystem")
    except InstallError as reason:
        steps.skip("mixed eras", str(reason))
        return
    file = setup.scratch / "notes.txt"
    file.write_text(TEXT, "utf-8")
    script = str(FOLDER / "mixed_eras_client.py")
    clients = {
        "Python SDK": [python, script, "sdk"],
        "FastMCP": [python, script, "fastmcp"],
        "TypeScript SDK": [str(programs / "node"), str(FOLDER / "mixed_eras_client.mjs"), str(programs.parent)],
    }
    servers = {
        "files": {"command": files, "args": [str(setup.scratch)]},
        "sums": {"command": python, "args": [str(FOLDER / "mixed_eras_server.py")]},
    }
    with ThreadPoolExecutor(AT_ONCE) as threads:
        running = {}
        for order, client, mode in [
            *product(ORDERS, clients, [NEW]),
            (ORDERS[0], "FastMCP", "auto"),
            (ORDERS[1], "Python SDK", "legacy"),
        ]:
            config = setup.scratch / f"{order[0]}-first.json"
            config.write_text(json.dumps({"mcpServers": {name: servers[name] for name in order}}), "utf-8")
            words = [*clients[client], mode, str(file), *PROXY, "--config", str(config)]
            name = f"mixed eras: {client}, {mode}, {order[0]} first: lists and calls both servers"
            running[name] = threads.submit(_check, setup, programs, words, mode, order)
        for name, work in running.items():
            steps.run(name, work.result)


def _check(setup: Setup, programs: Path, command: Sequence[str], mode: str, order: Sequence[str]) -> None:
    """Raise AssertionError unless a client sees what both servers have."""
    env = {**setup.client_env(programs), **setup.settings, "FASTMCP_CHECK_FOR_UPDATES": "off"}
    done = run_program(command, env, setup.scratch)
    assert done.returncode == 0, done.stderr[-500:]
    seen = json.loads(done.stdout)
    tools, version = seen.pop("tools"), seen.pop("version")
    assert version in VERSIONS[mode] and seen == SEEN, f"{version}: {seen}"
    assert tools[-1] == READER and list(dict.fromkeys(tool.partition("_")[0] for tool in tools[:-1])) == [*order], tools
