"""Measure the processor time of bounding outputs in memory, by kind.

    python -m benchmarks.outputs.speed [--source FOLDER]

Bounds each output of `benchmarks.outputs` of 20,000 characters or more to 4,000 characters, three times, and adds the
shortest times by kind. FOLDER is the folder `server` of another version, which is measured next, in a process of its
own, and compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.outputs.corpus import load_outputs
from keyhole.outputs.bound import bound

MIN_CHARS = 20_000
ROUNDS = 3
ROOT = Path(__file__).resolve().parents[2]


def measure() -> dict[str, tuple[int, float]]:
    """Return for each kind the characters and the seconds of all its outputs."""
    totals: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
    for output in load_outputs().values():
        if len(output.text) >= MIN_CHARS:
            best = min(_time(output.text) for _ in range(ROUNDS))
            totals[output.kind][0] += len(output.text)
            totals[output.kind][1] += best
    return {kind: (int(chars), seconds) for kind, (chars, seconds) in totals.items()}


def _time(text: str) -> float:
    started = time.process_time()
    bound(text, budget=4_000, secret=b"benchmark")
    return time.process_time() - started


def _measure_in(source: Path) -> dict[str, tuple[int, float]]:
    """Return what `measure` returns in a process that imports the version in a folder."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.outputs.speed", "--json"]
    found: dict[str, tuple[int, float]] = json.loads(subprocess.check_output(command, env=env, cwd=ROOT))
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, help="the folder `server` of another version")
    parser.add_argument("--json", action="store_true", help="print the totals of this version only, as JSON")
    arguments = parser.parse_args()
    if arguments.json:
        print(json.dumps(measure()))
        return 0
    own = _measure_in(ROOT / "server")
    other = _measure_in(arguments.source) if arguments.source else own
    print("| kind | MB | ms per MB | of the other version |\n|---|---:|---:|---:|")
    rows = [*sorted(own), "all"]
    own["all"], other["all"] = (
        (sum(chars for chars, _ in each.values()), sum(seconds for _, seconds in each.values()))
        for each in (own, other)
    )
    for kind in rows:
        chars, seconds = own[kind]
        print(f"| {kind} | {chars / 1e6:.1f} | {seconds / chars * 1e9:.0f} | {seconds / other[kind][1]:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
