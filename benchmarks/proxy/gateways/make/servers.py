"""The servers whose results are recorded: how they are installed and started."""

from __future__ import annotations

import os
import subprocess
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.proxy.gateways.make.workspace import WORKSPACE

CACHE = Path.home() / ".cache" / "keyhole-gateways"
PORT = 8973
"""The port of the pages on loopback. It is fixed because results contain it."""


@dataclass(frozen=True)
class Server:
    """A server: its package at npm or PyPI, what it needs beside it, and the arguments of its program."""

    package: str
    version: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    is_node: bool = False
    env: tuple[tuple[str, str], ...] = ()

    def command(self) -> list[str]:
        """Return the command line of the installed server."""
        folder = CACHE / self.package.rpartition("/")[2]
        if not folder.exists():
            _install_node(self, folder) if self.is_node else _install_python(self, folder)
        programs = folder / ("node_modules/.bin" if self.is_node else "bin")
        name = self.package.replace("@modelcontextprotocol/", "mcp-").replace("@playwright/mcp", "playwright-mcp")
        return [str(programs / name), *self.arguments]


SERVERS: Mapping[str, Server] = {
    "filesystem": Server(
        "@modelcontextprotocol/server-filesystem", "2026.8.31", (str(WORKSPACE),), is_node=True
    ),
    "memory": Server(
        "@modelcontextprotocol/server-memory", "2026.8.31", is_node=True,
        env=(("MEMORY_FILE_PATH", str(WORKSPACE / "memory.jsonl")),),
    ),
    "ripgrep": Server("mcp-ripgrep", "0.4.0", is_node=True),
    "commands": Server("mcp-server-commands", "0.5.0", is_node=True),
    "playwright": Server(
        "@playwright/mcp", "0.0.83",
        ("--headless", "--isolated", "--no-sandbox", "--executable-path", "/usr/bin/chromium"), is_node=True,
    ),
    "git": Server("mcp-server-git", "2026.10.19"),
    "fetch": Server("mcp-server-fetch", "2026.10.24", ("--ignore-robots-txt", "--allow-private-ips")),
    "sqlite": Server("mcp-server-sqlite", "2025.4.25", ("--db-path", str(WORKSPACE / "packages.db")), ("mcp<2",)),
    "code-index": Server("code-index-mcp", "2.17.1"),
}  # fmt: skip


def _install_node(server: Server, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    command = ["npm", "install", "--no-audit", "--no-fund", f"{server.package}@{server.version}", *server.needs]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _install_python(server: Server, folder: Path) -> None:
    venv.create(folder, with_pip=True)
    command = [str(folder / "bin" / "pip"), "install", "-qq", f"{server.package}=={server.version}", *server.needs]
    subprocess.run(command, check=True)


def environment(server: Server) -> dict[str, str]:
    """Return the few variables that a server sees: no others could get into a result."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {"LANG": "C.UTF-8", "COLUMNS": "120", "NPM_CONFIG_USERCONFIG": "/dev/null"} | dict(server.env)
