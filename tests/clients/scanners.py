"""Security scanners that need no network, against Keyhole's source and its running server. What they find is none of
these: mended, or argued in ACCEPTED, whose entries must all be true."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from .npm import NotBroughtError
from .pip import PINNED, bring_python
from .stage import SERVER, Stage, serve_http
from .steps import Steps, run_program
from .tour import TOOLS

Finding = tuple[str, str]
"""A scanner's rule, and where it holds it to be broken: a file under server/keyhole, or the server."""

_NAMES: Final = "put together of names of columns and tables that are constants, values are bound"
_TYPES: Final = "for the type checker: it holds by the lines before, also where Python leaves it out"
ACCEPTED: Final[dict[Finding, str]] = {
    ("B101", "installing/jsonc.py"): _TYPES,
    ("B101", "installing/looking.py"): _TYPES,
    ("B101", "serving.py"): _TYPES,
    ("B101", "worker/pool.py"): _TYPES,
    ("B106", "hosting/identity.py"): "the token of nobody is an empty string, which no header can hold",
    ("B311", "fetch/manners.py"): "spreads pauses between requests; nothing is kept secret by it",
    (
        "B604",
        "terminal/completion.py",
    ): "`shell` is the name of the shell that a script is printed for; none is started",
    ("B608", "replicas/tables.py"): _NAMES,
    ("B608", "store/postgres.py"): _NAMES,
    ("B608", "store/postgres_keys.py"): _NAMES,
    ("B608", "store/postgres_reads.py"): _NAMES,
    ("B608", "store/postgres_totals.py"): _NAMES,
    ("B608", "store/sqlite_damage.py"): _NAMES,
    ("B608", "store/sqlite_keys.py"): _NAMES,
    ("B608", "store/sqlite_rows.py"): _NAMES,
    ("MCP005", "store/sqlite_schema.py"): "`tokenize` is an option of SQLite's full-text search and no token",
    ("MCPS-001", "server"): "on loopback; hosting is behind a proxy that speaks TLS, as docs/hosting/hosting.md shows",
    ("MCPS-002", "server"): "on loopback; other addresses are refused without tokens unless the operator says so",
}
"""Each with why it is none."""

SLOWEST: Final = 120.0
"""Seconds for one scan: the largest takes 6 to load itself."""

BANDIT, MCPSCAN, CISCO = "bandit", "mcpscan-cli", "cisco-ai-mcp-scanner"


def check(steps: Steps, stage: Stage, _programs: Path) -> None:
    """Each scanner that can be brought here."""
    scans: dict[str, Callable[[Stage, Path], set[Finding]]] = {BANDIT: _bandit, MCPSCAN: _mcpscan, CISCO: _cisco}
    for name, scan in scans.items():
        try:
            programs = bring_python(name)
        except NotBroughtError as reason:
            steps.skip(name, str(reason))
            continue
        steps.run(f"{name} {PINNED[name]}: nothing but what is argued", partial(_check, name, scan, stage, programs))


def _check(name: str, scan: Callable[[Stage, Path], set[Finding]], stage: Stage, programs: Path) -> None:
    found = scan(stage, programs)
    known = {finding for finding in ACCEPTED if re.match(_RULES[name], finding[0])}
    assert not found - known, f"found: {sorted(found - known)}"
    assert not known - found, f"no longer found, so not to be argued: {sorted(known - found)}"


_RULES: Final = {BANDIT: r"B\d", MCPSCAN: r"MCP\d", CISCO: r"MCPS-|[a-z]"}
"""How the rules of each scanner begin."""


def _report(stage: Stage, programs: Path, *words: str) -> Any:
    env = {**stage.client_env(programs), **stage.settings, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = run_program([str(programs / words[0]), *words[1:]], env, stage.scratch, SLOWEST)
    text = done.stdout
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    assert start >= 0, f"exit {done.returncode}: {text[-300:]} {done.stderr[-300:]}"
    return json.loads(text[start:])


def _place(path: str) -> str:
    return path.partition("keyhole/")[2].partition(":")[0]


def _bandit(stage: Stage, programs: Path) -> set[Finding]:
    report = _report(stage, programs, "bandit", "-q", "-r", str(SERVER / "keyhole"), "-f", "json")
    assert not report["errors"], report["errors"]
    return {(each["test_id"], _place(each["filename"].removeprefix(str(SERVER)))) for each in report["results"]}


def _mcpscan(stage: Stage, programs: Path) -> set[Finding]:
    report = _report(stage, programs, "mcpscan", str(SERVER), "--json")
    return {(each["rule_id"], _place(each["path"])) for each in report["findings"]}


def _cisco(stage: Stage, programs: Path) -> set[Finding]:
    """Its YARA rules over the tools and the instructions, and its checks of the protocol."""
    yara = ("mcp-scanner", "--analyzers", "yara", "--raw")
    program, *words = stage.command
    local = [f"--stdio-arg={word}" for word in words]
    tools = _report(stage, programs, *yara, "stdio", "--stdio-command", program, *local)
    with serve_http(stage) as url:
        said = _report(stage, programs, *yara, "instructions", "--server-url", url)
        protocol = _report(stage, programs, "mcp-scanner", "protocol", "--server-url", url)
    assert {each["tool_name"] for each in tools} == TOOLS, tools
    unsafe = [each for each in (*tools, *said) if not each["is_safe"]]
    found = {(each["details"]["check_id"], "server") for each in protocol["findings"]}
    return found | {("yara", str(each.get("tool_name", "instructions"))) for each in unsafe}
