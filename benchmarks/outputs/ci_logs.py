"""Measure how many critical signals of failed CI runs a bounded log still has, without a model.

    python -m benchmarks.outputs.ci_logs FOLDER [--misses] [--show CASE]

FOLDER is an unpacked release of LogDx-CI (cases CC-BY-4.0, tools Apache-2.0): `cases/…/raw.log` are logs of GitHub
Actions, `ground_truth.json` the signals, and `tools/evaluate_signal_recall.py` counts them. Nothing of it is in this
repository. Signals are matched as substrings. Three systems get the same number of characters: `bound` without a query,
the end of the log, and the last lines that match a pattern of errors.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any, Final

from keyhole.extract.outputs import terminal_text
from keyhole.retrieval.bound import bound

BUDGETS: Final = (2_000, 4_000, 9_000)
_ERROR = re.compile(r"error|fail|exception|panic|traceback|fatal|exit code", re.IGNORECASE)

System = Callable[[str, int], str]
Score = Callable[[Mapping[str, Any], str], Mapping[str, Any]]


def with_keyhole(log: str, budget: int) -> str:
    """Return the log within the budget, as `keyhole bound` prints it without a query."""
    return bound(log, budget=budget, secret=b"benchmark").text


def tail(log: str, budget: int) -> str:
    """Return the end of the log."""
    return terminal_text(log)[-budget:]


def last_errors(log: str, budget: int) -> str:
    """Return the last lines that match the pattern of errors."""
    lines: list[str] = []
    for line in reversed(terminal_text(log).split("\n")):
        if _ERROR.search(line):
            budget -= len(line) + 1
            if budget < 0:
                break
            lines.append(line)
    return "\n".join(reversed(lines))


SYSTEMS: Final[dict[str, System]] = {"Keyhole": with_keyhole, "last matching lines": last_errors, "tail": tail}


def load_scorer(folder: Path) -> Score:
    """Return the function of the data set that compares a text with the signals of a case."""
    spec = importlib.util.spec_from_file_location("scorer", folder / "tools" / "evaluate_signal_recall.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    row = {"case_id": "", "line_mapping_available": False, "included_line_ranges": [], "reduction_ratio": 0}

    def score(truth: Mapping[str, Any], text: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = module.score_case(manifest_row=row, ground_truth=truth, context_text=text)
        return found

    return score


def main() -> int:
    """Print the mean share of critical signals for each system and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="an unpacked release of LogDx-CI")
    parser.add_argument("--misses", action="store_true", help="list the critical signals that Keyhole leaves out")
    parser.add_argument("--show", help="print Keyhole's text of a case at 4,000 characters")
    arguments = parser.parse_args()
    score = load_scorer(arguments.folder)
    files = sorted(arguments.folder.rglob("raw.log"))
    logs = {file.parent.name: file.read_text(encoding="utf-8", errors="replace") for file in files}
    truths = {file.parent.name: json.loads(file.with_name("ground_truth.json").read_text()) for file in files}
    if arguments.show:
        print(with_keyhole(logs[arguments.show], 4_000))
        return 0
    print(f"{len(logs)} logs, {mean(map(len, logs.values())):,.0f} characters in the mean.\n")
    print(f"| critical signals | {' | '.join(f'{budget:,}' for budget in BUDGETS)} |\n|---|{'---:|' * len(BUDGETS)}")
    for name, system in SYSTEMS.items():
        found = [[score(truths[case], system(log, budget)) for case, log in logs.items()] for budget in BUDGETS]
        means = [mean(row["critical_signal_recall"] for row in rows) for rows in found]
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in means)} |")
        for budget, rows in zip(BUDGETS, found, strict=True) if arguments.misses and name == "Keyhole" else ():
            for case, row in zip(logs, rows, strict=True):
                missed = [each for each in row["missed_signals"] if each["importance"] == "critical"]
                print(
                    "".join(f"  {budget} {case}: {each.get('value') or each.get('file')}\n" for each in missed), end=""
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
