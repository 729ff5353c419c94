"""Measure whether the answer of a question is in the bounded result of an MCP server, through several gateways.

`python -m benchmarks.proxy.gateways --peers PYTHON` runs each gateway over stdio in front of a server that replays
recorded results. PYTHON is an interpreter with the other gateways: `pip install fastmcp tool-result-size-governor`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.proxy.gateways.corpus import load_questions, load_results
from benchmarks.proxy.gateways.measure import Trial, run_trials, survives_progress, survives_repeat
from benchmarks.proxy.gateways.report import miss_lines, servers_table, totals_table
from benchmarks.proxy.gateways.systems import PEERS, SYSTEMS

BUDGETS = (4_000, 9_000, 16_000)
"""Bytes of a result: a small one, Keyhole's for unknown clients, and its default for clients with high limits."""
ROOT = Path(__file__).resolve().parents[3]
FIGURES, PAGE = ROOT / "benchmarks/README.md", ROOT / "docs/proxy.md"
BEGIN, END = "<!-- begin:gateways -->", "<!-- end:gateways -->"
"""The comments around the tables in these files, which `--write` replaces."""


def main() -> int:
    """Run all gateways and print the tables."""
    arguments = _arguments()
    recorded, questions = load_results(), load_questions()
    questions = [question for question in questions if question.result.startswith(arguments.server)]
    trials: list[Trial] = []
    survives: dict[str, tuple[bool, bool]] = {}
    for system in SYSTEMS:
        if PEERS in system.command("", 0) and not arguments.peers:
            print(f"{system.name} is left out: no interpreter with it was given.")
            continue
        if arguments.only and system.name not in arguments.only:
            continue
        budgets = BUDGETS if system.budget is None else (system.budget,)
        place = (system, budgets[-1], arguments.peers)
        survives[system.name] = (survives_progress(*place), survives_repeat(*place))
        for budget in budgets:
            trials += run_trials(system, budget, arguments.peers, recorded, questions, not arguments.quick)
            print(f"{system.name} {budget}", file=sys.stderr, flush=True)
    results = len({each.result for each in questions})
    summary = f"{len(questions)} questions about {results} results{_versions(arguments.peers)}."
    totals, servers = totals_table(trials, survives), servers_table(trials)
    print(summary, "", *totals, "", *servers, sep="\n")
    if arguments.misses:
        print("", *miss_lines(trials, arguments.misses), sep="\n")
    if arguments.write:
        write(FIGURES, [summary, "", *totals, "", *servers])
        write(PAGE, [summary, "", *totals])
    return 0


def write(path: Path, lines: Sequence[str]) -> None:
    """Put lines between the comments of a file."""
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    text = "\n".join([BEGIN, "", *lines, "", END])
    path.write_text(f"{before}{text}{rest.split(END)[1]}", encoding="utf-8")


def _versions(python: str) -> str:
    if not python:
        return ""
    printed = subprocess.run([python, PEERS, "versions"], capture_output=True, check=True, text=True).stdout
    return "".join(f", {name} {version}" for name, version in json.loads(printed).items())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proxy.gateways")
    parser.add_argument("--peers", default="", metavar="PYTHON", help="an interpreter with the other gateways")
    parser.add_argument("--server", default="", help="only results of this server")
    parser.add_argument("--only", action="append", help="only this gateway; may be repeated")
    parser.add_argument("--misses", metavar="GATEWAY", help="list what it misses")
    parser.add_argument("--write", action="store_true", help="write the tables into benchmarks/README.md and docs")
    parser.add_argument("--quick", action="store_true", help="do not read stored results to their end")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
