"""MCP servers of other projects, with calls whose results are small or far over every client's budget."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import flood_server
from .npm import install_from_npm
from .pip import install_from_pypi
from .setup import Setup

NPM_PACKAGES: Final = (
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@playwright/mcp",
)
LARGE_FILE: Final = "timetable.txt"
"""A file of 215 KB."""

ToolCall = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RealServer:
    """A server, and calls that give the same results whenever they are made."""

    name: str
    program: str
    package: str = ""
    """Its package on PyPI, "" for a server from npm."""
    words: tuple[str, ...] = ()
    """The arguments of its command line."""
    small: tuple[ToolCall, ...] = ()
    """Calls whose results are within every budget."""
    large: ToolCall | None = None
    """A call whose result is over every budget."""

    def command(self) -> list[str]:
        """Return the command that starts the server, which is installed if it is missing. Raises InstallError."""
        programs = install_from_pypi(self.package) if self.package else install_from_npm(NPM_PACKAGES)
        return [str(programs / self.program), *self.words]


def real_servers(setup: Setup) -> tuple[RealServer, ...]:
    """Return the servers, with data for them in the folder of the setup."""
    folder = setup.scratch / "data"
    write_files(folder)
    _write_database(folder / "sales.db")
    return (
        filesystem_server(folder),
        git_server(folder),
        RealServer(
            "sqlite", "mcp-server-sqlite", "mcp-server-sqlite", ("--db-path", f"{folder}/sales.db"),
            small=(("list_tables", {}), ("read_query", {"query": "SELECT count(*) FROM sales"})),
            large=("read_query", {"query": "SELECT * FROM sales"}),
        ),
        RealServer(
            "fetch", "mcp-server-fetch", "mcp-server-fetch", ("--ignore-robots-txt", "--allow-private-ips"),
            # Not raw, the server would first install a program from npm.
            small=(("fetch", {"url": setup.page, "max_length": 500, "raw": True}),),
            large=("fetch", {"url": setup.long_page, "max_length": 200_000, "raw": True}),
        ),
        RealServer(
            "time", "mcp-server-time", "mcp-server-time", ("--local-timezone", "UTC"),
            small=(("get_current_time", {"timezone": "No/Where"}),),
        ),
        RealServer(
            "everything", "mcp-server-everything",
            small=(
                ("get-sum", {"a": 2, "b": 3}), ("get-tiny-image", {}), ("get-resource-links", {"count": 2}),
                ("get-structured-content", {"location": "Chicago"}), ("echo", {}),
                ("get-annotated-message", {"messageType": "error", "includeImage": True}),
                ("trigger-long-running-operation", {"duration": 0.1, "steps": 2}),
            ),
            large=("echo", {"message": flood_server.TEXT}),
        ),
        browser_server(setup),
    )  # fmt: skip


def filesystem_server(folder: Path) -> RealServer:
    """Return the server of files, whose results have `structuredContent` too."""
    return RealServer(
        "filesystem", "mcp-server-filesystem", words=(str(folder),),
        small=(
            ("read_text_file", {"path": f"{folder}/notes.txt"}),
            ("read_media_file", {"path": f"{folder}/pixel.png"}),
            ("list_directory", {"path": str(folder)}),
            ("read_text_file", {"path": f"{folder}/missing.txt"}),
            ("no_such_tool", {}),
        ),
        large=("read_text_file", {"path": f"{folder}/{LARGE_FILE}"}),
    )  # fmt: skip


def git_server(folder: Path) -> RealServer:
    """Return the server of a Git repository, which speaks both eras of the protocol."""
    repository = {"repo_path": str(folder)}
    return RealServer(
        "git", "mcp-server-git", "mcp-server-git",
        small=(("git_status", repository), ("git_log", {**repository, "max_count": 1}), ("git_status", {"x": 1})),
        large=("git_show", {**repository, "revision": "HEAD"}),
    )  # fmt: skip


def browser_server(setup: Setup) -> RealServer:
    """Return Playwright's server. Without an installed Chromium, only its lists are compared."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
    words = ("--headless", "--isolated", "--no-sandbox", "--output-dir", str(setup.scratch / "browser"))
    code = f"async page => {{ await page.goto('{setup.page}'); return await page.locator('body').ariaSnapshot(); }}"
    return RealServer(
        "playwright", "playwright-mcp", words=(*words, "--executable-path", chromium) if chromium else words,
        large=("browser_run_code_unsafe", {"code": code}) if chromium else None,
    )  # fmt: skip


def write_files(folder: Path) -> None:
    """Write the files of `filesystem_server` and commit the texts among them for `git_server`."""
    folder.mkdir(exist_ok=True)
    (folder / LARGE_FILE).write_text(flood_server.TEXT, "utf-8")
    (folder / "notes.txt").write_text("Ask at pier 3.\n", "utf-8")
    (folder / "pixel.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", LARGE_FILE, "notes.txt")
    _git(folder, "commit", "--quiet", "--message=Add the timetable")


def _git(folder: Path, *words: str) -> None:
    person = {"NAME": "A. Keeper", "EMAIL": "keeper@example.org", "DATE": "2026-01-02T03:04:05Z"}
    env = {f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    clean = {"HOME": str(folder), "PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([shutil.which("git") or "git", *words], cwd=folder, env={**clean, **env}, check=True, timeout=20)


def _write_database(path: Path) -> None:
    rows: Sequence[tuple[int, str, float]] = [(row, f"pier {row % 7}", row * 1.25) for row in range(3_000)]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE sales (id INTEGER PRIMARY KEY, place TEXT, amount REAL)")
        database.executemany("INSERT INTO sales VALUES (?, ?, ?)", rows)
