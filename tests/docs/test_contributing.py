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


COPIED = ("server/keyhole", "packaging", "tests")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return the folder of a copy of the package, with a copy of the packaging and the tests beside it."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path / "server" / "keyhole"


@pytest.fixture
def run(copy: Path, tmp_path: Path) -> Run:
    """Return the function that runs Python with the copy of the package, and returns its output."""

    def run(*words: str, data: str = "") -> str:
        settings = {"KEYHOLE_HOME": str(tmp_path / "home"), "KEYHOLE_CONFIG": "off", "HOME": str(tmp_path)}
        path = os.pathsep.join(map(str, (copy.parent, tmp_path)))
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, **settings}
        command = [sys.executable, *words]
        return subprocess.run(
            command, input=data, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    return run


def recipe_of(heading: str) -> str:
    """Return the text of a recipe."""
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def files_of(heading: str) -> set[str]:
    """Return the files of the package and the packaging that a recipe names."""
    names = re.findall(r"`((?:server/keyhole|packaging)/[\w/]+\.\w+)`", recipe_of(heading))
    return {name.replace("NAME", "acme") for name in names}


def insert(path: Path, before: str, text: str) -> None:
    """Insert a text before another one, which the file has once."""
    content = path.read_text(encoding="utf-8")
    assert content.count(before) == 1
    path.write_text(content.replace(before, text + before), encoding="utf-8")


def changed_files(copy: Path) -> set[str]:
    """Return the files of the copies of the package and the packaging that are new or have other bytes."""
    root = copy.parents[1]
    paths = [path for name in ("server/keyhole", "packaging") for path in (root / name).rglob("*") if path.is_file()]
    files = {path.relative_to(root).as_posix(): path for path in paths if "__pycache__" not in path.parts}
    return {
        name for name, path in files.items()
        if not (ROOT / name).exists() or path.read_bytes() != (ROOT / name).read_bytes()
    }  # fmt: skip


def test_every_file_that_a_recipe_names_exists() -> None:
    names = re.findall(r"`((?:server|packaging|tests|fixtures|benchmarks|docs)/[\w./-]+)`", PAGE)
    assert len(names) > 30
    assert [name for name in names if "NAME" not in name and not (ROOT / name).exists()] == []


def test_an_engine_is_added_in_two_files_and_its_key_in_those_of_catalogues(copy: Path, run: Run) -> None:
    engines, config = copy / "extensions" / "engines", copy / "config" / "config.py"
    code = (engines / "mojeek.py").read_text(encoding="utf-8")
    (engines / "acme.py").write_text(code.replace("Mojeek", "Acme").replace("mojeek", "acme"), encoding="utf-8")
    config.write_text(config.read_text(encoding="utf-8").replace('"mojeek")', '"mojeek", "acme")'), encoding="utf-8")
    insert(config, "    rerank_url: str = setting(", '    acme_key: str = setting("", "key", "a key", parsers.key)\n')
    listings = copy.parents[1] / "packaging" / "listings.py"
    insert(listings, '"serper_key", "mojeek_key"),', '"acme_key", ')
    insert(listings, '    "mojeek_key": "Mojeek key",', '    "acme_key": "Acme key",\n')
    program = (
        "from keyhole.config.config import Config; from keyhole.websearch.registry import build_engines; "
        "print(*build_engines(Config(acme_key='secret'), None))"
    )
    assert "acme" in run("-c", program).split()
    assert "acme_key" in run("-m", "keyhole", "config")
    run(str(listings))
    assert "KEYHOLE_ACME_KEY" in (listings.parent / "mcpb" / "manifest.json").read_text(encoding="utf-8")
    assert changed_files(copy) == files_of("Add a search engine")


def test_a_format_is_added_in_two_files(copy: Path, run: Run) -> None:
    reader = """
from keyhole.records import Document

def read_acme(body):
    return Document(title="", text=body.text().replace(";", "\\n"), media_type="")
"""
    (copy / "extract" / "formats" / "acme.py").write_text(reader, encoding="utf-8")
    insert(copy / "extract" / "extraction.py", '    "text/csv": ', '    "application/acme": "acme.read_acme",\n')
    program = (
        "import keyhole; "
        "print(keyhole.extract(b'a pump;a seal', url='https://a.example/', content_type='application/acme').text)"
    )
    assert run("-c", program) == "a pump\na seal\n"
    assert changed_files(copy) == files_of("Add a format")


def test_a_client_with_hooks_is_added_in_four_files(copy: Path, run: Run) -> None:
    hooks = copy / "outputs" / "hooks"
    shutil.copy(hooks / "copilot.py", hooks / "acme.py")
    insert(hooks / "answer.py", '"opencode")', '"acme", ')

    install = copy / "extensions" / "install"
    events, clients = install / "doctor" / "hook_runs.py", install / "hooks.py"
    insert(events, '    "copilot": ("modified', '    "acme": ("modifiedResult", "textResultForLlm"),\n')
    insert(
        events, '        "opencode": {\n',
        '        "acme": {"toolName": "bash", "toolArgs": call, "toolResult": {"textResultForLlm": output}},\n',
    )  # fmt: skip
    insert(
        clients, '    HookClient(\n        _hook_file(\n            "opencode"',
        '    HookClient(_hook_file("gemini", _copilot, ".gemini/hooks.json", "page"), "acme", "after", "posix"),\n',
    )  # fmt: skip
    names = "from keyhole.extensions.install.doctor.hook_runs import large_output, make_event"
    program = f"{names}; print(make_event('acme', large_output()).decode())"
    answer = json.loads(run("-m", "keyhole", "hook", "acme", data=run("-c", program)))
    assert "unknown type name lamp_t" in answer["modifiedResult"]["textResultForLlm"]
    assert "hook acme" in run("-m", "keyhole", "install", "gemini", "--hooks-only", "--print")
    assert changed_files(copy) == files_of("Add a client with hooks")


def test_a_fact_is_added_to_the_first_line_in_one_file(copy: Path, run: Run) -> None:
    header = copy / "render" / "header.py"
    insert(
        header, '        modified and modified != published and f"modified {modified}",\n',
        '        artifact.language and f"in {_quote_name(artifact.language)}",\n',
    )  # fmt: skip
    insert(header, '        "modified": artifact.modified,\n', '        "language": artifact.language,\n')
    program = (
        "from dataclasses import replace; from keyhole.render.header import header_facts, source_line; "
        "from tests.support.fakes import artifact; page = replace(artifact(), author='A', language='fr'); "
        "print(source_line(page), header_facts(page))"
    )
    assert run("-c", program).endswith("“A page”, by “A”, in “fr” {'about': {'author': 'A', 'language': 'fr'}}\n")
    assert changed_files(copy) == files_of("Add a fact to the first line of a result")


def test_a_limit_with_a_column_is_added_to_the_store(copy: Path, run: Run) -> None:
    store, contract = copy / "store", copy.parents[1] / "tests" / "support" / "store_contract.py"
    insert(
        store / "base.py", '\n\n@dataclass(frozen=True, slots=True)\nclass StoreStats:',
        '    max_age: float = 1e12\n    """Seconds after it was stored until an artifact expires."""\n',
    )  # fmt: skip
    insert(
        store / "sqlite" / "schema.py", '))\n"""The tables of the artifact store.',
        'Step("age", ("ALTER TABLE entries ADD COLUMN stored_at REAL NOT NULL DEFAULT 0",)),',
    )  # fmt: skip
    insert(store / "sqlite" / "rows.py", '"last_access": last_access, **entry', '"stored_at": last_access, ')
    insert(
        store / "sqlite" / "space.py", "    return drop(db, keys, tombstones=True)\n\n\ndef shrink_file",
        '    old = db.execute("SELECT key FROM entries WHERE stored_at < ? AND NOT pinned", [now - limits.max_age])\n'
        "    keys += [key for (key,) in old if key not in keys]\n",
    )  # fmt: skip
    insert(store / "open.py", "config.store_max_bytes)", "max_age=10 * config.ttl_days * DAY, max_bytes=")
    run_contract = (
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--rootdir", str(copy.parents[1])),
        *("--import-mode=importlib", "-k", "test_each_limit"),
        str(copy.parents[1] / "tests" / "store" / "sqlite" / "test_store.py"),
    )
    with pytest.raises(subprocess.CalledProcessError) as without_row:
        run(*run_contract)
    assert "KeyError: 'max_age'" in without_row.value.stdout
    insert(contract, '"max_bytes": Limits(TTL, 400_000)}', '"max_age": Limits(TTL, 10**9, 1.5 * DAY), ')
    assert run(*run_contract).startswith("...")
    recipe = files_of("Add a limit of the store")
    assert changed_files(copy) == {name for name in recipe if "/postgresql/" not in name}
