"""A fuzzer made for MCP servers against Keyhole, over stdio and HTTP: no crash, no hang, no internal error.

CLIENTS_FUZZ_RUNS sets how many calls it makes of each tool and kind of message, for a longer run than that of CI.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from .npm import NotBroughtError
from .pip import bring_python
from .stage import Stage, serve_http
from .steps import Steps, run_program
from .tour import TOOLS

PACKAGES = ("mcp-fuzzer",)
RUNS = int(os.environ.get("CLIENTS_FUZZ_RUNS", "10"))
TIMEOUT = 60.0 + 10 * RUNS
"""Seconds: a run of each of 24 kinds and 3 tools takes a quarter of a second."""
SEED = "7"

HARMLESS = {"accepted_malformed"}
"""Findings of the fuzzer that are none: it holds each answer without an error to a message of its own for one, also to
a `ping`, and to a call that the tool refused in its result. What is left are crashes, hangs and broken answers."""

_BROKEN = re.compile(r'internal_error|Traceback|"code": ?-32603')
"""What a fault of Keyhole's own would look like, in its answers and its log."""


def check(steps: Steps, stage: Stage, _programs: Path) -> None:
    """Both transports, the same seed."""
    try:
        programs = bring_python("mcp-fuzzer")
    except NotBroughtError as reason:
        steps.skip("mcp-fuzzer", str(reason))
        return
    told = partial(_fuzz, stage, programs)
    steps.run(f"fuzz stdio: no crash, hang or internal error in {RUNS} runs of each", partial(_over_stdio, stage, told))
    steps.run(f"fuzz http: no crash, hang or internal error in {RUNS} runs of each", partial(_over_http, stage, told))


def _over_stdio(stage: Stage, fuzz: Callable[..., None]) -> None:
    record = stage.scratch / "fuzzed"
    tap = [sys.executable, str(Path(__file__).with_name("tap.py")), str(record), "--", *stage.command]
    # The fuzzer gives a server no variables of ours, so they stand in the command.
    settings = [f"{name}={value}" for name, value in stage.settings.items()]
    fuzz("stdio", shlex.join(["env", *settings, *tap]))
    said = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    broken = [each["line"] for each in said if each["from"] == "server" and _BROKEN.search(each["line"])]
    assert not broken, broken[0][:500]
    assert len(said) > RUNS * len(TOOLS), f"{len(said)} lines were said"


def _over_http(stage: Stage, fuzz: Callable[..., None]) -> None:
    # Its rate is far over what one tenant may call by default; a refusal for that is not what is looked for.
    settings = {**stage.settings, "KEYHOLE_CALLS_PER_MINUTE": "1000000"}
    with serve_http(replace(stage, settings=settings)) as url:
        fuzz("streamablehttp", url)
    log = (stage.scratch / "http.log").read_text("utf-8")
    assert not _BROKEN.search(log), log[-500:]


def _fuzz(stage: Stage, programs: Path, protocol: str, endpoint: str) -> None:
    out = stage.scratch / f"fuzz-{protocol}"
    command = [
        str(programs / "mcp-fuzzer"), "--mode", "all", "--phase", "both", "--protocol", protocol,
        "--endpoint", endpoint, "--runs", str(RUNS), "--runs-per-type", str(RUNS), "--seed", SEED, "--no-network",
        "--no-corpus", "--timeout", "20", "--output-dir", str(out), "--fs-root", str(stage.scratch / "files"),
    ]  # fmt: skip
    done = run_program(command, stage.client_env(programs), stage.scratch, TIMEOUT)
    summary = json.loads((out / "run_summary.json").read_text("utf-8"))
    assert str(summary["status"]).startswith("complete"), summary["status"]
    found = {kind: count for kind, count in summary["findings"]["by_category"].items() if kind not in HARMLESS}
    assert not found, f"{found}: {done.stdout[-600:]}"
    for line in ("Total Crashes: 0", "Total Exceptions: 0", f"Total Tools Tested: {len(TOOLS)}"):
        assert line in done.stdout, f"no {line!r} in {done.stdout[-900:]}"
