"""What a person waits for at a prompt: each command from its start to its exit. `python -m benchmarks.server.command_line`.

Processes of this Python, one after the other, in turns, beside one that does nothing, so that what the machine does
meanwhile meets all. Nothing but loopback is touched; the home folder is a new one.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
from keyhole.cli.demo_site import fixtures_folder, recorded_pages, serve
from keyhole.config.toml_file import template

PATIENCE: Final = 60.0
"""Seconds for one command: a hundred times what it takes."""
PAGE: Final = fixtures_folder() / "sqlite-wal" / "body"
QUESTION: Final = "checkpoint starvation"
NOTHING: Final = "python -c pass"


def commands(url: str) -> dict[str, tuple[str, ...]]:
    """What is measured; the page has been fetched before."""
    keyhole = ("-m", "keyhole")
    return {
        NOTHING: ("-c", "pass"),
        "--version": (*keyhole, "--version"),
        "--help": (*keyhole, "--help"),
        "completion bash": (*keyhole, "completion", "bash"),
        "artifacts list, as Tab asks": (*keyhole, "artifacts", "list", "--limit", "50"),
        "config": (*keyhole, "config"),
        "config, with a file of every setting": (*keyhole, "config", "--changed"),
        "extract FILE": (*keyhole, "extract", str(PAGE), "--type", "text/html"),
        "select FILE": (*keyhole, "select", str(PAGE), "--type", "text/html", "-q", QUESTION),
        "select FILE --explain": (*keyhole, "select", str(PAGE), "--type", "text/html", "-q", QUESTION, "--explain"),
        "fetch URL, stored": (*keyhole, "fetch", url, "-q", QUESTION),
        "fetch URL, stored, --explain": (*keyhole, "fetch", url, "-q", QUESTION, "--explain"),
    }


def measured(rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each command in each round."""
    with serve(recorded_pages()) as port, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config.toml")
        file.write_text(re.sub(r"(?m)^# (?=[a-z_]+ = )", "", template()), encoding="utf-8")
        file.chmod(0o600)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "server"),
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": folder,
            "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}",
        }
        asked = commands(f"http://127.0.0.1:{port}/sqlite-wal")
        _timed(asked["fetch URL, stored"], environment)
        times: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(rounds):
            for name, words in asked.items():
                filed = {"KEYHOLE_CONFIG": str(file)} if "with a file" in name else {}
                times[name].append(_timed(words, {**environment, **filed}))
    return times


def _timed(words: tuple[str, ...], environment: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *words], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    return 1_000 * (time.perf_counter() - begun)


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    times = measured(parser.parse_args().rounds)
    print("| command | min / median / max, ms |\n|---|---:|")
    for name, each in times.items():
        print(f"| {name} | {min(each):.0f} / {statistics.median(each):.0f} / {max(each):.0f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
