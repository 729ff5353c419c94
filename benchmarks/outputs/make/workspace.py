"""Prepare the folder in which a recipe runs, run it, and take this machine's paths out of what it printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import venv
from pathlib import Path

from benchmarks.outputs.make.recipe import Recipe

CACHE = Path.home() / ".cache" / "keyhole-outputs"
PROJECTS = Path(__file__).with_name("projects")
REPOSITORY = Path(__file__).resolve().parents[3]
HOME = "/home/dev"
"""The folder that outputs name in place of this machine's."""

SOURCES = (
    "attrs", "click", "jinja2", "more-itertools", "msgpack", "networkx", "psutil", "python-dateutil", "sortedcontainers",
    "tabulate", "toolz", "ujson",
)  # fmt: skip
TOOLS = ("pytest", "mypy", "ruff", "bandit", "hypothesis", "numpy", "markupsafe", "freezegun", "six", "tzdata")
PACKAGES = (
    "typescript", "jest", "mocha", "tap@16", "eslint", "jquery", "lodash", "d3", "three", "react-dom", "chart.js", "vue",
    "prettier", "webpack", "express",
)  # fmt: skip
TIMEOUT_SECONDS = 240


def install_tools() -> None:
    """Download the packages of PyPI and npm into the cache, unless they are there."""
    if not (CACHE / "sdist").exists():
        for name in SOURCES:
            command = ["pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(CACHE / "sdist"), name]
            subprocess.run(command, check=True)
    if not (CACHE / "tools").exists():
        venv.create(CACHE / "tools", with_pip=True)
        subprocess.run([CACHE / "tools" / "bin" / "pip", "install", "-q", *TOOLS], check=True)
    if not (CACHE / "npm" / "node_modules").exists():
        (CACHE / "npm").mkdir(exist_ok=True)
        subprocess.run(["npm", "init", "-y"], cwd=CACHE / "npm", check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=CACHE / "npm", check=True)


def run(recipe: Recipe) -> tuple[int, str]:
    """Return the exit status of a recipe and what it printed to stdout and stderr, in order."""
    folder = _copy(recipe.base, recipe.id)
    if recipe.prepare:
        subprocess.run(["bash", "-c", recipe.prepare], cwd=folder, env=_environment(), check=False)
    with folder.with_name(f"{folder.name}.output").open("w+b") as output:
        done = subprocess.run(
            ["bash", "-c", recipe.command], cwd=folder, env=_environment(), timeout=TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        output.seek(0)
        text = output.read().decode(errors="replace")
    return done.returncode, clean(text)


def clean(text: str) -> str:
    """Replace the folders of this machine by folders of a user named dev."""
    for folder, name in ((CACHE / "work", f"{HOME}"), (CACHE / "npm", f"{HOME}/web"), (CACHE, f"{HOME}/.local")):
        text = text.replace(str(folder), name)
    text = text.replace(str(REPOSITORY), f"{HOME}/keyhole").replace(str(Path.home()), HOME)
    return re.sub(r"/opt/(?:pypi[\w-]*/(?:files|simple)|pypi[\w-]*|wheels)", f"{HOME}/wheels", text)


def _copy(base: str, name: str) -> Path:
    """Return a fresh folder with the contents of `base`."""
    folder = CACHE / "work" / name.split("/")[-1]
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    archives = list((CACHE / "sdist").glob(f"{base}-[0-9]*.tar.gz"))
    if archives:
        with tarfile.open(archives[0]) as archive:
            archive.extractall(folder.parent, filter="data")
        (folder.parent / archives[0].name.removesuffix(".tar.gz")).rename(folder)
    elif (PROJECTS / base).is_dir():
        shutil.copytree(PROJECTS / base, folder)
        for path in folder.glob("*.in"):
            path.rename(path.with_suffix(""))
        if base in ("node_shop", "ts_shop"):
            (folder / "node_modules").symlink_to(CACHE / "npm" / "node_modules")
    else:
        folder.mkdir()
        if base == "npm":
            (folder / "node_modules").symlink_to(CACHE / "npm" / "node_modules")
    return folder


def _environment() -> dict[str, str]:
    """Return the few variables that a recipe sees: no others could leak into an output."""
    binaries = f"{CACHE / 'tools' / 'bin'}:{CACHE / 'npm' / 'node_modules' / '.bin'}"
    kept = {name: os.environ[name] for name in ("PIP_CERT", "PIP_FIND_LINKS", "RUSTUP_HOME") if name in os.environ}
    return kept | {
        "PATH": f"{binaries}:{os.environ['PATH']}",
        "HOME": str(Path.home()),
        "LANG": "C.UTF-8",
        "COLUMNS": "120",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "KEYHOLE": str(REPOSITORY),
    }
