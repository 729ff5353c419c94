"""Compare the start and one fetch with PyPI's mcp-server-fetch.

    python -m benchmarks.server.startup

Both servers run under the same Python, answer the same raw JSON-RPC over pipes (without a client library, so that its
time is not measured), fetch the same 100 KB page from a site on loopback and return its complete text. Runs alternate,
so that changes in the machine's load affect all. Keyhole is this tree's, started by the program that `keyhole install`
registers; mcp-server-fetch is installed from PyPI into a virtual environment, once.

Two clients of Keyhole are measured: the first one, which starts the shared server, and one more, while another is
connected.

Start: from starting the process to the answer of `tools/list`. First fetch: the `tools/call` right after it. Second
fetch: one more, of another URL, in the same process. Also printed: the time of `keyhole --version`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from keyhole.extensions.install.files import write_boot_files
from keyhole.serve.shared.address import shared_folder
from keyhole.serve.shared.link import ask_servers

SERVER = Path(__file__).resolve().parents[2] / "server"
PEER_VERSION = "2026.10.24"
PHASES = ("start", "first fetch", "second fetch")
PAGE_BYTES = 100_000
LAST_WORDS = "With this the account of the coast road ends."
WHOLE = 200_000
"""The requested size of a result: twice the page, so that the result is complete."""
PATIENCE = 60.0
"""Maximum seconds of one process: thirty times what it needs."""
REVISION = "2025-11-25"
"""The protocol revision of both servers, with the handshake that most clients use."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A server to measure: its command, and its fetch tool with the argument `bound` for the result's size.

    `prepare` is called before each run.
    """

    name: str
    command: tuple[str, ...]
    env: dict[str, str]
    tool: str
    bound: str
    prepare: Callable[[], None] = lambda: None


def main() -> int:
    """Measure and print the table."""
    arguments = _arguments()
    peer_python = install_peer(arguments.cache)
    with serve_page() as site, tempfile.TemporaryDirectory() as scratch, ended_servers(Path(scratch)):
        first, again = keyhole(site, f"{scratch}/first"), keyhole(site, f"{scratch}/again")
        with run_server(again) as other:
            other.open()
            contenders = (
                replace(first, name="first", prepare=partial(stop_server, first)),
                replace(again, name="one more"),
                peer(peer_python, scratch),
            )
            # No URL is fetched twice, so that no cache answers.
            addresses = (f"{site}/page/{number}" for number in itertools.count())
            times: dict[str, list[tuple[float, ...]]] = {contender.name: [] for contender in contenders}
            for run in range(-1, arguments.runs):
                for contender in contenders:
                    contender.prepare()
                    measured = measure(contender, next(addresses), next(addresses))
                    if run >= 0:  # run -1 is a warm-up: it compiles modules and fills the disk's cache
                        times[contender.name].append(measured)
    print(table(times))
    print(f"\n{version_line(version_times(arguments.versions))}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="measured runs of each server; default 7")
    parser.add_argument("--versions", type=int, default=40, help="measured runs of --version; default 40")
    cache = Path.home() / ".cache" / "keyhole-benchmarks"
    parser.add_argument("--cache", type=Path, default=cache, help=f"folder for mcp-server-fetch; default {cache}")
    return parser.parse_args()


def keyhole(site: str, home: str, **settings: str) -> Contender:
    """Return this tree's server in a home folder, started by the program that clients run."""
    own = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": home, "KEYHOLE_ALLOW_PRIVATE": site.removeprefix("http://")}
    write_boot_files(Path(home) / "bin", sys.executable)
    env = {**own, "PYTHONPATH": str(SERVER), "HOME": home, **settings}
    return Contender("keyhole", (f"{home}/bin/keyhole-reader",), env, "web_fetch", "max_chars")


def stop_server(contender: Contender) -> None:
    """Stop the shared server of a home folder, and wait until its socket is gone."""
    folder = Path(shared_folder(contender.env))
    ask_servers(str(folder), "stop")
    end = time.monotonic() + PATIENCE
    while list(folder.glob("*.sock")) and time.monotonic() < end:
        time.sleep(0.01)


@contextmanager
def ended_servers(scratch: Path) -> Iterator[None]:
    """Stop the shared servers of all home folders in a folder when the block ends."""
    try:
        yield
    finally:
        for folder in scratch.glob("**/shared"):
            ask_servers(str(folder), "stop")


def peer(python: Path, home: str) -> Contender:
    """Return mcp-server-fetch, with private addresses allowed.

    Its PATH is empty: if it finds Node, it runs Readability.js in a subprocess, which is three times slower.
    """
    command = (str(python), "-m", "mcp_server_fetch", "--allow-private-ips", "--ignore-robots-txt")
    return Contender("mcp-server-fetch", command, {"HOME": home, "PATH": ""}, "fetch", "max_length")


def version_times(runs: int) -> list[float]:
    """Return the milliseconds of `runs` runs of `keyhole --version`, after a warm-up run."""
    command = (sys.executable, "-m", "keyhole", "--version")
    marks: list[float] = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, env={"PYTHONPATH": str(SERVER)}, capture_output=True, check=True, timeout=PATIENCE)
        marks.append(1_000 * (time.perf_counter() - start))
    return marks[1:]


def version_line(times: list[float]) -> str:
    """Return a sentence with the median and 95th percentile of the times."""
    *_, p95 = statistics.quantiles(times, n=20, method="inclusive")
    return f"`--version`: {statistics.median(times):.0f} ms, p95 {p95:.0f} ms of {len(times)} runs."


