"""Print how many secrets are masked, how many other lines are changed, and the time that masking takes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable

from benchmarks.outputs.corpus import load_outputs
from benchmarks.secrets.lines import FOLDER, Line, load_lines
from keyhole.text.secrets.mask import mask_secrets

HOSTILE = ("token=", "key=a1-", "sk-", "-p '", "echo a | sudo -S ", "$(", "foo -u a -p b ", "vault kv put a=b ")
"""Parts that are repeated in long texts: each could make a pattern or the reader of commands start over and over."""
START = """
import functools, re, time, typing, keyhole.text.lazy_pattern
start = time.process_time()
from keyhole.text.secrets.mask import mask_secrets
imported = time.process_time()
mask_secrets("pytest -x -q tests/test_a.py 2>&1 | tail -30")
print(imported - start, time.process_time() - imported)
"""


def main() -> None:
    """Print the figures. The held-out half was not looked at while the rules were written."""
    for held_out in (False, True):
        half = "held-out half" if held_out else "development half"
        secret = [line for line in load_lines("with_secret.txt") if line.held_out is held_out]
        plain = [line for line in load_lines("without_secret.txt") if line.held_out is held_out]
        _print_share(f"{half}: lines without any of their secrets", secret, is_masked)
        _print_share(f"{half}: lines without secrets unchanged", plain, is_unchanged)
    outputs = load_outputs().values()
    printed = [Line(line, (), False) for output in outputs for line in output.text.split("\n")]
    locked = [
        Line(line, (), False) for line in (FOLDER.parents[1] / "requirements.txt").read_text("utf-8").splitlines()
    ]
    _print_share(
        "commands of benchmarks.outputs unchanged", [Line(each.command, (), False) for each in outputs], is_unchanged
    )
    _print_share("lines of requirements.txt, with hashes, unchanged", locked, is_unchanged)
    _print_share("lines of benchmarks.outputs unchanged", printed, is_unchanged)
    slowest = max((_seconds(part * (100_000 // len(part))), part) for part in HOSTILE)
    print(f"slowest of {len(HOSTILE)} hostile texts of 100 KB: {slowest[0]:.2f} s ({slowest[1]!r})")
    times = [_start_times() for _ in range(20)]
    print(f"import: {1000 * min(t[0] for t in times):.1f} ms; first command: {1000 * min(t[1] for t in times):.1f} ms")


def is_masked(line: Line) -> bool:
    """Return whether no part of a secret is left: none of its words with at least three characters, nor all of it."""
    rest = mask(line.text)
    for secret in line.secrets:
        words = [word for word in secret.strip("'\"").split() if len(word) > 2] or [secret]
        if any(rest.count(word) > line.text.replace(secret, "").count(word) for word in words):
            return False
    return True


def is_unchanged(line: Line) -> bool:
    """Return whether a line is the same afterwards."""
    return mask(line.text) == line.text


def mask(text: str) -> str:
    """Mask the secrets of a text that was masked before too."""
    mask_secrets.cache_clear()
    return mask_secrets(text)


def _print_share(name: str, lines: Iterable[Line], check: Callable[[Line], bool]) -> None:
    lines, start = list(lines), time.process_time()
    passed = sum(map(check, lines))
    speed = sum(len(line.text) for line in lines) / 1e6 / (time.process_time() - start)
    print(f"{name}: {passed:,} of {len(lines):,} ({speed:.1f} MB/s)", flush=True)


def _seconds(text: str) -> float:
    start = time.process_time()
    mask(text)
    return time.process_time() - start


def _start_times() -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    imported, masked = map(float, done.stdout.split())
    return imported, masked


if __name__ == "__main__":
    main()
