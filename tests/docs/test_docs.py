"""The README and the pages it leads to: order, figures, links; its configurations start the server."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections import Counter
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from keyhole.config.schema import SETTINGS
from keyhole.errors import RULES
from tests.support.documentation import DOCS, PAGES, README, ROOT

TEXT = README.read_text(encoding="utf-8")


def test_the_readme_has_its_parts_in_order() -> None:
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert headings == [
        "What comes back", "Try it", "Register", "The three tools", "Measured", "Settings", "Errors",
        "What Keyhole does not do", "Documentation",
    ]  # fmt: skip


def test_the_readme_names_every_page_of_the_documentation() -> None:
    pages = {page.relative_to(ROOT).as_posix() for page in PAGES if page != README}
    assert pages <= set(re.findall(r"\]\(([\w./-]+)\)", TEXT))


def test_every_setting_and_code_stands_in_the_reference_once() -> None:
    settings = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    assert Counter(re.findall(r"^\| `(KEYHOLE_\w+)`", settings, re.MULTILINE)) == Counter(
        row.variable for row in SETTINGS
    )
    errors = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert Counter(re.findall(r"^\| `(\w+)` \| (?:yes|no) ", errors, re.MULTILINE)) == Counter(map(str, RULES))


def test_a_figure_of_the_readme_stands_in_the_page_that_it_names() -> None:
    for figures, pages in re.findall(r"^\| [^|]+\? \| ([^|]+) \| ([^|]+) \|$", TEXT, re.MULTILINE):
        (page,) = re.findall(r"\(([\w./-]+)\)", pages)
        text = (ROOT / page).read_text(encoding="utf-8") + (ROOT / "benchmarks" / "README.md").read_text(
            encoding="utf-8"
        )
        for figure in re.findall(r"\d[\d,]*\.\d+|\d,\d{3}|\d{3,}", figures):
            assert figure in text, figure


def configurations() -> dict[str, dict[str, Any]]:
    """The registration block of the README, those of the quick start that differ, and the example file, by client."""
    (desktop,) = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL))
    quick = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    (codex,) = re.findall(r"```toml\n(.*?)```", quick, re.DOTALL)
    (vscode,) = (
        json.loads(block) for block in re.findall(r"```json\n(.*?)```", quick, re.DOTALL) if '"servers"' in block
    )
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
    text = (ROOT / "docs" / "how-it-works" / "search.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_.]+)\.([A-Z_]+)` \| ([0-9./]+) \|", text, re.MULTILINE)
    assert len(rows) > 15
    for module, name, value in rows:
        assert getattr(import_module(f"keyhole.{module}"), name) == float(Fraction(value)), name


@pytest.mark.parametrize("path", [*PAGES, ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"], ids=lambda path: path.name)
def test_every_link_to_a_file_leads_to_one(path: Path) -> None:
    for link in re.findall(r"\]\(((?!https?:|#)[\w./-]+)[)#]", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link
