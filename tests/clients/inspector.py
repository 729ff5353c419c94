"""Call Keyhole with the MCP Inspector's command line, over both transports and in both protocol eras."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from .setup import QUESTION, Setup, serve_http
from .steps import Steps, run_program
from .tool_calls import TOOLS, Reply, check_tools, read_reply

PACKAGES = ("@modelcontextprotocol/inspector", "node")
"""Includes Node, because the Inspector needs a newer version than many systems have."""

REVISIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
TOOL_ERROR = 5
"""The Inspector's exit code for a result with isError."""


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """List, lint and call over stdio and HTTP in both eras."""
    settings = [part for item in setup.settings.items() for part in ("-e", "=".join(item))]
    _check_transport(steps, setup, programs, "stdio", [*setup.command, *settings])
    with serve_http(setup) as url:
        _check_transport(steps, setup, programs, "http", [url, "--transport", "http"])


def _check_transport(steps: Steps, setup: Setup, programs: Path, transport: str, target: list[str]) -> None:
    for era in REVISIONS:
        where = f"inspector {transport} {era}"
        run = partial(run_method, setup, programs, target, era)
        steps.run(f"{where}: speaks revision {REVISIONS[era]}", partial(_check_revision, run, era))
        steps.run(f"{where}: tools/list --strict finds no error", partial(_check_list, run))
        check_tools(steps, where, partial(_call, run), setup.page)
        steps.run(f"{where}: lists and reads the declared resources and prompts", partial(_check_declared, run))


def run_method(
    setup: Setup, programs: Path, target: list[str], era: str, method: str, *words: str
) -> tuple[int, dict[str, Any]]:
    """Run a method with the Inspector; return its exit code and the result."""
    options = ["--protocol-era", era, "--format", "json", "--method", method, *words]
    command = [str(programs / "mcp-inspector"), "--cli", *target, *options]
    done = run_program(command, setup.client_env(programs), setup.scratch)
    assert done.stdout, f"exit {done.returncode}: {done.stderr[-500:]}"
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return done.returncode, result


def _check_revision(run: partial[tuple[int, dict[str, Any]]], era: str) -> None:
    code, result = run("initialize")
    assert (code, result["protocolVersion"]) == (0, REVISIONS[era]), result


def _check_list(run: partial[tuple[int, dict[str, Any]]]) -> None:
    code, result = run("tools/list", "--strict")
    assert code == 0, f"exit {code}: the schemas do not pass"
    assert {tool["name"] for tool in result["tools"]} == TOOLS, result


def _check_declared(run: partial[tuple[int, dict[str, Any]]]) -> None:
    """List the resources and prompts that the server declares, and read the first of each."""
    _, result = run("initialize")
    if "resources" in result["capabilities"]:
        _listed(run, "resources/templates/list", "resourceTemplates")
        for resource in _listed(run, "resources/list", "resources")[:1]:
            code, read = run("resources/read", "--uri", resource["uri"])
            assert code == 0 and read["contents"], read
    if "prompts" in result["capabilities"]:
        for prompt in _listed(run, "prompts/list", "prompts")[:1]:
            words = [f"{each['name']}={QUESTION}" for each in prompt.get("arguments", [])]
            arguments = [part for word in words for part in ("--prompt-args", word)]
            code, result = run("prompts/get", "--prompt-name", prompt["name"], *arguments)
            assert code == 0 and result["messages"], result


def _listed(run: partial[tuple[int, dict[str, Any]]], method: str, name: str) -> list[dict[str, Any]]:
    code, result = run(method)
    assert code == 0, f"{method}: exit {code}"
    found: list[dict[str, Any]] = result[name]
    return found


def _call(run: partial[tuple[int, dict[str, Any]]], tool: str, arguments: dict[str, Any]) -> Reply:
    code, result = run("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
    reply = read_reply(result)
    assert code == (TOOL_ERROR if reply.is_error else 0), f"exit {code}: {reply.text}"
    return reply
