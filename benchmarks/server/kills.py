"""Kill relays and the shared server at random points, and check what their clients see.

    python -m benchmarks.server.kills [--kills 200] [--seed 1]

Several clients call tools of one shared server, on pages of a site on loopback. At random times the server or a relay
gets SIGKILL. A killed relay's client starts a new one. Checked: every call of a client whose relay lives is answered in
time, by a result or, if two servers ended meanwhile, by an error; every line is a whole message; each page that was
fetched can be read; the store's file is sound.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.server.startup import serve_page
from keyhole.serve.shared.connection_state import LOST
from tests.support.shared_clients import Client, reader_settings, servers_of, shared_home

CLIENTS = 4
PAUSE = 0.6
"""Greatest seconds between two kills: a call takes some hundredths of a second, and a start a few tenths."""
SLOWEST = 30.0
"""Seconds in which each call has to be answered, also if two servers have to start."""


@dataclass
class Report:
    """What the clients saw."""

    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    ids: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def main() -> int:
    """Kill, check and print the report. Return 1 if something was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    report, stop = Report(), threading.Event()
    with serve_page() as site, tempfile.TemporaryDirectory() as scratch, shared_home(Path(scratch)) as home:
        settings = reader_settings(home, KEYHOLE_ALLOW_PRIVATE=site.removeprefix("http://"))
        relays: dict[int, Client] = {}
        threads = [
            threading.Thread(target=work, args=(number, settings, site, relays, report, stop))
            for number in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        kill(random.Random(arguments.seed), arguments.kills, home, relays, report)
        stop.set()
        for thread in threads:
            thread.join()
        check_store(home, settings, report)
    return print_report(report)


def work(
    number: int, settings: dict[str, str], site: str, relays: dict[int, Client], report: Report, stop: threading.Event
) -> None:
    """Call tools as one client until `stop` is set. Start a new relay whenever the old one was killed."""
    page = 0
    while not stop.is_set():
        try:
            with Client(settings, f"client-{number}") as client:
                relays[number] = client
                while not stop.is_set():
                    page += 1
                    start = time.monotonic()
                    read_page(client, f"{site}/{number}/{page}", report)
                    report.slowest = max(report.slowest, time.monotonic() - start)
        except (AssertionError, BrokenPipeError, OSError) as error:
            if client.process.wait(SLOWEST) == -signal.SIGKILL:
                report.counts["relays replaced"] += 1
            else:
                report.faults.append(f"a relay ended by itself: {error}")


def read_page(client: Client, url: str, report: Report) -> None:
    """Fetch a page, and read on in it."""
    text = answer(client, report, "web_fetch", url=url, query="wind at station 12")
    if id := text.partition('read_artifact(id="')[2].partition('"')[0]:
        report.ids.add(id)
        answer(client, report, "read_artifact", id=id, offset=5_000, limit=2_000)


def answer(client: Client, report: Report, tool: str, **arguments: Any) -> str:
    """Return the text of a call, "" for an error of the relay."""
    reply = client.ask("tools/call", {"name": tool, "arguments": arguments})
    if reply.get("error", {}).get("message") == LOST:
        report.counts["calls during which two servers were killed"] += 1
        return ""
    text = str(reply.get("result", {}).get("content", [{}])[0].get("text"))
    if not text.endswith("[end]") or "station" not in text:
        report.faults.append(f"{tool}: {str(reply)[:200]}")
    report.counts["answered calls"] += 1
    return text


def kill(choose: random.Random, count: int, home: Path, relays: dict[int, Client], report: Report) -> None:
    """Kill the server or a relay `count` times."""
    while report.counts["servers killed"] + report.counts["relays killed"] < count:
        time.sleep(choose.uniform(0, PAUSE))
        with suppress(ProcessLookupError, TimeoutError):
            if choose.random() < 0.5:
                for server in servers_of(home):
                    os.kill(server["process"], signal.SIGKILL)
                    report.counts["servers killed"] += 1
            elif relays:
                client = relays[choose.choice(sorted(relays))]
                if client.process.poll() is None:
                    client.process.kill()
                    report.counts["relays killed"] += 1


def check_store(home: Path, settings: dict[str, str], report: Report) -> None:
    """Check that every fetched page can be read, and that SQLite finds no damage."""
    with Client(settings, "last") as client:
        for id in sorted(report.ids):
            if "station" not in client.call("read_artifact", id=id, offset=5_000, limit=500):
                report.faults.append(f"lost: {id}")
    with closing(sqlite3.connect(home / "artifacts.db")) as connection:
        answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if answer != "ok":
        report.faults.append(f"the store is damaged: {answer}")


def print_report(report: Report) -> int:
    """Print the report as JSON and return the exit code."""
    facts = {**report.counts, "pages": len(report.ids), "slowest pair of calls in s": round(report.slowest, 2)}
    print(json.dumps({**facts, "faults": report.faults}, indent=1))
    return 1 if report.faults or report.slowest > SLOWEST else 0


if __name__ == "__main__":
    sys.exit(main())
