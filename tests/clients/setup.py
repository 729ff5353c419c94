"""The setup of every client test: a web page on loopback, and the command and settings that start Keyhole."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .steps import end_group

TOP = Path(__file__).resolve().parents[2]
SERVER = TOP / "server"
HOST = "127.0.0.1"
READER = (sys.executable, "-c", "import sys; from keyhole.__main__ import read; sys.exit(read())")
"""The command keyhole-reader of this tree."""
PROXY = (sys.executable, "-m", "keyhole", "proxy")
"""The command that starts Keyhole's proxy, without its options."""
CLOSED_PROXY = f"http://{HOST}:9"
"""A proxy on a closed port, which blocks clients' requests beyond loopback."""

QUESTION = "how often is the lamp of the lighthouse filled with oil"
ANSWER = "The keeper of the lighthouse fills its lamp with oil every seventeen days, at dusk."
SECTIONS = 500
LONG_SECTIONS = 2_000
"""Sections of the long page, which is larger than every client's limit and than the largest budget of a call."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The URL of the test page, the command and settings that start Keyhole, and a temporary folder."""

    page: str
    command: tuple[str, ...]
    settings: dict[str, str]
    scratch: Path

    @property
    def long_page(self) -> str:
        """The URL of the long page."""
        return f"{self.page}/long"

    def client_env(self, programs: Path) -> dict[str, str]:
        """Return the environment of a client: a separate home, and no access to the network."""
        home = self.scratch / "home"
        home.mkdir(exist_ok=True)
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), CLOSED_PROXY)
        path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {"PATH": path, "HOME": str(home), "TMPDIR": str(self.scratch), "NO_PROXY": HOST, **proxies}


@contextmanager
def open_setup(scratch: Path, *, shared: bool = False) -> Iterator[Setup]:
    """Serve the test page until the block ends. `shared`: clients start keyhole-reader instead of `keyhole serve`."""
    with ThreadingHTTPServer((HOST, 0), _Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        endpoint = f"{HOST}:{site.server_port}"
        settings = {
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": str(scratch / "keyhole"),
            "KEYHOLE_ALLOW_PRIVATE": endpoint,
            "PYTHONPATH": str(SERVER),
        }
        command = READER if shared else (sys.executable, "-m", "keyhole", "serve")
        yield Setup(f"http://{endpoint}/lights", command, settings, scratch)
        if shared:
            stop = (sys.executable, "-m", "keyhole", "server", "stop")
            subprocess.run(stop, env={**os.environ, **settings}, capture_output=True, check=False, timeout=60)
        site.shutdown()


@contextmanager
def serve_http(setup: Setup, program: Sequence[str] = (), behind: Sequence[str] = ()) -> Iterator[str]:
    """Run Keyhole over HTTP, or another program that accepts --port, until the block ends; yield its URL.

    `behind`: the command of the server behind a proxy.
    """
    env = {**setup.client_env(Path()), **setup.settings}
    port = free_port()
    program = program or (*setup.command, "--http")
    command = [*program, "--port", str(port), *(["--", *behind] if behind else [])]
    log = setup.scratch / f"http-{port}.log"
    with log.open("w", encoding="utf-8") as errors, subprocess.Popen(
        command, env=env, cwd=TOP, stderr=errors, text=True, start_new_session=True
    ) as process:  # fmt: skip
        try:
            wait_until_open(port, process, log)
            yield f"http://{HOST}:{port}/mcp"
        finally:
            end_group(process)


def write_servers(file: Path, command: Sequence[str], env: Mapping[str, str]) -> str:
    """Write a client's configuration with one server; return its path."""
    entry = {"command": command[0], "args": list(command[1:]), "env": dict(env)}
    file.write_text(json.dumps({"mcpServers": {"real": entry}}), "utf-8")
    return str(file)


def article(sections: int = SECTIONS) -> str:
    """Return a page far above every default budget, with ANSWER in the middle."""
    parts = [
        f"<h2>Station {n}</h2><p>At station {n} the road follows the river for {n * 7 % 90} miles; "
        "the weather is noted twice a day and the mail is sorted by hand.</p>"
        for n in range(sections)
    ]
    parts[sections // 2] = f"<h2>The light</h2><p>{ANSWER}</p>"
    body = f"<main><h1>Stations of the coast road</h1>{''.join(parts)}</main>"
    return f'<!doctype html><html lang="en"><head><title>The coast road</title></head><body>{body}</body></html>'


class _Page(BaseHTTPRequestHandler):
    """Answers every request with the article, or with a longer one if the path ends in /long."""

    def do_GET(self) -> None:
        body = article(LONG_SECTIONS if self.path.endswith("/long") else SECTIONS).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, because the output is one line per step."""


def free_port() -> int:
    """Return a port of loopback that no program listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_open(port: int, process: subprocess.Popen[str], log: Path) -> None:
    """Wait until a program has opened a port of loopback. Raises OSError with its last lines if it does not."""
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.05)
    raise OSError(f"the program did not open port {port}: {log.read_text('utf-8')[-500:]}")
