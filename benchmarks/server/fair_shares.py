"""Measure how much one greedy user slows nine polite users of the same server.

    python -m benchmarks.server.fair_shares [--rounds 2] [--seconds 12] [--set KEYHOLE_X=Y] [--json FILE]

A real server over HTTP has ten tenants and reads sites on loopback. Nine tenants call once a second: in turn, a small
page that is new to the server, and a stored page for a query. In every second phase, the tenth fetches new pages of
about 290 KB in eight concurrent loops. So a round has two phases, one with the nine tenants alone and one with all
ten, and prints the polite tenants' times in both. Takes two phases of `--seconds` for each round, and a few seconds to
start.

Exits with 1 if a polite call fails, or if the polite p95 beside the greedy tenant is over twice the p95 alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.server.load_test.client import Caller, Reply
from benchmarks.server.load_test.results import percentile
from benchmarks.server.load_test.servers import end_on_sigterm, new_token, own_sites, replicas
from benchmarks.server.load_test.site import GREEDY_COUNT, LARGE_HOSTS, SLOW_COUNT, SLOW_HOSTS
from benchmarks.server.load_test.workload import QUERIES

POLITE: Final = 9
LOOPS: Final = 8
"""Concurrent loops of the greedy tenant: the default of KEYHOLE_CALLS_AT_ONCE."""
PAUSE: Final = (0.5, 1.5)
"""Bounds in seconds of a polite tenant's pause between two calls."""
MAX_RATIO: Final = 2.0
"""Largest ratio of the polite p95 beside the greedy tenant to the p95 alone."""
SEED: Final = 7


