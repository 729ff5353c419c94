"""Time each command from its start to its exit.

    python -m benchmarks.server.command_line [--rounds 9]

Each round runs all commands in turn, and a Python process that does nothing, so that changes in the machine's load
affect all of them. The page comes from loopback; the home folder is new.
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

from keyhole.cli.demo_site import fixtures_folder, recorded_pages, serve
from keyhole.config.toml_file import settings_template

ROOT: Final = Path(__file__).resolve().parents[2]
PATIENCE: Final = 60.0
"""Maximum seconds of one command: a hundred times what it needs."""
PAGE: Final = fixtures_folder() / "sqlite-wal" / "body"
QUESTION: Final = "checkpoint starvation"
NOTHING: Final = "python -c pass"


def commands(url: str) -> dict[str, tuple[str, ...]]:
    """Return the arguments of Python for each measured command, by name; `url` must have been fetched before."""
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
        "fetch URL, stored": (*keyhole, "fetch", url, "-q", QUESTION),
    }


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each command in each round."""
    with serve(recorded_pages()) as port, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config.toml")
        file.write_text(re.sub(r"(?m)^# (?=[a-z_]+ = )", "", settings_template()), encoding="utf-8")
        file.chmod(0o600)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "server"),
            "KEYHOLE_CONFIG": "off",
            "KEYHOLE_HOME": folder,
            "KEYHOLE_ALLOW_PRIVATE": f"127.0.0.1:{port}",
        }
        measured = commands(f"http://127.0.0.1:{port}/sqlite-wal")
        _time_command(measured["fetch URL, stored"], environment)
        times: dict[str, list[float]] = {name: [] for name in measured}
        for _ in range(rounds):
            for name, words in measured.items():
                setting = {"KEYHOLE_CONFIG": str(file)} if "with a file" in name else {}
                times[name].append(_time_command(words, {**environment, **setting}))
    return times


def _time_command(words: tuple[str, ...], environment: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *words], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    return 1_000 * (time.perf_counter() - begun)


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    times = measure(parser.parse_args().rounds)
    print("| command | min / median / max, ms |\n|---|---:|")
    for name, each in times.items():
        print(f"| {name} | {min(each):.0f} / {statistics.median(each):.0f} / {max(each):.0f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
