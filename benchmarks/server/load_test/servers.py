"""Start the servers of a hosted Keyhole on loopback: PostgreSQL, replicas, nginx with deploy/nginx.conf, web sites.

Each context manager stops its servers when its block ends.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.search.web.processes import RunningWeb, serve_web
from benchmarks.server.load_test.site import LARGE_HOSTS, SLOW_HOSTS
from benchmarks.server.load_test.usage import cpu_seconds

ROOT: Final = Path(__file__).resolve().parents[3]
START_TIMEOUT: Final = 60.0
"""Maximum seconds until a server answers, on a busy machine too."""
DEBIAN: Final = Path("/usr/lib/postgresql")
CONNECTIONS: Final = 100
"""PostgreSQL's own default."""


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def end_on_sigterm() -> None:
    """Make SIGTERM raise SystemExit, so that a stopped benchmark stops its servers too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


# The sites.


@dataclass(frozen=True, slots=True)
class Sites:
    """The running sites: the benchmarks' web, slow and large pages, and optional hostile pages."""

    web: RunningWeb
    port: int
    hostile: str
    """`host:port` of the hostile pages, or ""."""
    pids: tuple[int, ...]

    @property
    def endpoints(self) -> str:
        """The value of KEYHOLE_ALLOW_PRIVATE for these sites."""
        own = [f"{host}:{self.port}" for host in (*SLOW_HOSTS, *LARGE_HOSTS)]
        return ",".join([self.web.endpoints, *own, *([self.hostile] if self.hostile else [])])


@contextmanager
def sites(evil: Path | None) -> Iterator[Sites]:
    """Serve all sites; `evil` is a program of hostile pages, as for benchmarks/fetch/hostile.py."""
    before = _children()
    with serve_web() as web, own_sites() as port, _hostile(evil) as endpoint:
        yield Sites(web, port, endpoint, tuple(_children() - before))


@contextmanager
def own_sites() -> Iterator[int]:
    """Serve the pages of site.py and yield their port."""
    command = [sys.executable, "-m", "benchmarks.server.load_test.site"]
    with _piped(command, PYTHONPATH=str(ROOT)) as process:
        assert process.stdout is not None
        yield int(json.loads(process.stdout.readline())["port"])


@contextmanager
def _hostile(program: Path | None) -> Iterator[str]:
    if program is None:
        yield ""
        return
    with _piped([sys.executable, str(program)]) as process:
        assert process.stdout is not None
        yield process.stdout.readline().decode().split()[1]


# Other programs.


@contextmanager
def busy_programs(number: int, seconds: float) -> Iterator[None]:
    """Run programs that each keep a processor busy. They end with the block, and in any case after `seconds`."""
    loop = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    programs = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(number)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


# The database.


def postgresql_folder() -> Path | None:
    """Return the folder of PostgreSQL's programs, from PATH or Debian's newest; None if they are not installed."""
    if found := shutil.which("pg_ctl"):
        return Path(found).parent
    versions = sorted(DEBIAN.glob("*/bin/pg_ctl"), key=lambda path: float(path.parts[-3]))
    return versions[-1].parent if versions else None


