"""What the pages say of other programs names the version that was measured, which is the pinned one."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.extraction.peers.peers import PEERS
from benchmarks.server.startup import PEER_VERSION
from tests.support.documentation import PAGES, ROOT

TABLE: dict[str, Any] = tomllib.loads((ROOT / "benchmarks" / "peers.toml").read_text("utf-8"))
PEER_PAGES = [*PAGES, ROOT / "SECURITY.md", ROOT / "benchmarks" / "README.md"]
NO_FIGURES = {"lxml", "selectolax"}
"""Parsers whose time is shown as the least that any extraction takes."""
CLIENTS = {
    "Codex": "@openai/codex",
    "Copilot CLI": "@github/copilot",
    "@google/gemini-cli": "@google/gemini-cli",
    "opencode-ai": "opencode-ai",
    "a run of": "@anthropic-ai/claude-code",
}
"""The words before a version in the table of clients' limits, and the package that the tests with real clients pin."""


def pins() -> dict[str, set[str]]:
    """Return the versions with which the benchmarks and the tests install each program of the table."""
    found: dict[str, set[str]] = {"mcp-server-fetch": {PEER_VERSION}}
    for peer in PEERS:
        package = re.split("==|(?<!^)@", peer.packages[0])[0].removeprefix("@mozilla/")
        found.setdefault(package, set()).add(peer.version)
    locked = (ROOT / "requirements.txt").read_text("utf-8")
    found["playwright"] = set(re.findall(r"^playwright==(\d+\.\d+)", locked, re.MULTILINE))
    programs = (ROOT / "tests" / "clients" / "programs.txt").read_text("utf-8")
    for package, version in re.findall(r"([\w-]+)==([\w.]+)", programs):
        found.setdefault(package, set()).add(version)
    return found


def named_versions(text: str, name: str) -> set[str]:
    """Return the versions that a text names directly after a program, such as `crawl4ai, fit 0.9.5`."""
    return set(re.findall(rf"(?i)\b{re.escape(name)}(?:, [a-z ]{{1,20}})? (\d+(?:\.\d+)+)", text))


@pytest.mark.parametrize("name", TABLE)
def test_a_pinned_version_is_the_one_that_was_measured(name: str) -> None:
    assert pins().get(name.lower(), set()) <= {TABLE[name]["version"]}, (
        "measure again, then change benchmarks/peers.toml"
    )


def test_every_program_that_a_benchmark_installs_is_in_the_table() -> None:
    installed = {re.split("==|(?<!^)@", peer.packages[0])[0].removeprefix("@mozilla/") for peer in PEERS}
    assert installed - NO_FIGURES <= set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_measurement_has_its_day_and_a_benchmark_that_exists(name: str) -> None:
    assert set(TABLE[name]) == {"version", "measured"}
    for module, day in TABLE[name]["measured"].items():
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
        assert isinstance(day, datetime.date)


@pytest.mark.parametrize("page", PEER_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_the_measured_version_of_each_program_with_figures(page: Path) -> None:
    text = page.read_text("utf-8")
    for name, entry in TABLE.items():
        named = named_versions(text, name)
        assert named <= {entry["version"]}, name
        figures = re.findall(rf"(?im)^.*\b{name}\b(?! MCP).*(?:\d %|\|$)", text)
        assert named or not figures, f"name the version of {name}"


@pytest.mark.parametrize("words", CLIENTS)
def test_the_limits_of_a_client_are_those_of_the_version_that_is_tested(words: str) -> None:
    pinned = json.loads((ROOT / "tests" / "clients" / "package.json").read_text("utf-8"))["dependencies"]
    text = (ROOT / "docs" / "reference" / "clients.md").read_text("utf-8")
    stated = re.findall(rf"{re.escape(words)} (\d+(?:\.\d+)+)", text)
    assert stated and all(f"{pinned[CLIENTS[words]]}.".startswith(f"{version}.") for version in stated)
