"""The protocol's own conformance suite against Keyhole: all that is scored, of both revisions.

Against `conformance_server.py`, which has the suite's fixtures beside Keyhole's own handlers, and those scenarios that
need none against `keyhole serve --http` as it ships.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

from .stage import Stage, serve_http
from .steps import Steps, run_program

PACKAGES = ("@modelcontextprotocol/conformance", "node")
"""With a Node of its own: the suite wants 22."""

SCORED = {"2025-11-25": 30, "2026-07-28": 37}
"""Scenarios that count, by revision, in the pinned version of the suite."""

BARE = {
    "2025-11-25": {
        "server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection",
        "server-session-lifecycle",
    },
    "2026-07-28": {
        "tools-list", "server-sse-multiple-streams", "sep-2164-resource-not-found", "dns-rebinding-protection",
        "http-header-validation", "input-required-result-unsupported-methods",
    },
}  # fmt: skip
"""Scenarios that need no fixture, scored or not."""

_OUTCOME = re.compile(r"^([✓✗]) (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)
_ASIDE = re.compile(r"^  [✓✗] (\S+) \(", re.MULTILINE)

Ran = tuple[set[str], set[str], set[str]]
"""The scenarios that passed, those that failed, and which of them are not scored."""


def check(steps: Steps, stage: Stage, programs: Path) -> None:
    """Both revisions, with fixtures and without."""
    fixtures = (sys.executable, "-m", "tests.clients.conformance_server")
    with serve_http(stage, fixtures) as url:
        for revision, count in SCORED.items():
            name = f"conformance {revision}: all {count} scored scenarios pass"
            steps.run(name, partial(_check_scored, stage, programs, url, revision))
    with serve_http(stage) as url:
        for revision, bare in BARE.items():
            name = f"conformance {revision}: {len(bare)} scenarios pass that need no fixtures, as Keyhole ships"
            steps.run(name, partial(_check_bare, stage, programs, url, revision))


def _run(stage: Stage, programs: Path, url: str, revision: str) -> Ran:
    command = [str(programs / "conformance"), "server", "--url", url, "--requirements", revision]
    done = run_program(command, stage.client_env(programs), stage.scratch)
    found = _OUTCOME.findall(done.stdout)
    assert found, f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}"
    failed = {name for mark, name, _, faults in found if mark == "✗" or faults != "0"}
    return {name for _, name, _, _ in found} - failed, failed, set(_ASIDE.findall(done.stdout))


def _check_scored(stage: Stage, programs: Path, url: str, revision: str) -> None:
    passed, failed, aside = _run(stage, programs, url, revision)
    assert not failed - aside, f"failed: {', '.join(sorted(failed - aside))}"
    assert len(passed - aside) == SCORED[revision], f"{len(passed - aside)} passed"


def _check_bare(stage: Stage, programs: Path, url: str, revision: str) -> None:
    passed, _, _ = _run(stage, programs, url, revision)
    assert passed >= BARE[revision], f"failed: {', '.join(sorted(BARE[revision] - passed))}"
