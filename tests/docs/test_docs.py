"""The README and the documentation: headings, figures and links; registration blocks start the server."""

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
import picture
import pytest
from mcp import Client, StdioServerParameters

from keyhole.config.config import SETTINGS
from keyhole.errors import RULES
from keyhole.extensions.install.clients import CLIENTS
from tests.support.console import run_command, temporary_installation
from tests.support.documentation import DOCS, PAGES, README, ROOT, benchmark_table

TEXT = README.read_text(encoding="utf-8")


def test_the_readme_has_its_headings_in_order() -> None:
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert headings == [
        "What it does", "Try it and check it", "Limits", "Documentation",
    ]  # fmt: skip


def test_the_readme_has_at_most_700_words() -> None:
    assert len(TEXT.split()) <= 700


def test_the_first_screen_of_the_readme_has_one_picture_one_command_one_question_and_one_line_of_figures() -> None:
    first = TEXT.partition("\n## ")[0]
    assert (first.count("<picture>"), first.count("```console"), first.count("?*")) == (1, 1, 1)
    assert "(docs/benchmarks.md)" in first and len(first.split()) <= 200


def test_one_page_links_to_every_page_of_the_documentation() -> None:
    contents = DOCS / "contents.md"
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES if page not in (README, contents)}
    assert pages <= set(re.findall(r"\]\(([\w./-]+)\)", contents.read_text(encoding="utf-8")))
    assert "(docs/contents.md)" in TEXT


def test_every_setting_and_error_code_is_in_the_reference_once() -> None:
    settings = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    assert Counter(re.findall(r"^\| `(KEYHOLE_\w+)`", settings, re.MULTILINE)) == Counter(
        row.variable for row in SETTINGS
    )
    errors = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert Counter(re.findall(r"^\| `(\w+)` \| (?:yes|no) ", errors, re.MULTILINE)) == Counter(map(str, RULES))


def test_the_figures_in_short_are_printed_by_the_benchmarks_that_they_name() -> None:
    measured = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8").partition("## How many calls")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| `([\w.]+)` \|$", text, re.MULTILINE)
    assert len(rows) == 8
    for question, plain, keyhole, module in rows:
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
        assert f"-m {module}" in measured, module
        for figure in re.findall(r"\d[\d,]*\.\d+|\d,\d{3}|\d{3,}", f"{question} {plain} {keyhole}"):
            assert figure in measured or figure == "4,000", figure


def test_the_line_of_figures_in_the_readme_is_that_of_the_reading_tasks() -> None:
    share = re.findall(r"the first call answers (\d+) % .* mcp-server-fetch ([\d.]+), (\d+) %", " ".join(TEXT.split()))
    table = benchmark_table("Reading tasks")
    (ours,) = re.findall(r"^\| keyhole \| 4,000 \| ([\d.]+) %", table, re.MULTILINE)
    ((version, theirs),) = re.findall(r"^\| mcp-server-fetch (\S+) \| 4,000 \| ([\d.]+) %", table, re.MULTILINE)
    assert share == [(f"{float(ours):.0f}", version, f"{float(theirs):.0f}")]


@pytest.mark.parametrize(
    ("page", "folder", "name"),
    [(README, "docs/shots", "output.svg"), (DOCS / "quickstart.md", "shots", "answer.svg")],
    ids=["README", "quick start"],
)
def test_a_picture_shows_the_current_result(page: Path, folder: str, name: str) -> None:
    ((about, shown_name),) = re.findall(rf"!\[(.*?)\]\({folder}/(.*?)\)", page.read_text(encoding="utf-8"))
    assert shown_name == name
    narrow = name.replace(".svg", "-narrow.svg")
    assert f'<source media="(max-width: 600px)" srcset="{folder}/{narrow}">' in page.read_text(encoding="utf-8")
    drawn = picture.PICTURES[name]()
    for file, svg in ((name, drawn), (narrow, picture.PICTURES[narrow]())):
        assert (picture.SHOTS / file).read_text("utf-8") == svg, "run: python docs/make/picture.py"
    shown = re.findall(r"[\d,]{3,}(?= characters)|(?<=the )[\d,]{3,}", about)
    assert all(figure in drawn for figure in shown) and len(shown) == 2


