"""Cut connections at each byte, misuse kept connections, and give wrong answers to name lookups.

    python -m benchmarks.fetch.faults [--step N] [--only TEXT]

Runs every case through the tool `web_fetch`, with the real client and worker processes, on a network that exists in
this process only. Prints how the calls ended, by kind of fault. Exits with 1 if a call ended with anything but a page
or a named error, after its deadline, or with a cut page that is not marked, and if a private address was connected to.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Sequence

from benchmarks.fetch.faults.cases import Case, Reply, all_cases
from benchmarks.fetch.faults.certificate import trusted_certificate
from benchmarks.fetch.faults.judge import Outcome, find_violations
from benchmarks.fetch.faults.pages import page, sized
from benchmarks.fetch.faults.run import CONCURRENT, TIMEOUT, run_cases
from keyhole.config.config import Config
from keyhole.extract.workers.worker_pool import START_TIMEOUT, WorkerPool

AMPLE = 15.0
"""Seconds of each call that waits for nothing. On a busy machine, pages may wait for a worker."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases and print the table. Return 1 if a call ended wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=int, default=1, help="cut at every Nth of the chosen bytes (default 1)")
    parser.add_argument("--only", default="", help="run only the kinds of faults that contain this text")
    given = parser.parse_args(arguments)
    started = time.monotonic()
    outcomes = asyncio.run(_run(given.step, given.only))
    print(format_table(outcomes))
    faults = [f"{o.case.kind} {o.path}: {fault}" for o in outcomes for fault in find_violations(o)]
    late = [f"{o.case.kind} {o.path}: {o.seconds:.1f} s" for o in outcomes if o.is_late]
    print(f"\n{len(outcomes)} calls in {time.monotonic() - started:.0f} s, {len(faults)} violations, {len(late)} late.")
    for line, count in Counter(faults + late).most_common(40):
        print(f"- {count} × {line}")
    return 1 if faults or late else 0


async def _run(step: int, only: str) -> list[Outcome]:
    cases = [case for case in all_cases(step) if only in case.kind]
    pool = WorkerPool(Config())
    try:
        with trusted_certificate() as certificate:
            whole = [Case("none", {"/page": [Reply(sized(page("/page")))]})]
            await run_cases(whole * CONCURRENT, pool, certificate, START_TIMEOUT)  # starts the workers
            outcomes = await run_cases([case for case in cases if not case.is_slow], pool, certificate, AMPLE)
            return outcomes + await run_cases([case for case in cases if case.is_slow], pool, certificate, TIMEOUT)
    finally:
        await pool.aclose()


def format_table(outcomes: Sequence[Outcome]) -> str:
    """Return a Markdown table of how the calls ended, by kind of fault."""
    lines = ["| fault | calls | pages | partial | errors | late | violations |", "|---|--:|--:|--:|---|--:|--:|"]
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.case.kind.partition(":")[0], []).append(outcome)
    groups["all" if len(groups) > 1 else ""] = list(outcomes)
    for kind, group in groups.items():
        results = Counter(outcome.result for outcome in group)
        pages, partial = results.pop("page", 0), results.pop("partial", 0)
        errors = ", ".join(f"{code} {count}" for code, count in results.most_common())
        late, wrong = sum(o.is_late for o in group), sum(bool(find_violations(o)) for o in group)
        if kind:
            lines.append(f"| {kind} | {len(group)} | {pages} | {partial} | {errors} | {late} | {wrong} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
