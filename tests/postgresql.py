"""A throw-away PostgreSQL cluster on loopback, from the machine's own binaries; tests skip where there are none."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from loopback import unused_port

USER = "postgres"
"""PostgreSQL refuses to run as root; then it runs as the user whom its packages make."""


def binaries() -> Path | None:
    """The folder with initdb and pg_ctl, of the newest PostgreSQL there is."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("pg_ctl")
    return Path(on_path).resolve().parent if on_path else None


class Cluster:
    """A cluster that can be stopped and started again on the same port."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.port = unused_port()
        self.url = f"postgresql://keyhole@127.0.0.1:{self.port}/postgres"
        self._folder = folder
        self._programs = programs
        self._user = USER if os.geteuid() == 0 else None
        self._run("initdb", "-A", "trust", "-U", "keyhole", "-E", "UTF8", "--locale=C", "--no-sync", "-D", self._data)

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def start(self) -> None:
        """Start, and wait until it takes connections."""
        options = f"-h 127.0.0.1 -p {self.port} -k {self._folder} -c max_connections=60"
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", self._data, "-l", log, "-w", "-t", "30", "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop; `immediate` is as a crash."""
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "30", "-m", mode, "stop")

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement, by a connection of its own; [] for one without."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str) -> None:
        # Its output goes nowhere: a server that pg_ctl left behind would hold a pipe open.
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            group=self._user,
            cwd="/",
            timeout=60,
        )
        assert done.returncode == 0, f"{program} failed"


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A running cluster, gone with all it held when the block ends."""
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL's binaries are not installed")
    with tempfile.TemporaryDirectory(prefix="keyhole-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        made = Cluster(folder, programs)
        made.start()
        try:
            yield made
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                made.stop("immediate")
