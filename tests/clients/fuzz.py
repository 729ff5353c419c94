"""Run an MCP fuzzer against Keyhole over stdio and HTTP, and check for crashes, hangs and internal errors.

CLIENTS_FUZZ_RUNS sets the number of calls of each tool and message type, for a longer run than in CI.
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
from urllib.parse import urlsplit

from .npm import InstallError
from .pip import install_from_pypi
from .setup import Setup, serve_http
from .steps import Steps, run_program
from .tool_calls import TOOLS

PACKAGES = ("mcp-fuzzer",)
RUNS = int(os.environ.get("CLIENTS_FUZZ_RUNS", "10"))
TIMEOUT = 60.0 + 10 * RUNS
"""Seconds for the fuzzer; one run of all 24 message types and 3 tools takes about a quarter of a second each."""
SEED = "7"

HARMLESS = {"accepted_malformed"}
"""Categories of the fuzzer that are not faults. It expects a protocol error for every message that it sends, even for a
valid `ping` and for a call that the tool refuses in its result. Crashes, hangs and malformed answers remain."""

_INTERNAL_ERROR = re.compile(r'internal_error|Traceback|"code": ?-32603')
"""Matches an internal error of Keyhole in its answers and its log."""


def check(steps: Steps, setup: Setup, _programs: Path) -> None:
    """Fuzz both transports with the same seed."""
    try:
        programs = install_from_pypi("mcp-fuzzer")
    except InstallError as reason:
        steps.skip("mcp-fuzzer", str(reason))
        return
    fuzz = partial(_fuzz, setup, programs)
    steps.run(f"fuzz stdio: no crash, hang or internal error in {RUNS} runs of each", partial(_fuzz_stdio, setup, fuzz))
    steps.run(f"fuzz http: no crash, hang or internal error in {RUNS} runs of each", partial(_fuzz_http, setup, fuzz))


def _fuzz_stdio(setup: Setup, fuzz: Callable[..., None]) -> None:
    record = setup.scratch / "fuzzed"
    recorder = [sys.executable, str(Path(__file__).with_name("stdio_recorder.py")), str(record), "--", *setup.command]
    # The fuzzer does not pass environment variables to the server, so they are part of the command.
    settings = [f"{name}={value}" for name, value in setup.settings.items()]
    fuzz("stdio", shlex.join(["env", *settings, *recorder]))
    lines = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    broken = [each["line"] for each in lines if each["from"] == "server" and _INTERNAL_ERROR.search(each["line"])]
    assert not broken, broken[0][:500]
    assert len(lines) > RUNS * len(TOOLS), f"{len(lines)} lines were recorded"


def _fuzz_http(setup: Setup, fuzz: Callable[..., None]) -> None:
    # The fuzzer's rate is far above a tenant's default limit, and this test is not about refusals.
    settings = {**setup.settings, "KEYHOLE_CALLS_PER_MINUTE": "1000000"}
    with serve_http(replace(setup, settings=settings)) as url:
        fuzz("streamablehttp", url)
    log = (setup.scratch / f"http-{urlsplit(url).port}.log").read_text("utf-8")
    assert not _INTERNAL_ERROR.search(log), log[-500:]


def _fuzz(setup: Setup, programs: Path, protocol: str, endpoint: str) -> None:
    out = setup.scratch / f"fuzz-{protocol}"
    command = [
        str(programs / "mcp-fuzzer"), "--mode", "all", "--phase", "both", "--protocol", protocol,
        "--endpoint", endpoint, "--runs", str(RUNS), "--runs-per-type", str(RUNS), "--seed", SEED, "--no-network",
        "--no-corpus", "--timeout", "20", "--output-dir", str(out), "--fs-root", str(setup.scratch / "files"),
    ]  # fmt: skip
    done = run_program(command, setup.client_env(programs), setup.scratch, TIMEOUT)
    summary = json.loads((out / "run_summary.json").read_text("utf-8"))
    assert str(summary["status"]).startswith("complete"), summary["status"]
    found = {kind: count for kind, count in summary["findings"]["by_category"].items() if kind not in HARMLESS}
    assert not found, f"{found}: {done.stdout[-600:]}"
    for line in ("Total Crashes: 0", "Total Exceptions: 0", f"Total Tools Tested: {len(TOOLS)}"):
        assert line in done.stdout, f"no {line!r} in {done.stdout[-900:]}"
