"""Measure how many critical signals of failed runs a bounded output still has, without a query and without a model.

    python -m benchmarks.outputs.failed_runs [LOGDX] [--logs FOLDER] [--split dev|held] [--misses] [--show RUN]

The runs of `failed_runs.jsonl.xz` are 54 failed runs of test runners, build tools and CI systems on small projects.
They were made, and their signals chosen, without knowing how outputs are bounded. A signal is a part of a line that
somebody who repairs the failure must see: the name of what failed, the error, its place, the summary.

LOGDX is an unpacked release of LogDx-CI (cases CC-BY-4.0, tools Apache-2.0), of which nothing is in this repository:
`cases/…/raw.log` are logs of GitHub Actions, `ground_truth.json` has the signals, and
`tools/evaluate_signal_recall.py` counts them.

FOLDER has a file `signals.jsonl` with objects of `case`, `file` and `signals`: logs of strangers, of which nothing is
in this repository either.

Three systems get the same number of characters: `bound`, the end of the output, and the last lines that match a pattern
of errors.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import lzma
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from benchmarks.tasks.tasks import SPLITS, split_of
from keyhole.outputs.bound import bound
from keyhole.outputs.read import terminal_text

BUDGETS: Final = (2_000, 4_000, 9_000)
FILE: Final = Path(__file__).with_name("failed_runs.jsonl.xz")
_ERROR = re.compile(r"error|fail|exception|panic|traceback|fatal|exit code", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Run:
    """A failed run, and the function that returns which of its critical signals a text lacks, of how many."""

    id: str
    output: str
    command: str
    exit_status: int | None
    missed: Callable[[str], tuple[list[str], int]]

    @property
    def split(self) -> str:
        """`dev` or `held`."""
        return split_of(self.id)


System = Callable[[Run, int], str]


def with_keyhole(run: Run, budget: int) -> str:
    """Return the output within the budget, as `keyhole run` prints it."""
    return bound(run.output, budget=budget, command=run.command, exit_status=run.exit_status, secret=b"benchmark").text


def tail(run: Run, budget: int) -> str:
    """Return the end of the output."""
    return terminal_text(run.output)[-budget:]


def last_errors(run: Run, budget: int) -> str:
    """Return the last lines that match the pattern of errors."""
    lines: list[str] = []
    for line in reversed(terminal_text(run.output).split("\n")):
        if _ERROR.search(line):
            budget -= len(line) + 1
            if budget < 0:
                break
            lines.append(line)
    return "\n".join(reversed(lines))


SYSTEMS: Final[dict[str, System]] = {"Keyhole": with_keyhole, "last matching lines": last_errors, "tail": tail}


def load_runs() -> list[Run]:
    """Return the runs of this repository."""
    with lzma.open(FILE, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Run(row["id"], row["output"], row["command"], row["exit_status"], _finder(row["signals"])) for row in rows]


def load_logs(folder: Path) -> list[Run]:
    """Return the logs of a folder with `signals.jsonl`. Nothing is known of their commands."""
    rows = [json.loads(line) for line in (folder / "signals.jsonl").read_text("utf-8").splitlines()]
    texts = [(folder / row["file"]).read_text("utf-8", "replace") for row in rows]
    return [Run(row["case"], text, "", None, _finder(row["signals"])) for row, text in zip(rows, texts, strict=True)]


def _finder(signals: Sequence[str]) -> Callable[[str], tuple[list[str], int]]:
    def missed(text: str) -> tuple[list[str], int]:
        text = _SPACE.sub(" ", text)
        return [signal for signal in signals if _SPACE.sub(" ", signal) not in text], len(signals)

    return missed


def load_logdx(folder: Path) -> list[Run]:
    """Return the logs of a release of LogDx-CI. Its own scorer finds their signals."""
    spec = importlib.util.spec_from_file_location("scorer", folder / "tools" / "evaluate_signal_recall.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    row = {"case_id": "", "line_mapping_available": False, "included_line_ranges": [], "reduction_ratio": 0}

    def finder(truth: Mapping[str, Any]) -> Callable[[str], tuple[list[str], int]]:
        def missed(text: str) -> tuple[list[str], int]:
            score = module.score_case(manifest_row=row, ground_truth=truth, context_text=text)
            lacking = [each for each in score["missed_signals"] if each["importance"] == "critical"]
            return [str(each.get("value") or each.get("file")) for each in lacking], score["critical_total"]

        return missed

    return [
        Run(file.parent.name, file.read_text("utf-8", "replace"), "", None, finder(json.loads(truth.read_text())))
        for file in sorted(folder.rglob("raw.log"))
        if (truth := file.with_name("ground_truth.json"))
    ]


def print_table(title: str, runs: Sequence[Run], *, misses: bool) -> None:
    """Print the mean share of critical signals for each system and budget."""
    size = mean(len(run.output) for run in runs)
    print(f"\n{title}: {len(runs)} runs of {size:,.0f} characters in the mean.\n")
    print(f"| critical signals | {' | '.join(f'{budget:,}' for budget in BUDGETS)} |\n|---|{'---:|' * len(BUDGETS)}")
    for name, system in SYSTEMS.items():
        found = {budget: [run.missed(system(run, budget)) for run in runs] for budget in BUDGETS}
        shares = (mean(1 - len(lacking) / max(1, total) for lacking, total in rows) for rows in found.values())
        print(f"| {name} | {' | '.join(f'{share:.2f}' for share in shares)} |")
        for budget, rows in found.items() if misses and name == "Keyhole" else ():
            for run, (lacking, _) in zip(runs, rows, strict=True):
                print("".join(f"  {budget} {run.id}: {signal}\n" for signal in lacking), end="")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logdx", type=Path, nargs="?", help="an unpacked release of LogDx-CI")
    parser.add_argument("--logs", type=Path, help="a folder with logs and signals.jsonl")
    parser.add_argument("--split", choices=SPLITS, help="half of this repository's runs; default both, one by one")
    parser.add_argument("--misses", action="store_true", help="list the critical signals that Keyhole leaves out")
    parser.add_argument("--show", help="print Keyhole's text of a run at 4,000 characters")
    arguments = parser.parse_args()
    runs = load_runs()
    logs = load_logdx(arguments.logdx) if arguments.logdx else []
    others = load_logs(arguments.logs) if arguments.logs else []
    if arguments.show:
        print(next(with_keyhole(run, 4_000) for run in [*runs, *logs, *others] if run.id == arguments.show))
        return 0
    for split in [arguments.split] if arguments.split else SPLITS:
        print_table(f"Runs, split {split}", [run for run in runs if run.split == split], misses=arguments.misses)
    if logs:
        print_table("LogDx-CI", logs, misses=arguments.misses)
    if others:
        print_table("Logs of strangers", others, misses=arguments.misses)
    return 0


if __name__ == "__main__":
    sys.exit(main())
