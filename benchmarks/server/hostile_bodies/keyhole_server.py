"""Run a shared server with two clients in a network in which all names lead to the hostile site."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.server.hostile_bodies import answers, engines, transport
from benchmarks.server.hostile_bodies.attack import HOST, NUMBER, Attack, SiteReply, place
from benchmarks.server.hostile_bodies.site import HostileSite
from benchmarks.server.load_test.usage import resident_megabytes
from benchmarks.server.startup import PAGE
from benchmarks.server.wire import ERAS, SERVER, SilentError, Wire, text_of
from tests.clients.setup import READER
from tests.support.routed_network import RoutedNetwork
from tests.support.shared_clients import end_servers, reader_settings, servers_of

PUBLIC: Final = "93.184.215.14"
"""A public address, which the network of the server leads to loopback."""
NUMBERS: Final = range(10_000, 14_000)
"""The numbers of attacks. Each has hosts of its own, so that nothing known of a host affects a later attack."""
STORED_HOST: Final = "stored.hostile.example"
STORED: Final = f"http://{STORED_HOST}/page"
"""The page that the other client reads."""
STORED_QUERY: Final = "what does the keeper of a station note of wind and weather"
AT_ONCE: Final = 2
"""Calls of the attacked client at once: an agent reads a few pages at the same time."""
START_SECONDS: Final = 60.0
TIMEOUT: Final = 10.0
"""Seconds of a call (KEYHOLE_TIMEOUT). With the default, kinds that use up a call's time would take minutes."""
EXTRACT_TIMEOUT: Final = 3.0
"""Processor seconds for reading a page (KEYHOLE_EXTRACT_TIMEOUT), for the same reason."""


def own_routes() -> dict[str, SiteReply]:
    """Return what the site always serves: the stored page."""
    return {f"{STORED_HOST}/page": SiteReply(PAGE)}


def all_hosts() -> list[str]:
    """Return the names of all hosts but those of attacks."""
    return [STORED_HOST, *answers.HOSTS, *engines.HOSTS]


@dataclass(slots=True)
class RunningServer:
    """A shared server, the client whose calls are attacked, and the other one."""

    pid: int
    attacked: Wire
    other: Wire
    artifact: str
    """The id of the stored page."""
    base: float
    """The server's memory after its first calls, in MB."""
    home: Path
    _last_id: int = field(default=10**6)

    @property
    def memory(self) -> float:
        """The server's resident memory, in MB."""
        return resident_megabytes(self.pid)

    def is_alive(self) -> bool:
        """Return whether the server with which the clients began still runs."""
        return Path(f"/proc/{self.pid}").exists()

    def read_stored(self, seconds: float) -> Iterator[tuple[str, float]]:
        """Read the stored page by each tool in turn, endlessly; yield the outcome and the seconds of each call.

        Raises SilentError if a call takes longer than `seconds`.
        """
        calls = (
            ("read_artifact", {"id": self.artifact, "query": STORED_QUERY}),
            ("web_fetch", {"url": STORED, "query": STORED_QUERY}),
        )
        while True:
            for tool, arguments in calls:
                started = time.monotonic()
                answer = self.other.ask("tools/call", {"name": tool, "arguments": arguments}, seconds)
                yield outcome_of(answer), time.monotonic() - started

    def attack(self, attacks: Sequence[Attack], until: float, at_once: int = AT_ONCE) -> list[str]:
        """Make the calls of attacks; return their outcomes, `no answer` for those not in time."""
        waiting = [(attack.tool, dict(attack.arguments)) for attack in attacks]
        outcomes: list[str] = []
        running: set[int] = set()
        while waiting or running:
            while waiting and len(running) < at_once:
                tool, arguments = waiting.pop(0)
                self._last_id += 1
                running.add(self._last_id)
                call = {"name": tool, "arguments": arguments}
                self.attacked.raw(self.attacked.frame(self._last_id, "tools/call", call))
            try:
                answer = self.attacked.next(until - time.monotonic())
            except SilentError:
                return [*outcomes, *["no answer"] * len(running)]
            if answer.get("id") in running:
                running.discard(answer["id"])
                outcomes.append(outcome_of(answer))
                if id := _artifact_of(answer):
                    waiting.insert(0, ("read_artifact", {"id": id, "find": "The mark of the boat ends 1.0"}))
        return outcomes


