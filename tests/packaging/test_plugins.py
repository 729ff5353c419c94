"""The plugins and their marketplaces are generated from one source, and their parts are those of Keyhole."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import agent_plugins
from keyhole.serve.tools import tool_list
from tests.packaging.test_packaging import ROOT

PARTS = (agent_plugins.FOLDER, agent_plugins.PORTABLE, *agent_plugins.marketplaces())
SKILL = agent_plugins.SKILLS / "reading-with-a-budget" / "SKILL.md"


def files_below(root: Path) -> dict[str, bytes]:
    """Return the files of the plugin and the marketplaces by their paths."""
    paths = [path for part in PARTS for path in ((root / part).rglob("*") if (root / part).is_dir() else [root / part])]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def test_the_plugins_are_up_to_date(tmp_path: Path) -> None:
    agent_plugins.write(tmp_path)
    assert files_below(ROOT) == files_below(tmp_path), "run: python packaging/agent_plugins.py"


def test_the_skill_is_short_and_names_only_tools_and_arguments_that_exist() -> None:
    text = SKILL.read_text("utf-8")
    assert len(text.splitlines()) <= 60
    schemas = {tool.name: tool.input_schema["properties"] for tool in tool_list()}
    calls = re.findall(r"`(web_fetch|search|read_artifact)\(([^`]*)\)`", text)
    assert {name for name, _ in calls} == set(schemas)
    for name, arguments in calls:
        assert set(re.findall(r"(\w+)=", arguments)) <= set(schemas[name]), arguments


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_hook_does_nothing_and_succeeds_where_keyhole_is_not_installed(client: str) -> None:
    hooks = json.loads((ROOT / agent_plugins.FOLDER / "hooks" / f"{client}.json").read_text("utf-8"))
    command = hooks["hooks"]["PostToolUse"][0]["hooks"][0]["command"]
    done = subprocess.run(["/bin/sh", "-c", command], env={"PATH": "/nonexistent"}, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
