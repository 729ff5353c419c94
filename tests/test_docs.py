"""The README's tables, transcript and examples are what the code does; its configurations start the server."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from readme import README, ROOT, rendered

TEXT = README.read_text(encoding="utf-8")


def test_the_generated_parts_of_the_readme_are_up_to_date() -> None:
    assert rendered(TEXT) == TEXT, "run: python tests/readme.py"


def test_the_readme_has_its_parts_in_order() -> None:
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert headings == [
        "What comes back", "Try it", "Register", "The three tools", "Settings", "Errors", "What Keyhole does not do",
    ]  # fmt: skip


def test_the_python_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    scope: dict[str, Any] = {"print": lambda *values: None}
    exec(compile(example, "README.md", "exec"), scope)  # noqa: S102 - our own example
    assert scope["document"].title == "Pumps"
    assert "40 rpm" in scope["selection"].text


def configurations() -> dict[str, dict[str, Any]]:
    """Every registration block of the README and the example file, by client."""
    (codex,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    desktop, vscode = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
    example = json.loads((ROOT / "mcp.json.example").read_text(encoding="utf-8"))
    return {
        "example": example["mcpServers"]["keyhole"],
        "desktop": desktop["mcpServers"]["keyhole"],
        "codex": tomllib.loads(codex)["mcp_servers"]["keyhole"],
        "vscode": vscode["servers"]["keyhole"],
    }


@pytest.mark.parametrize("client", ["example", "desktop", "codex", "vscode"])
def test_a_registration_block_starts_the_server(client: str, tmp_path: Path) -> None:
    block = configurations()[client]
    scripts = str(Path(sys.executable).parent)
    environment = {
        "PATH": os.pathsep.join([scripts, os.environ["PATH"]]),
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(tmp_path),
    }
    command = str(Path(scripts) / Path(block["command"]).name)  # the placeholder folder filled in
    server = StdioServerParameters(command=command, args=block["args"], env=environment)

    async def names() -> list[str]:
        async with Client(server) as session:
            return [tool.name for tool in (await session.list_tools()).tools]

    assert anyio.run(names) == ["web_fetch", "search", "read_artifact"]


def test_the_constants_of_the_search_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_.]+)\.([A-Z_]+)` \| ([0-9./]+) \|", text, re.MULTILINE)
    assert len(rows) > 15
    for module, name, value in rows:
        assert getattr(import_module(f"keyhole.{module}"), name) == float(Fraction(value)), name


@pytest.mark.parametrize("path", [README, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name)
def test_every_link_to_a_file_leads_to_one(path: Path) -> None:
    for link in re.findall(r"\]\(((?!https?:|#)[\w./-]+)[)#]", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link