def printed_registration(client: str) -> dict[str, Any]:
    """Return the entry that `keyhole install CLIENT --print` prints, or that of mcp.json.example."""
    if client == "example":
        entry = json.loads((ROOT / "mcp.json.example").read_text(encoding="utf-8"))
    else:
        with temporary_installation():
            text = run_command(f"keyhole install {client} --print")
        entry = tomllib.loads(text) if client == "codex" else json.loads(text)
    (servers,) = (value for value in entry.values() if isinstance(value, dict))
    return dict(servers["keyhole"])


@pytest.mark.parametrize("client", ["example", "claude-desktop", "codex", "vscode"])
def test_a_registration_to_add_by_hand_starts_the_server(client: str, tmp_path: Path) -> None:
    block = printed_registration(client)
    scripts = str(Path(sys.executable).parent)
    environment = {
        "PATH": os.pathsep.join([scripts, os.environ["PATH"]]),
        "KEYHOLE_CONFIG": "off",
        "KEYHOLE_HOME": str(tmp_path),
    }
    command = str(Path(scripts) / Path(block["command"]).name)  # replaces the placeholder folder
    server = StdioServerParameters(command=command, args=block["args"], env=environment)

    async def names() -> list[str]:
        async with Client(server) as session:
            return [tool.name for tool in (await session.list_tools()).tools]

    assert anyio.run(names) == ["web_fetch", "search", "read_artifact"]


def test_the_documented_search_constants_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "how-it-works" / "search.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_.]+)\.([A-Z_]+)` \| ([0-9./]+) \|", text, re.MULTILINE)
    assert len(rows) > 15
    for module, name, value in rows:
        assert getattr(import_module(f"keyhole.{module}"), name) == float(Fraction(value)), name


@pytest.mark.parametrize("path", [*PAGES, ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"], ids=lambda path: path.name)
def test_every_linked_file_exists(path: Path) -> None:
    words = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", path.read_text(encoding="utf-8"))  # links in code are results
    for link in re.findall(r"\]\(((?!https?:|#)[\w./-]+)[)#]", words):
        assert (path.parent / link).exists(), link


def test_each_client_has_a_page_with_its_server_its_hook_and_its_limits() -> None:
    pages = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs" / "clients").glob("*.md")}
    assert set(pages) == {name.removesuffix("-insiders") for name in CLIENTS}
    for name, text in pages.items():
        assert f"`keyhole install {name}" in text
        assert all(f"| {fact} | " in text for fact in ("server", "hook", "result limit", "call timeout")), name


TASKS = {
    "cap every result": ("docs/tasks.md", "KEYHOLE_MAX_TOKENS"),
    "search with an own SearXNG": ("docs/tasks.md", "KEYHOLE_SEARXNG_URL"),
    "serve a team": ("docs/tasks.md", "keyhole tokens new"),
    "shorten the output of commands in Codex": ("docs/tasks.md", "keyhole install codex --hooks-only"),
    "record no calls": ("docs/tasks.md", "KEYHOLE_RECORD=off"),
    "go through a web proxy": ("docs/tasks.md", "KEYHOLE_PROXY"),
    "delete all data": ("docs/tasks.md", "keyhole forget --all"),
    "remove Keyhole": ("docs/remove.md", "keyhole uninstall --all"),
    "upgrade Keyhole": ("docs/upgrade.md", "git pull"),
    "read Word files": ("docs/installation.md", "`office` | Word"),
    "know the limits of Claude Code": ("docs/tasks.md", "limits of Claude Code"),
}
"""What newcomers look for, the page that the README links to for it, and words of that page."""


@pytest.mark.parametrize("task", TASKS)
def test_the_readme_links_to_a_page_that_says_how_to(task: str) -> None:
    page, words = TASKS[task]
    assert f"({page})" in TEXT or f"({page}#" in TEXT
    assert words in (ROOT / page).read_text(encoding="utf-8")
