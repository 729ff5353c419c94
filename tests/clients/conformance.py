"""Run the MCP conformance suite against Keyhole, for both protocol revisions.

All scored scenarios run against `conformance_server.py`, which adds the suite's fixtures to Keyhole's handlers, and
against the proxy in front of it. The scenarios that need no fixtures also run against `keyhole serve --http`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Set
from functools import partial
from pathlib import Path

from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .setup import PROXY, Setup, serve_http
from .steps import Steps, run_program

PACKAGES = ("@modelcontextprotocol/conformance", "node")
"""Includes Node, because the suite needs version 22."""

SCORED = {"2025-11-25": 30, "2026-07-28": 37}
"""Number of scored scenarios in the pinned version of the suite, by revision."""

WITHOUT_FIXTURES = {
    "2025-11-25": {
        "server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection",
        "server-session-lifecycle",
    },
    "2026-07-28": {
        "tools-list", "server-sse-multiple-streams", "sep-2164-resource-not-found", "dns-rebinding-protection",
        "http-header-validation", "input-required-result-unsupported-methods",
    },
}  # fmt: skip
"""Scenarios that need no fixtures, scored or not."""

STDIO_DIFFERS = {"server-stateless"}
"""Scenarios that fail for a server over stdio, which may know `initialize` beside the newer protocol. In legacy eras,
such a server is started for each session, which takes more time than the tests have."""

_RESULT = re.compile(r"^([✓✗]) (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)
_UNSCORED = re.compile(r"^  [✓✗] (\S+) \(", re.MULTILINE)

Outcome = tuple[set[str], set[str], set[str]]
"""The scenarios that passed, those that failed, and those that are not scored."""


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Run both revisions, with fixtures and without."""
    fixtures = (sys.executable, "-m", "tests.clients.conformance_server")
    with (
        serve_http(setup, fixtures) as url,
        serve_http(setup, (*PROXY, "--http", "--url", url)) as proxy,
        serve_http(setup, (*PROXY, "--http"), behind=(*fixtures, "--stdio")) as stdio_proxy,
    ):
        for revision, count in SCORED.items():
            name = f"conformance {revision}: all {count} scored scenarios pass"
            direct = steps.run(name, partial(_check_scored, setup, programs, url, revision))
            if direct is not None:
                name = f"conformance {revision}: every scenario, scored or not, ends behind the proxy as without it"
                steps.run(name, partial(_check_proxied, setup, programs, proxy, revision, direct))
            if direct is not None and revision in MODERN_PROTOCOL_VERSIONS:
                name = f"conformance {revision}: so does a server over stdio, but for its answer to initialize"
                check = partial(_check_proxied, setup, programs, stdio_proxy, revision, direct, STDIO_DIFFERS)
                steps.run(name, check)
    with serve_http(setup) as url:
        for revision, scenarios in WITHOUT_FIXTURES.items():
            name = f"conformance {revision}: {len(scenarios)} scenarios pass that need no fixtures, as Keyhole ships"
            steps.run(name, partial(_check_without_fixtures, setup, programs, url, revision))


def _run(setup: Setup, programs: Path, url: str, revision: str) -> Outcome:
    command = [str(programs / "conformance"), "server", "--url", url, "--requirements", revision]
    done = run_program(command, setup.client_env(programs), setup.scratch)
    found = _RESULT.findall(done.stdout)
    assert found, f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}"
    failed = {name for mark, name, _, faults in found if mark == "✗" or faults != "0"}
    return {name for _, name, _, _ in found} - failed, failed, set(_UNSCORED.findall(done.stdout))


def _check_scored(setup: Setup, programs: Path, url: str, revision: str) -> Outcome:
    passed, failed, unscored = _run(setup, programs, url, revision)
    assert not failed - unscored, f"failed: {', '.join(sorted(failed - unscored))}"
    assert len(passed - unscored) == SCORED[revision], f"{len(passed - unscored)} passed"
    return passed, failed, unscored


def _check_proxied(
    setup: Setup, programs: Path, url: str, revision: str, direct: Outcome, differing: Set[str] = frozenset()
) -> None:
    passed, failed, unscored = _run(setup, programs, url, revision)
    assert passed ^ direct[0] <= differing, f"other outcomes: {', '.join(sorted(passed ^ direct[0]))}"
    assert passed | failed == direct[0] | direct[1] and unscored == direct[2], "other scenarios were run"


def _check_without_fixtures(setup: Setup, programs: Path, url: str, revision: str) -> None:
    passed, _, _ = _run(setup, programs, url, revision)
    assert passed >= WITHOUT_FIXTURES[revision], f"failed: {', '.join(sorted(WITHOUT_FIXTURES[revision] - passed))}"