def outcome_of(answer: dict[str, Any]) -> str:
    """Return the code of a failed call, or `ok`."""
    is_error = "error" in answer or answer["result"].get("isError", False)
    return text_of(answer).partition(":")[0] if is_error else "ok"


def _artifact_of(answer: dict[str, Any]) -> str:
    """Return the id of a page that a web_fetch read, "" for other answers."""
    facts = answer.get("result", {}).get("_meta", {}).get("keyhole", {})
    return str(facts.get("artifact_id") or "") if "url" in facts else ""


@contextmanager
def run_server(site: HostileSite, ports: tuple[int, int], certificate: Path) -> Iterator[RunningServer]:
    """Run a server and two clients until the block ends, and then kill them.

    Raises SilentError if the server does not start in time, as on a busy machine.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, prefix="kh") as temporary:
        home = Path(temporary)
        settings = _settings(home, ports, certificate)
        wires: list[Wire] = []
        pids: list[int] = []
        try:
            for _ in range(2):
                process = subprocess.Popen(
                    READER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=settings
                )
                wires.append(Wire(process, ERAS[0]))
                wires[-1].handshake()
            attacked, other = wires
            artifact = _warm_up(site, attacked, other)
            pids += [status["process"] for status in servers_of(home)]
            if not pids:
                raise SilentError("the clients got private servers, since the shared one started too slowly")
            yield RunningServer(pids[0], attacked, other, artifact, resident_megabytes(pids[0]), home)
        finally:
            for wire in wires:
                wire.process.kill()
                wire.process.wait()
                wire.close()
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            end_servers(home)


def _settings(home: Path, ports: tuple[int, int], certificate: Path) -> dict[str, str]:
    hosts = [HOST.replace(NUMBER, str(number)) for number in range(NUMBERS.start, NUMBERS.stop + 10)]
    names = {name: [[PUBLIC]] for host in (*all_hosts(), *hosts) for name in (host, f"forum.{host}")}
    network = RoutedNetwork(home, names, {f"{PUBLIC}:80": ports[0], f"{PUBLIC}:443": ports[1]}, certificate)
    settings = reader_settings(
        home, **network.environment, **engines.settings(home), KEYHOLE_TIMEOUT=str(TIMEOUT),
        KEYHOLE_EXTRACT_TIMEOUT=str(EXTRACT_TIMEOUT), KEYHOLE_ARCHIVE="on",
        KEYHOLE_REPEATS="always", KEYHOLE_FRESHNESS="86400", KEYHOLE_MODEL="off",
    )  # fmt: skip
    settings["PYTHONPATH"] = f"{network.environment['PYTHONPATH']}:{SERVER}"
    return settings


def _warm_up(site: HostileSite, attacked: Wire, other: Wire) -> str:
    """Make one harmless call of each kind, so that what a server loads once is loaded; return the stored page's id."""
    harmless: tuple[Callable[[bytes], Attack], ...] = (
        transport.typed("text/html"), answers.GITLAB, answers.GITHUB_TREE, transport.robots("page"), transport.twin,
    )  # fmt: skip
    issue = b'{"title":"t","description":"words"}'
    made = [*(lead(issue) for lead in harmless), engines.RECOVERY]
    attacks = [place(attack, number) for number, attack in enumerate(made, NUMBERS.stop)]
    site.serve(attacks)
    for attack in attacks:
        attacked.ask("tools/call", {"name": attack.tool, "arguments": dict(attack.arguments)}, START_SECONDS)
    call = {"name": "web_fetch", "arguments": {"url": STORED, "query": STORED_QUERY}}
    try:
        return str(other.ask("tools/call", call, START_SECONDS)["result"]["_meta"]["keyhole"]["artifact_id"])
    except KeyError as error:
        raise SilentError("the page that is read during the attacks could not be stored") from error