def install_peer(cache: Path) -> Path:
    """Return the Python of the peer's virtual environment, which is created if it is missing."""
    folder = cache / f"mcp-server-fetch-{PEER_VERSION}-python{sys.version_info.major}.{sys.version_info.minor}"
    python = folder / "bin" / "python"
    complete = folder / "complete"
    if not complete.exists():
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(python), "-m", "pip", "install", f"mcp-server-fetch=={PEER_VERSION}"]
        installed = subprocess.run(pip, capture_output=True, text=True, check=False)
        if installed.returncode:
            raise SystemExit(f"pip could not install mcp-server-fetch: {installed.stderr[-500:]}")
        complete.touch()
    return python


def measure(contender: Contender, *addresses: str) -> tuple[float, ...]:
    """Return the milliseconds of each phase in one process."""
    marks = [time.perf_counter()]
    with run_server(contender) as server:
        server.open()
        marks.append(time.perf_counter())
        for url in addresses:
            result = server.fetch(contender, url)
            marks.append(time.perf_counter())
            if result.get("isError") or LAST_WORDS not in result["content"][0]["text"]:
                raise SystemExit(f"{contender.name} did not return the complete page: {str(result)[:300]}")
    return tuple(1_000 * (end - start) for start, end in itertools.pairwise(marks))


class Connection:
    """A JSON-RPC connection to one process, one line for each message."""

    def __init__(self, name: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.pid = process.pid
        self._name = name
        self._in, self._out = process.stdin, process.stdout
        self._last_id = 0

    def open(self) -> None:
        """Make the handshake and list the tools, as a client does when it starts."""
        client = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "startup", "version": "1"}}
        self.ask("initialize", client)
        self.send({"method": "notifications/initialized"})
        self.ask("tools/list", {})

    def fetch(self, contender: Contender, url: str) -> dict[str, Any]:
        """Fetch a whole page and return the result."""
        call = {"name": contender.tool, "arguments": {"url": url, contender.bound: WHOLE}}
        return self.ask("tools/call", call)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message without waiting for an answer."""
        self._in.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._in.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result."""
        self._last_id += 1
        self.send({"id": self._last_id, "method": method, "params": params})
        for line in self._out:
            answer = json.loads(line)
            if answer.get("id") == self._last_id:
                result: dict[str, Any] = answer["result"]
                return result
        raise SystemExit(f"{self._name} ended, or did not answer {method} in {PATIENCE:.0f} s")


@contextmanager
def run_server(contender: Contender, patience: float = PATIENCE) -> Iterator[Connection]:
    """Run a server until the block ends, for at most `patience` seconds."""
    with subprocess.Popen(
        contender.command,
        env=contender.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        watchdog = threading.Timer(patience, process.kill)
        watchdog.start()
        try:
            yield Connection(contender.name, process)
        finally:
            watchdog.cancel()
            process.kill()


def table(times: dict[str, list[tuple[float, ...]]]) -> str:
    """Return the median of each phase and its ratio to the last server's, as Markdown."""
    *ours, theirs = times
    runs = len(times[theirs])
    lines = [
        f"Median milliseconds of {runs} runs, and the ratio to mcp-server-fetch; Python {sys.version.split()[0]}.",
        "",
        f"| | {' | '.join(f'keyhole, {name}' for name in ours)} | {theirs} {PEER_VERSION} |",
        f"|---|{'---:|' * len(times)}",
    ]
    for number, phase in enumerate(PHASES):
        medians = {name: statistics.median(row[number] for row in rows) for name, rows in times.items()}
        cells = [f"{medians[name]:.0f} ({medians[name] / medians[theirs]:.2f})" for name in ours]
        lines.append(f"| {phase} | {' | '.join(cells)} | {medians[theirs]:.0f} |")
    return "\n".join(lines)


@contextmanager
def serve_page() -> Iterator[str]:
    """Serve the page at every path on loopback; yield the site's URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        with suppress(ConnectionError):  # a server that is killed meanwhile
            self.end_headers()
            self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the output is the table."""


def page() -> bytes:
    """Return a 100 KB article: prose, headings, links, lists, tables and code, with a menu."""
    menu = "".join(f'<li><a href="/menu/{n}">Entry {n}</a></li>' for n in range(40))
    opening = (
        f'<!doctype html><html lang="en"><head><title>The coast road</title></head><body><nav><ul>{menu}</ul></nav>'
    )
    closing = f"<p>{LAST_WORDS}</p></article></main><footer>Set by hand.</footer></body></html>"
    parts = [opening, "<main><article><h1>The coast road</h1>"]
    room = PAGE_BYTES - len(opening) - len(closing)
    for number in itertools.count():
        section = _section(number)
        room -= len(section)
        if room < 0:
            break
        parts.append(section)
    return "".join([*parts, closing]).encode()


def _section(number: int) -> str:
    prose = (
        f"<p>At station {number} the road follows the river for {number * 7 % 90} miles, and the mail is <b>sorted "
        f'by hand</b>; the <a href="/station/{number}">keeper of station {number}</a> notes wind and weather twice '
        "a day, in ink, and sends the sheet on with the next boat, whichever way it goes.</p>"
    )
    extras = {
        0: f"<ul><li>Beds: {number % 9}</li><li>Boats: {number % 4}</li></ul>",
        3: f"<table><tr><th>Month</th><th>Rain</th></tr><tr><td>May</td><td>{number} mm</td></tr></table>",
        6: f"<pre><code>station = road[{number}]\nprint(station.keeper)\n</code></pre>",
    }
    return f"<h2>Station {number}</h2>{prose * 2}{extras.get(number % 9, '')}"


PAGE = page()

if __name__ == "__main__":
    sys.exit(main())
