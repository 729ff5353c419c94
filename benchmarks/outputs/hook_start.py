"""Time the hook that `keyhole install` registers, from the start of the process to the end of its answer.

    python -m benchmarks.outputs.hook_start [--runs N]

The hook gets events with outputs of the corpus, repeated or cut to a size, without a shared server and with one. Each
figure is a median of 40 runs after one that does not count, as a multiple of `python -I -S -c pass`, whose runs
alternate with them. Fails for each kind that misses its target.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.outputs.corpus import Output, load_outputs
from benchmarks.server.startup import SERVER as SERVER_FOLDER
from keyhole.extensions.install.files import write_boot_files

RUNS = 40
SIZES = (2_000, 100_000, 1_000_000)
KINDS = ("command-log", "tests", "grep", "source", "json")
TARGETS = {2_000: 1.3, 100_000: 4.0}
"""Greatest multiples by characters of the output, with a shared server."""
SERVER = str(SERVER_FOLDER)
BARE = (sys.executable, "-I", "-S", "-c", "pass")


def resize(text: str, size: int) -> str:
    """Return a text repeated and cut to a number of characters."""
    return (text * (size // len(text) + 1))[:size]


def event(output: Output, size: int) -> bytes:
    """Return Claude Code's event after a command that printed an output of a size."""
    response = {"stdout": resize(output.text, size), "stderr": "", "interrupted": False, "isImage": False}
    call = {"tool_name": "Bash", "tool_input": {"command": output.command}, "tool_response": response}
    return json.dumps({"hook_event_name": "PostToolUse", "cwd": "/", **call}).encode()


def time_run(command: Sequence[str], data: bytes, environment: Mapping[str, str]) -> tuple[float, int]:
    """Return the milliseconds of a command, and the bytes that it printed."""
    start = time.perf_counter()
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, env=environment, check=True, timeout=60)
    return 1_000 * (time.perf_counter() - start), len(done.stdout)


class Timing(NamedTuple):
    """The median milliseconds of the hook, and of Python without a program."""

    hook: float
    bare: float

    @property
    def multiple(self) -> float:
        """How many times as long the hook takes."""
        return self.hook / self.bare

    def __str__(self) -> str:
        return f"{self.multiple:.2f} ({self.hook:.1f} ms)"


def time_runs(hook: Sequence[str], data: bytes, environment: Mapping[str, str], runs: int, *, answers: bool) -> Timing:
    """Time the hook for an event. Raises SystemExit if it does not answer a long output, or answers a short one."""
    hooks, bares = [], []
    for _ in range(runs + 1):
        bares.append(time_run(BARE, b"", environment)[0])
        passed, printed = time_run(hook, data, environment)
        hooks.append(passed)
        if bool(printed) != answers:
            raise SystemExit("the hook answered a short output, or did not answer a long one")
    return Timing(median(hooks[1:]), median(bares[1:]))


def largest(outputs: Mapping[str, Output], kind: str) -> Output:
    """Return the longest output of a kind, which repeats itself least when it is resized."""
    return max((output for output in outputs.values() if output.kind == kind), key=lambda output: len(output.text))


@contextmanager
def running_server(environment: Mapping[str, str]) -> Iterator[None]:
    """Run a shared server until the block ends."""
    command = (sys.executable, "-m", "keyhole", "server", "run")
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as server:
        assert server.stdout
        server.stdout.readline()
        try:
            yield
        finally:
            server.terminate()


def print_table(hook: Sequence[str], environment: Mapping[str, str], runs: int) -> list[str]:
    """Print the times of each size and kind; return what misses its target."""
    outputs, misses = load_outputs(), []
    print(f"| characters | {' | '.join(KINDS)} |\n|---|{'---|' * len(KINDS)}")
    for size in SIZES:
        events = {kind: event(largest(outputs, kind), size) for kind in KINDS}
        timed = {
            kind: time_runs(hook, data, environment, runs, answers=size > SIZES[0]) for kind, data in events.items()
        }
        print(f"| {size:,} | {' | '.join(map(str, timed.values()))} |")
        most = TARGETS.get(size, math.inf)
        misses += [f"{kind} of {size:,} characters" for kind, each in timed.items() if each.multiple > most]
    return misses


def main() -> int:
    """Print the times, and return 1 if a kind misses its target."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outputs.hook_start")
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "KEYHOLE_HOME": home, "KEYHOLE_CONFIG": "off", "PYTHONPATH": SERVER}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
        write_boot_files(Path(home) / "bin", sys.executable)
        hook = (f"{home}/bin/keyhole", "hook", "claude")
        print("Without a shared server:\n")
        print_table(hook, environment, runs)
        print("\nWith a shared server:\n")
        with running_server(environment):
            misses = print_table(hook, environment, runs)
    for miss in misses:
        print(f"misses its target: {miss}")
    return int(bool(misses))


if __name__ == "__main__":
    raise SystemExit(main())
