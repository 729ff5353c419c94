"""Run security scanners that need no network on Keyhole's source and its running server.

Every finding must be in ACCEPTED, and every entry of ACCEPTED must still be found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from .npm import InstallError
from .pip import PINNED, install_from_pypi
from .setup import SERVER, Setup, serve_http
from .steps import Steps, run_program
from .tool_calls import TOOLS

Finding = tuple[str, str]
"""A scanner's rule, and where it was found: a file under server/keyhole, or "server"."""

_NAMES: Final = "the statement is built from constant names of columns and tables; values are bound"
_KEY: Final = "the name of a key in Codex's file, not a secret"
_HOME: Final = "the path is a fixed name in the folder of KEYHOLE_HOME"
ACCEPTED: Final[dict[Finding, str]] = {
    ("B106", "extensions/install/clients.py"): _KEY,
    ("B108", "outputs/hooks/copilot.py"): "a file there is read only if it belongs to this user, and is never written",
    ("B110", "cli/hook_command.py"): "a hook that fails must print nothing, so that the result stays as it is",
    (
        "B106",
        "extensions/hosted/authenticate.py",
    ): "anonymous users have an empty token, which no header can contain",
    ("B604", "cli/completion.py"): "`shell` names the shell that the script is for; no shell is started",
    ("B606", "serve/shared/link.py"): "starts Keyhole's own server with the Python that runs",
    ("B606", "cli/shell_command.py"): "starts the shell of the client, with the command that it runs anyway",
    ("B608", "store/calls/queries.py"): _NAMES,
    ("B608", "extensions/postgresql/call_tables.py"): _NAMES,
    ("B608", "extensions/postgresql/calls.py"): _NAMES,
    ("B608", "extensions/postgresql/sweep.py"): _NAMES,
    ("B608", "extensions/postgresql/store.py"): _NAMES,
    ("B608", "extensions/postgresql/tenant_tables.py"): _NAMES,
    ("B608", "extensions/postgresql/artifacts.py"): _NAMES,
    ("B608", "store/sqlite/damage.py"): _NAMES,
    ("B608", "store/sqlite/rows.py"): _NAMES,
    ("B608", "store/sqlite/space.py"): _NAMES,
    ("B608", "store/sqlite/store.py"): _NAMES,
    ("B608", "store/sqlite/word_index.py"): _NAMES,
    (
        "MCP001",
        "extensions/install/opencode_plugin.js",
    ): "starts the command that `install` wrote; the result is its input",
    ("MCP003", "cli/commands.py"): "a line of the help of `keyhole completion`",
    ("MCP007", "text/data_file.py"): "modules name their own data files",
    ("MCP007", "outputs/hooks/keep.py"): _HOME,
    ("MCP007", "outputs/running_output.py"): _HOME,
    ("MCP007", "extensions/browser/supervisor.py"): "the path has the number of a process of the browser",
    ("MCP005", "extensions/install/clients.py"): _KEY,
    ("MCP005", "store/sqlite/schema.py"): "`tokenize` is an option of SQLite's full-text search, not a secret",
    (
        "MCPS-001",
        "server",
    ): "the test runs on loopback; hosted servers are behind a TLS proxy, see docs/hosting/hosting.md",
    (
        "MCPS-002",
        "server",
    ): "the test runs on loopback; on other addresses the server requires authentication by default",
}
"""Accepted findings, each with the reason why it is not a fault."""

SCAN_TIMEOUT: Final = 120.0
"""Seconds for one scan; the largest scanner takes 6 s to start."""

SKIPPED: Final = "B101,B404,B603"
"""Rules of bandit for assertions and for the start of processes: ruff has the same (S101, S404, S603), and the source
states a reason beside each assertion."""

BANDIT, MCPSCAN, CISCO = "bandit", "mcpscan-cli", "cisco-ai-mcp-scanner"


def check(steps: Steps, setup: Setup, _programs: Path) -> None:
    """Run each scanner that can be installed."""
    scans: dict[str, Callable[[Setup, Path], set[Finding]]] = {BANDIT: _bandit, MCPSCAN: _mcpscan, CISCO: _cisco}
    for name, scan in scans.items():
        try:
            programs = install_from_pypi(name)
        except InstallError as reason:
            steps.skip(name, str(reason))
            continue
        steps.run(f"{name} {PINNED[name]}: only accepted findings", partial(_check, name, scan, setup, programs))


def _check(name: str, scan: Callable[[Setup, Path], set[Finding]], setup: Setup, programs: Path) -> None:
    found = scan(setup, programs)
    known = {finding for finding in ACCEPTED if re.match(_RULES[name], finding[0])}
    assert not found - known, f"found: {sorted(found - known)}"
    assert not known - found, f"accepted but no longer found: {sorted(known - found)}"


_RULES: Final = {BANDIT: r"B\d", MCPSCAN: r"MCP\d", CISCO: r"MCPS-|[a-z]"}
"""A pattern for the names of each scanner's rules."""


def _report(setup: Setup, programs: Path, *words: str) -> Any:
    env = {**setup.client_env(programs), **setup.settings, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = run_program([str(programs / words[0]), *words[1:]], env, setup.scratch, SCAN_TIMEOUT)
    text = done.stdout
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    assert start >= 0, f"exit {done.returncode}: {text[-300:]} {done.stderr[-300:]}"
    return json.loads(text[start:])


def _relative_path(path: str) -> str:
    return path.partition("keyhole/")[2].partition(":")[0]


def _bandit(setup: Setup, programs: Path) -> set[Finding]:
    report = _report(setup, programs, "bandit", "-q", "-s", SKIPPED, "-r", str(SERVER / "keyhole"), "-f", "json")
    assert not report["errors"], report["errors"]
    return {(each["test_id"], _relative_path(each["filename"].removeprefix(str(SERVER)))) for each in report["results"]}


def _mcpscan(setup: Setup, programs: Path) -> set[Finding]:
    report = _report(setup, programs, "mcpscan", str(SERVER), "--json")
    return {(each["rule_id"], _relative_path(each["path"])) for each in report["findings"]}


def _cisco(setup: Setup, programs: Path) -> set[Finding]:
    """Apply its YARA rules to the tools and the instructions, and run its protocol checks."""
    yara = ("mcp-scanner", "--analyzers", "yara", "--raw")
    program, *words = setup.command
    local = [f"--stdio-arg={word}" for word in words]
    tools = _report(setup, programs, *yara, "stdio", "--stdio-command", program, *local)
    with serve_http(setup) as url:
        instructions = _report(setup, programs, *yara, "instructions", "--server-url", url)
        protocol = _report(setup, programs, "mcp-scanner", "protocol", "--server-url", url)
    assert {each["tool_name"] for each in tools} == TOOLS, tools
    unsafe = [each for each in (*tools, *instructions) if not each["is_safe"]]
    found = {(each["details"]["check_id"], "server") for each in protocol["findings"]}
    return found | {("yara", str(each.get("tool_name", "instructions"))) for each in unsafe}
