"""Installs the wheel as its users do, where no checkout is, and has each installation serve. Builds nothing."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters

from .built import environment, run
from .stage import Stage
from .steps import Steps
from .tour import Call, Reply, read_reply, tour

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = {
    "office": ("mammoth", "pptx", "openpyxl"),
    "hosted": ("psycopg", "psycopg_pool", "prometheus_client", "opentelemetry.sdk"),
}
"""Extras that messages name, with the modules that each is for."""


def check(steps: Steps, stage: Stage, wheel: Path, programs: Path) -> None:
    """Each way of installing, in a folder of its own."""
    steps.run("pip: the wheel with its extras in a clean environment", lambda: _pip(steps, stage, wheel))
    for version in VERSIONS:
        where = f"uvx with Python {version}"
        if found := python(version):
            steps.run(where, partial(_uvx, steps, stage, wheel, programs, found))
        else:
            steps.skip(where, "there is none on this machine")
    steps.run("uv: the wheel installed as a tool", lambda: _uv(steps, stage, wheel, programs))
    steps.run("pipx: the wheel installed", lambda: _pipx(steps, stage, wheel, programs))


def _pip(steps: Steps, stage: Stage, wheel: Path) -> None:
    folder = stage.scratch / "pip"
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pip = [programs / "python", "-m", "pip", "install", "--quiet"]
    run([*pip, wheel], stage.scratch)
    _try(steps, stage, "pip", [programs / "keyhole-reader"], [programs / "keyhole"])
    shown = run([programs / "keyhole", "demo"], stage.scratch, _bare(stage))
    assert "web_fetch" in shown, shown[-500:]
    for extra, modules in EXTRAS.items():
        run([*pip, f"{wheel}[{extra}]"], stage.scratch)
        run([programs / "python", "-c", f"import {', '.join(modules)}"], stage.scratch)
    run([programs / "python", "-m", "pip", "check"], stage.scratch)


def python(version: str) -> Path | None:
    """A Python of this version that is here already and runs; none is brought."""
    shown = shutil.which(f"python{version}")
    pyenv = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}")
    for found in (*([Path(shown)] if shown else []), *sorted(pyenv)):
        if not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return found
    return None


def _uvx(steps: Steps, stage: Stage, wheel: Path, programs: Path, interpreter: Path) -> None:
    env = _uv_env(stage)
    given = ["--python", interpreter, "--from", wheel]
    run([programs / "uvx", *given, "keyhole", "--version"], stage.scratch, env)  # brings what it needs
    uvx = [programs / "uvx", "--offline", *given]
    _try(steps, stage, f"uvx, {interpreter.name}", [*uvx, "keyhole-reader"], [*uvx, "keyhole"], env)


def _uv(steps: Steps, stage: Stage, wheel: Path, programs: Path) -> None:
    env = _uv_env(stage)
    run([programs / "uv", "tool", "install", wheel], stage.scratch, env)
    _try(steps, stage, "uv", [stage.scratch / "uv-bin" / "keyhole-reader"], [stage.scratch / "uv-bin" / "keyhole"])


def _uv_env(stage: Stage) -> dict[str, str]:
    folders = {"UV_TOOL_DIR": "uv-tools", "UV_TOOL_BIN_DIR": "uv-bin", "UV_CACHE_DIR": "uv-cache"}
    return environment(**{name: str(stage.scratch / folder) for name, folder in folders.items()})


def _pipx(steps: Steps, stage: Stage, wheel: Path, programs: Path) -> None:
    home, bin_ = stage.scratch / "pipx", stage.scratch / "pipx-bin"
    env = environment(PIPX_HOME=str(home), PIPX_BIN_DIR=str(bin_))
    run([programs / "pipx", "install", wheel], stage.scratch, env)
    _try(steps, stage, "pipx", [bin_ / "keyhole-reader"], [bin_ / "keyhole"])


def _try(
    steps: Steps,
    stage: Stage,
    where: str,
    server: Sequence[object],
    command: Sequence[object],
    env: Mapping[str, str] | None = None,
) -> None:
    """The version is told, and a client has all three tools really called."""
    given = {**(env or {}), **_bare(stage)}
    told = run([*command, "--version"], stage.scratch, given)
    assert told.startswith("keyhole "), told
    with session(server, given, stage.scratch) as call:
        tour(steps, where, call, stage.page)


def _bare(stage: Stage) -> dict[str, str]:
    """A home of its own for what is installed, and no path that leads to the checkout."""
    settings = {name: value for name, value in stage.settings.items() if not name.startswith("PYTHON")}
    return {**stage.client_env(Path("/nowhere")), **settings}


@contextmanager
def session(command: Sequence[object], env: Mapping[str, str], folder: Path) -> Iterator[Call]:
    """A client that is connected to a server over stdio; how it calls a tool."""
    first, *rest = (str(word) for word in command)
    server = StdioServerParameters(command=first, args=rest, env=dict(env), cwd=str(folder))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:

        def call(tool: str, arguments: dict[str, Any]) -> Reply:
            result = portal.call(client.call_tool, tool, arguments)
            return read_reply(result.model_dump(by_alias=True, exclude_none=True, mode="json"))

        yield call
