"""Measure the time and the memory of bounding very large outputs through the real command line.

`python -m benchmarks.outputs.size` prints a line for each case and exits with 1 if one misses its limits or its answer.
Seconds are those of the whole process. The limits are on its processor time, which is the wall time on a processor that
is free. Memory is the greatest resident size of Keyhole's own process.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

MB: Final = 1_000_000
MAX_MEMORY: Final = 150
"""Megabytes of memory that each case may take."""
TIME: Final = "2026-11-23T07:00:00.000Z "
ANSWER: Final = "ERROR worker-3 deadlock detected in shard 17: giving up\n"
BLOCK: Final = MB // 2


class Case(NamedTuple):
    """A large output: its size in megabytes, what it consists of, and its limit."""

    name: str
    megabytes: int
    content: str
    seconds: float
    """The limit in seconds of processor time; 0 for none."""
    words: tuple[str, ...]
    """The command line; FILE stands for the file with the output."""
    is_piped: bool = False


LOG_SECONDS: Final = 3.0
CASES: Final = (
    Case("log, file", 100, "log", LOG_SECONDS, ("bound", "FILE")),
    Case("log, file, query", 100, "log", LOG_SECONDS, ("bound", "FILE", "--query", "deadlock in a shard")),
    Case("log, pipe", 100, "log", LOG_SECONDS, ("bound",), is_piped=True),
    Case("one line", 50, "line", 0, ("bound", "FILE")),
    Case("binary", 50, "binary", 0, ("bound", "FILE")),
    Case("invalid UTF-8", 50, "latin", 0, ("bound", "FILE")),
    Case("keyhole run", 1_000, "log", 0, ("run", "--query", "deadlock", "--", "cat", "FILE")),
    Case("prints for ever", 0, "log", 0, ("run", "--timeout", "1", "--", "yes", "printed for ever")),
)


class Measured(NamedTuple):
    """The wall time, the processor time and the memory of a process, and what it printed."""

    seconds: float
    cpu_seconds: float
    megabytes: float
    output: str


def blocks(content: str, megabytes: int) -> Iterator[bytes]:
    """Yield the blocks of an output of about this size. A log contains the answer once, in its middle."""
    random = Random(1)
    first = {"log": _log, "line": _line, "binary": _binary, "latin": _latin}[content](random)
    count = megabytes * MB // len(first)
    for number in range(count):
        if content == "log" and number == count // 2:
            yield (TIME + ANSWER).encode()
        yield random.randbytes(len(first)) if content == "binary" else first


def _log(random: Random) -> bytes:
    lines = (
        f"2026-11-23T07:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03}Z INFO"
        f" worker-{random.randrange(64)} request id={random.getrandbits(64):016x}"
        f" path=/api/v1/items/{random.randrange(100_000)} status=200 duration={random.random() * 100:.3f}ms\n"
        for number in range(BLOCK // 120)
    )
    return "".join(lines).encode()


def _line(_: Random) -> bytes:
    return "".join(f"var a{number}=function(){{return {number}}};" for number in range(BLOCK // 34)).encode()


def _binary(random: Random) -> bytes:
    return random.randbytes(BLOCK)


def _latin(random: Random) -> bytes:
    return _log(random).replace(b"request", b"requ\xeate")


def measure(words: list[str], home: Path, piped: Path | None) -> Measured:
    """Run a command line of Keyhole and measure its process."""
    begun = time.perf_counter()
    with open(piped or os.devnull, "rb") as stdin, (home / "out").open("w+b") as out:  # noqa: PTH123 - devnull too
        source = subprocess.Popen(["cat"], stdin=stdin, stdout=subprocess.PIPE) if piped else None  # noqa: S607
        process = subprocess.Popen(
            [sys.executable, "-m", "keyhole", *words],
            stdin=source.stdout if source else stdin,
            stdout=out,
            env={**os.environ, "KEYHOLE_HOME": str(home / "keyhole")},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if source and source.stdout:
            source.stdout.close()
            source.wait()
        seconds = time.perf_counter() - begun
        out.seek(0)
        text = out.read().decode()
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def misses(case: Case, measured: Measured) -> list[str]:
    """Return what a case misses."""
    found = []
    if case.seconds and measured.cpu_seconds > case.seconds:
        found.append(f"more than {case.seconds:g} s")
    if measured.megabytes > MAX_MEMORY:
        found.append(f"more than {MAX_MEMORY} MB")
    if len(measured.output) > 4_001:
        found.append("over its budget")
    if not re.search(r'read_artifact\(id="\w+"', measured.output):
        found.append("not stored")
    if case.content == "log" and case.megabytes and ANSWER not in measured.output:
        found.append("without its answer")
    return found


def main() -> int:
    """Print a line for each case, and return 1 if one misses."""
    failed = False
    print(f"{'output':20} {'size':>8} {'seconds':>8} {'of CPU':>8} {'memory':>8}")
    with TemporaryDirectory() as folder:
        for case in CASES:
            home = Path(folder, re.sub(r"\W", "_", case.name))
            home.mkdir()
            path = home / "output"
            with path.open("wb") as file:
                file.writelines(blocks(case.content, case.megabytes) if case.megabytes else [])
            words = [str(path) if word == "FILE" else word for word in case.words]
            measured = measure(words, home, path if case.is_piped else None)
            missed = misses(case, measured)
            failed = failed or bool(missed)
            print(
                f"{case.name:20} {case.megabytes:5} MB {measured.seconds:8.2f} {measured.cpu_seconds:8.2f} "
                f"{measured.megabytes:5.0f} MB  {', '.join(missed) or 'ok'}",
                flush=True,
            )
            with suppress(OSError):
                path.unlink()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