@contextmanager
def postgresql() -> Iterator[tuple[str, int]]:
    """Yield the URL of an empty database in a temporary cluster with default durability, and its process id."""
    programs = postgresql_folder()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed: run `apt-get install postgresql`, or use --store sqlite")
    with tempfile.TemporaryDirectory(prefix="keyhole-load-", ignore_cleanup_errors=True) as scratch:
        folder, user = Path(scratch) / "data", {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(scratch, "postgres", "postgres")
            user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        run: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": scratch, **user}
        subprocess.run([f"{programs}/initdb", "-D", str(folder), "-U", "keyhole", "-A", "trust", "-E", "UTF8"], **run)
        port = free_port()
        options = f"-h 127.0.0.1 -p {port} -k {scratch} -c max_connections={CONNECTIONS}"
        start = [f"{programs}/pg_ctl", "-D", str(folder), "-w", "-l", f"{scratch}/log", "-o", options, "start"]
        subprocess.run(start, **run)
        try:
            pid = int((folder / "postmaster.pid").read_text().splitlines()[0])
            yield f"postgresql://keyhole@127.0.0.1:{port}/postgres", pid
        finally:
            subprocess.run(
                [f"{programs}/pg_ctl", "-D", str(folder), "-m", "immediate", "stop"], **{**run, "check": False}
            )


# Keyhole.


@dataclass(slots=True)
class Replica:
    """A `keyhole serve --http` that can be killed and restarted on the same port."""

    settings: Mapping[str, str]
    log: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    _before: float = 0.0
    """Processor seconds of this replica's ended processes."""

    @property
    def pid(self) -> int:
        """Id of the running process."""
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start the process; `ready` waits for it."""
        command = [sys.executable, "-m", "keyhole", "serve", "--http", "--port", str(self.port)]
        with self.log.open("ab") as log:
            environment = {**_inherited(), "PYTHONPATH": str(ROOT / "server"), **self.settings}
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def ready(self) -> None:
        """Wait until the replica is ready. Raises SystemExit if it is not within START_TIMEOUT."""
        until = time.monotonic() + START_TIMEOUT
        while not answers(f"http://127.0.0.1:{self.port}/readyz"):
            if self.process is None or self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"a replica did not start:\n{self.log.read_text()[-2_000:]}")
            time.sleep(0.05)

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal and wait until the process has ended."""
        if self.process is not None:
            self._before += cpu_seconds(self.pid)
            self.process.send_signal(how)
            self.process.wait(timeout=START_TIMEOUT)

    def cpu_seconds(self) -> float:
        """Return the processor seconds that all processes of this replica have used."""
        running = self.process is not None and self.process.poll() is None
        return self._before + (cpu_seconds(self.pid) if running else 0.0)


@contextmanager
def replicas(count: int, settings: Mapping[str, str], folder: Path) -> Iterator[list[Replica]]:
    """Run `count` replicas with the same settings; each starts when the one before is ready, as in a rollout."""
    found = [Replica(settings, folder / f"replica-{number}.log") for number in range(count)]
    try:
        for replica in found:
            replica.start()
            replica.ready()
        yield found
    finally:
        for replica in found:
            with suppress(subprocess.TimeoutExpired):
                replica.end()


def answers(url: str) -> bool:
    """Return whether an HTTP server answers with a status other than 503."""
    try:
        with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - loopback, our own
            return True
    except urllib.error.HTTPError as error:
        return error.code != 503
    except OSError:
        return False


def new_token(tenant: str, file: Path) -> str:
    """Create a tenant's token with the command line, which adds its hash to the file."""
    environment = {**_inherited(), "PYTHONPATH": str(ROOT / "server"), "KEYHOLE_TOKENS_FILE": str(file)}
    command = [sys.executable, "-m", "keyhole", "tokens", "new", tenant]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if made.returncode:
        raise SystemExit(f"no token could be created; --tenants 0 runs without authentication\n{made.stderr}")
    return max(made.stdout.split(), key=len)


# The proxy.


@contextmanager
def proxy(ports: Sequence[int], folder: Path, change: Callable[[str], str] = str) -> Iterator[tuple[int, int]]:
    """Run nginx with deploy/nginx.conf, as `change` returns it, before the replicas; yield its port and process id."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        raise SystemExit("nginx is not installed: run `apt-get install nginx`")
    port = free_port()
    folder.chmod(0o711)  # nginx's workers do not run as root
    config = folder / "nginx.conf"
    text = change((ROOT / "deploy" / "nginx.conf").read_text())
    config.write_text(on_loopback(text, port, ports, folder))
    command = [program, "-e", str(folder / "nginx.log"), "-c", str(config), "-g", "daemon off;"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + START_TIMEOUT
            while not answers(f"http://127.0.0.1:{port}/"):
                if process.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"nginx did not start:\n{(folder / 'nginx.log').read_text()}")
                time.sleep(0.05)
            yield port, process.pid
        finally:
            process.terminate()


def on_loopback(text: str, port: int, replicas: Sequence[int], folder: Path) -> str:
    """Return deploy/nginx.conf for loopback: without TLS and host names, with its files in `folder`.

    The rules of the proxy are unchanged.
    """
    servers = "\n".join(f"    server 127.0.0.1:{one} max_fails=3 fail_timeout=5s;" for one in replicas)
    text = re.sub(r"(?m)(^    server keyhole-\d.*\n)+", f"{servers}\n", text)
    text = re.sub(r"(?m)^\s*(ssl_\w+|resolver|listen \[::\]).*\n", "", text)
    text = re.sub(r"listen \d+ ssl;", f"listen 127.0.0.1:{port};", text)
    return text.replace("/tmp/", f"{folder}/")  # noqa: S108 - the folder that the container may write to


def _inherited() -> dict[str, str]:
    """Return the environment without KEYHOLE_ settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KEYHOLE_")}


@contextmanager
def _piped(command: list[str], **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    settings = {**os.environ, **environment}
    with subprocess.Popen(command, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def _children() -> set[int]:
    pid = os.getpid()
    return {int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
