"""Time `keyhole hook claude` from the start of the process to the end of its answer.

    python -m benchmarks.outputs.hook_start [--runs N]

The installed console script gets events with outputs of the corpus, repeated or cut to a size. Each figure is a median
of 20 runs after one that does not count: the time that passes, and in brackets that of the processor. "nothing" is
`python -c pass`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.outputs.corpus import Output, load_outputs

RUNS = 20
SIZES = (2_000, 100_000, 1_000_000)
KINDS = ("command-log", "tests", "grep", "source", "json")
TARGET_MS = 60.0
"""Greatest time for 100,000 characters of a log."""
SCRIPT = Path(sys.executable).with_name("keyhole")


def resize(text: str, size: int) -> str:
    """Return a text repeated and cut to a number of characters."""
    return (text * (size // len(text) + 1))[:size]


def event(output: Output, size: int) -> bytes:
    """Return Claude Code's event after a command that printed an output of a size."""
    response = {"stdout": resize(output.text, size), "stderr": "", "interrupted": False, "isImage": False}
    call = {"tool_name": "Bash", "tool_input": {"command": output.command}, "tool_response": response}
    return json.dumps({"hook_event_name": "PostToolUse", "cwd": "/", **call}).encode()


class Timing(NamedTuple):
    """The medians of a command's times in milliseconds, and the bytes that it printed."""

    passed: float
    processor: float
    printed: int

    def __str__(self) -> str:
        return f"{self.passed:.0f} ({self.processor:.0f}) ms"


def time_runs(command: Sequence[str], data: bytes, environment: Mapping[str, str], runs: int) -> Timing:
    """Time a command."""
    passed, processor, printed = [], [], 0
    for _ in range(runs + 1):
        start, used = time.perf_counter(), _processor_seconds()
        done = subprocess.run(command, input=data, stdout=subprocess.PIPE, env=environment, check=True, timeout=60)
        passed.append(1_000 * (time.perf_counter() - start))
        processor.append(1_000 * (_processor_seconds() - used))
        printed = len(done.stdout)
    return Timing(median(passed[1:]), median(processor[1:]), printed)


def _processor_seconds() -> float:
    """Return the time that the ended child processes have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def largest(outputs: Mapping[str, Output], kind: str) -> Output:
    """Return the longest output of a kind, which repeats itself least when it is resized."""
    return max((output for output in outputs.values() if output.kind == kind), key=lambda output: len(output.text))


def main() -> int:
    """Print the times, and return 1 if a log takes longer than the target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outputs.hook_start")
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    outputs = load_outputs()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "KEYHOLE_HOME": home, "KEYHOLE_CONFIG": "off"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
        nothing = time_runs((sys.executable, "-c", "pass"), b"", environment, runs)
        print(f"nothing: {nothing}\n\n| characters | {' | '.join(KINDS)} |\n|---|{'---|' * len(KINDS)}")
        log = 0.0
        for size in SIZES:
            events = [event(largest(outputs, kind), size) for kind in KINDS]
            timed = [time_runs((str(SCRIPT), "hook", "claude"), data, environment, runs) for data in events]
            if any(bool(each.printed) != (size > SIZES[0]) for each in timed):
                raise SystemExit("the hook answered a short output, or did not answer a long one")
            log = timed[0].passed if size == SIZES[1] else log
            print(f"| {size:,} | {' | '.join(map(str, timed))} |")
    return int(log > TARGET_MS)


if __name__ == "__main__":
    raise SystemExit(main())