@dataclass(slots=True)
class Phase:
    """The times and failures of the polite calls of one phase, and the greedy tenant's calls."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    greedy: int = 0
    greedy_failures: list[str] = field(default_factory=list)

    def record(self, reply: Reply) -> None:
        """Record a polite call."""
        self.seconds.append(reply.seconds)
        if reply.outcome != "ok":
            self.failures.append(f"{reply.outcome}: {reply.text[:200]}")

    def figures(self) -> dict[str, float]:
        """Return p50, p95 and the worst time in seconds."""
        return {
            "p50": percentile(self.seconds, 0.5),
            "p95": percentile(self.seconds, 0.95),
            "worst": max(self.seconds, default=0.0),
        }


@dataclass(frozen=True, slots=True)
class Users:
    """The clients of all tenants, and the addresses of new pages."""

    polite: Sequence[Caller]
    greedy: Sequence[Caller]
    small: Iterator[str]
    large: Iterator[str]


def main() -> int:
    """Run all rounds and print their figures; return 1 on a miss."""
    end_on_sigterm()
    arguments = _arguments()
    alone, beside = Phase(), Phase()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="keyhole-shares-")))
        port = stack.enter_context(own_sites())
        tokens = [new_token(f"user-{number}", folder / "tokens") for number in range(POLITE + 1)]
        settings = {
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": str(folder / "home"),
            "KEYHOLE_ALLOW_PRIVATE": ",".join(f"{host}:{port}" for host in (*SLOW_HOSTS, *LARGE_HOSTS)),
            "KEYHOLE_TOKENS_FILE": str(folder / "tokens"),
            "KEYHOLE_STATELESS": "on",
            "KEYHOLE_ENGINES": "searxng",
            "KEYHOLE_CALLS_PER_MINUTE": "1000000",  # the shares are measured, not the rate limit
            **dict(pair.split("=", 1) for pair in arguments.set),
        }
        (server,) = stack.enter_context(replicas(1, settings, folder))
        url = f"http://127.0.0.1:{server.port}/mcp"
        small = new_pages("small", SLOW_HOSTS, SLOW_COUNT, port)
        large = new_pages("greedy", LARGE_HOSTS, GREEDY_COUNT, port)
        asyncio.run(run_rounds(arguments, url, tokens, small, large, (alone, beside)))
    return report(alone, beside, arguments.json)


def new_pages(kind: str, hosts: Sequence[str], pages: int, port: int) -> Iterator[str]:
    """Yield addresses of pages, each of which the server has not seen."""
    for number in count():
        yield f"http://{hosts[number % len(hosts)]}:{port}/{kind}/{number % pages}?v={number:012x}"


async def run_rounds(
    arguments: argparse.Namespace,
    url: str,
    tokens: Sequence[str],
    small: Iterator[str],
    large: Iterator[str],
    phases: tuple[Phase, Phase],
) -> None:
    """Run a phase without and a phase with the greedy tenant in each round."""
    greedy, *polite = tokens
    users = Users([Caller(url, token) for token in polite], [Caller(url, greedy) for _ in range(LOOPS)], small, large)
    await run_phase(users, Phase(), 2.0, is_greedy=True)  # loads the parsers
    for number in range(arguments.rounds):
        for total, is_greedy in zip(phases, (False, True), strict=True):
            phase = Phase()
            await run_phase(users, phase, arguments.seconds, is_greedy=is_greedy)
            print(f"{number + 1} {'beside' if is_greedy else 'alone ':6} {line(phase)}", flush=True)
            total.seconds += phase.seconds
            total.failures += phase.failures
            total.greedy += phase.greedy
            total.greedy_failures += phase.greedy_failures
    for caller in (*users.polite, *users.greedy):
        await caller.aclose()


async def run_phase(users: Users, phase: Phase, seconds: float, *, is_greedy: bool) -> None:
    """Let the tenants call for `seconds`, and wait for their last answers."""
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for number, caller in enumerate(users.polite):
            group.create_task(be_polite(caller, users.small, phase, until, Random(SEED + number)))
        for caller in users.greedy if is_greedy else ():
            group.create_task(be_greedy(caller, users.large, phase, until))


async def be_polite(caller: Caller, pages: Iterator[str], phase: Phase, until: float, random: Random) -> None:
    """Fetch a new small page and read it again, with a pause before each call."""
    id = ""
    while await _pause(random.uniform(*PAUSE), until):
        if id:
            arguments = {"id": id, "query": random.choice(QUERIES)}
            phase.record(await caller.call("read_artifact", arguments))
            id = ""
        else:
            reply = await caller.call("web_fetch", {"url": next(pages), "query": random.choice(QUERIES)})
            phase.record(reply)
            id = str(reply.facts.get("artifact_id", ""))


async def be_greedy(caller: Caller, pages: Iterator[str], phase: Phase, until: float) -> None:
    """Fetch new large pages without a pause."""
    while time.monotonic() < until:
        reply = await caller.call("web_fetch", {"url": next(pages), "query": QUERIES[0]})
        phase.greedy += 1
        if reply.outcome != "ok":
            phase.greedy_failures.append(reply.outcome)


async def _pause(seconds: float, until: float) -> bool:
    """Sleep, and return False if the phase ends first."""
    if time.monotonic() + seconds >= until:
        return False
    await asyncio.sleep(seconds)
    return True


def line(phase: Phase) -> str:
    """Return the figures of a phase in one line."""
    times = "  ".join(f"{name} {seconds:6.3f} s" for name, seconds in phase.figures().items())
    return f"{len(phase.seconds):4} calls  {times}  {len(phase.failures)} failed; greedy: {phase.greedy} pages"


def report(alone: Phase, beside: Phase, file: Path | None) -> int:
    """Print the figures of all rounds and the ratios; return 1 on a miss."""
    print(f"all alone  {line(alone)}", f"all beside {line(beside)}", sep="\n")
    before, after = alone.figures(), beside.figures()
    ratios = {name: after[name] / before[name] for name in before}
    print("beside / alone: ", ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items()))
    misses = [f"a polite call failed: {failure}" for failure in alone.failures + beside.failures]
    misses += [f"a greedy call failed: {failure}" for failure in beside.greedy_failures]
    if ratios["p95"] > MAX_RATIO:
        misses.append(f"the polite p95 beside the greedy tenant is over {MAX_RATIO:g} times that alone")
    if file:
        figures: dict[str, Any] = {"alone": before, "beside": after, "greedy_pages": beside.greedy, "misses": misses}
        file.write_text(json.dumps(figures, indent=1))
    print(*([f"MISS {miss}" for miss in misses] or ["No misses."]), sep="\n")
    return 1 if misses else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="rounds of two phases; default 2")
    parser.add_argument("--seconds", type=float, default=12, help="duration of a phase; default 12")
    parser.add_argument("--set", action="append", default=[], metavar="KEYHOLE_X=Y", help="a setting of the server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
