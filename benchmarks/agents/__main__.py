"""Compute the whole bill of recorded runs of agents with plain tools, with Keyhole's bounds, and with compaction.

    python -m benchmarks.agents [--cache DIR] [--prices FILE]

Each run is replayed turn by turn. A request has the system prompt and the tools, whose size the first recorded request
tells, and the messages before the turn, as one of four contexts shows them. Its beginning that equals the request
before is read from the provider's cache, which is taken as warm; the rest is written to it. The output is the recorded
one. Where a turn uses a fact that the context does not show, one more call is on the bill. Tokens are estimated.

What it cannot see: an agent that sees less may act otherwise, for better or worse, and an agent that is told of a
shorter history may plan otherwise. Caches also expire, which makes every context dearer, the largest one most.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import Final

from benchmarks.agents.bill import Bill, replay
from benchmarks.agents.contexts import CONTEXTS, INPUT
from benchmarks.agents.runs import Run, load_runs

CACHE: Final = Path.home() / ".cache/keyhole-benchmarks/agents"
PRICES: Final = Path(__file__).with_name("prices.toml")


def main() -> None:
    """Replay the runs and print the tables."""
    arguments = _arguments()
    prices = tomllib.loads(arguments.prices.read_text("utf-8"))
    runs = load_runs(arguments.cache)
    long = [run for run in runs if run.format == "anthropic"]
    short = [run for run in runs if run not in long]
    print(f"Sessions of Claude Code, history compacted to {INPUT:,} tokens: {_size(long)}\n")
    _print(long, prices)
    print(f"\nRuns of Inspect's agent, whose results are short: {_size(short)}\n")
    _print(short, prices)


def _size(runs: list[Run]) -> str:
    return f"{len(runs)} with {sum(len(run.turns) for run in runs)} turns"


def _print(runs: list[Run], prices: dict[str, dict[str, float]]) -> None:
    totals = {name: Bill() for name in CONTEXTS}
    for run in runs:
        for name, context in CONTEXTS.items():
            totals[name].add(replay(run, context))
    whole = totals["as recorded"]
    heads = ["context", *(f"bill, {name}" for name in prices), "1,000 tokens of input: cached, new", "more calls"]
    _row(*heads, "facts in view", "in view or one call away")
    _row(*("---" for _ in range(len(heads) + 2)))
    for name, bill in totals.items():
        dollars = [bill.cost(price) for price in prices.values()]
        before = [whole.cost(price) for price in prices.values()]
        costs = (f"{now:.2f} $ ({now / was - 1:+.0%})" for now, was in zip(dollars, before, strict=True))
        facts = (f"{count / max(bill.facts, 1):.1%}" for count in (bill.in_view, bill.reachable))
        _row(name, *costs, f"{bill.read / 1e3:,.0f}, {bill.new / 1e3:,.0f}", str(bill.calls), *facts)
    print(f"\n{whole.facts:,} facts that a later turn used")


def _row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the packages")
    parser.add_argument("--prices", type=Path, default=PRICES, help="a table of prices like prices.toml")
    return parser.parse_args()


if __name__ == "__main__":
    main()
