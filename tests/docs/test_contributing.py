"""The recipes of CONTRIBUTING.md work: each is applied to a copy of the package, in the files that it names alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
Run = Callable[..., str]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return the folder of a copy of the package."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(ROOT / "server" / "keyhole", tmp_path / "server" / "keyhole", ignore=ignored))


@pytest.fixture
def run(copy: Path, tmp_path: Path) -> Run:
    """Return the function that runs Python with the copy of the package, and returns its output."""

    def run(*words: str, data: str = "") -> str:
        settings = {"KEYHOLE_HOME": str(tmp_path / "home"), "KEYHOLE_CONFIG": "off", "HOME": str(tmp_path)}
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(copy.parent), **settings}
        command = [sys.executable, *words]
        return subprocess.run(
            command, input=data, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    return run


def files_of(heading: str) -> set[str]:
    """Return the files of the package that a recipe names, relative to the package."""
    recipe = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return {name.replace("NAME", "acme") for name in re.findall(r"`server/keyhole/([\w/]+\.py)`", recipe)}


def insert(path: Path, before: str, text: str) -> None:
    """Insert a text before another one, which the file has once."""
    content = path.read_text(encoding="utf-8")
    assert content.count(before) == 1
    path.write_text(content.replace(before, text + before), encoding="utf-8")


def changed_files(copy: Path) -> set[str]:
    """Return the files of the copy that the package has not, or has with other bytes."""
    files = {str(path.relative_to(copy)): path for path in copy.rglob("*.py")}
    originals = ROOT / "server" / "keyhole"
    return {
        name for name, path in files.items()
        if not (originals / name).exists() or path.read_bytes() != (originals / name).read_bytes()
    }  # fmt: skip


def test_an_engine_is_added_in_two_files(copy: Path, run: Run) -> None:
    engines, config = copy / "websearch" / "engines", copy / "config" / "config.py"
    code = (engines / "mojeek.py").read_text(encoding="utf-8")
    (engines / "acme.py").write_text(code.replace("Mojeek", "Acme").replace("mojeek", "acme"), encoding="utf-8")
    config.write_text(config.read_text(encoding="utf-8").replace('"mojeek")', '"mojeek", "acme")'), encoding="utf-8")
    insert(config, "    rerank_url: str = setting(", '    acme_key: str = setting("", "key", "a key", parsers.key)\n')
    program = (
        "from keyhole.config.config import Config; from keyhole.websearch.registry import build_engines; "
        "print(*build_engines(Config(acme_key='secret'), None))"
    )
    assert "acme" in run("-c", program).split()
    assert "acme_key" in run("-m", "keyhole", "config")
    assert changed_files(copy) == files_of("Add a search engine")


def test_a_format_is_added_in_two_files(copy: Path, run: Run) -> None:
    reader = """
from keyhole.records import Document

def read_acme(body):
    return Document(title="", text=body.text().replace(";", "\\n"), media_type="")
"""
    (copy / "extract" / "formats" / "acme.py").write_text(reader, encoding="utf-8")
    insert(copy / "extract" / "document.py", '    "text/csv": ', '    "application/acme": "acme.read_acme",\n')
    program = (
        "import keyhole; "
        "print(keyhole.extract(b'a pump;a seal', url='https://a.example/', content_type='application/acme').text)"
    )
    assert run("-c", program) == "a pump\na seal\n"
    assert changed_files(copy) == files_of("Add a format")


def test_a_client_with_hooks_is_added_in_four_files(copy: Path, run: Run) -> None:
    cli = copy / "cli"
    shutil.copy(cli / "hook" / "copilot.py", cli / "hook" / "acme.py")
    insert(cli / "hook" / "program.py", '"opencode")', '"acme", ')
    install = copy / "extensions" / "install"
    events, clients = install / "doctor" / "hook_events.py", install / "hook_clients.py"
    insert(events, '    "copilot": ("modified', '    "acme": ("modifiedResult", "textResultForLlm"),\n')
    insert(
        events, '        "opencode": {\n',
        '        "acme": {"toolName": "bash", "toolArgs": call, "toolResult": {"textResultForLlm": output}},\n',
    )  # fmt: skip
    insert(
        clients, '    HookClient(\n        _hook_file(\n            "opencode"',
        '    HookClient(_hook_file("gemini", _copilot, ".gemini/hooks.json", "page"), "acme", "after", "posix"),\n',
    )  # fmt: skip
    names = "from keyhole.extensions.install.doctor.hook_events import large_output, make_event"
    program = f"{names}; print(make_event('acme', large_output()).decode())"
    answer = json.loads(run("-m", "keyhole", "hook", "acme", data=run("-c", program)))
    assert "unknown type name lamp_t" in answer["modifiedResult"]["textResultForLlm"]
    assert "hook acme" in run("-m", "keyhole", "install", "gemini", "--hooks-only", "--print")
    assert changed_files(copy) == files_of("Add a client with hooks")
