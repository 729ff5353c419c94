"""Install the wheel with pip, uvx, uv and pipx outside the checkout, and call the tools of each installation."""

from __future__ import annotations

import os
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

from keyhole.runtime.installation import EXTRAS

from .distributions import ROOT, environment, run
from .setup import Setup
from .steps import Steps
from .tool_calls import Call, Reply, check_tools, read_reply

VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def check(steps: Steps, setup: Setup, wheel: Path, programs: Path) -> None:
    """Check the installations by pip, uvx, uv and pipx, each in a separate folder."""
    steps.run("pip: the wheel with its extras in a clean environment", lambda: _pip(steps, setup, wheel))
    for version in VERSIONS:
        where = f"uvx with Python {version}"
        if found := find_python(version):
            steps.run(where, partial(_uvx, steps, setup, wheel, programs, found))
        else:
            steps.skip(where, "not installed on this machine")
    steps.run("uv: the wheel installed as a tool", lambda: _uv(steps, setup, wheel, programs))
    steps.run("pipx: the wheel installed", lambda: _pipx(steps, setup, wheel, programs))
    for source in _sources(setup, wheel):
        kind = "folder" if source.is_dir() else "wheel"
        steps.run(f"uv: the command for an extra, from a {kind}", partial(_uv_extra, setup, source, programs))
        steps.run(f"pip: the command for an extra, from a {kind}", partial(_pip_extra, setup, source))


def _pip(steps: Steps, setup: Setup, wheel: Path) -> None:
    folder = setup.scratch / "pip"
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pip = [programs / "python", "-m", "pip", "install", "--quiet"]
    run([*pip, wheel], setup.scratch)
    _check_commands(steps, setup, "pip", [programs / "keyhole-reader"], [programs / "keyhole"])
    shown = run([programs / "keyhole", "demo"], setup.scratch, _clean_env(setup))
    assert "web_fetch" in shown, shown[-500:]
    for extra, modules in EXTRAS.items():
        run([*pip, f"{wheel}[{extra}]"], setup.scratch)
        run([programs / "python", "-c", f"import {', '.join(modules)}"], setup.scratch)
    run([programs / "python", "-m", "pip", "check"], setup.scratch)


def _sources(setup: Setup, wheel: Path) -> tuple[Path, Path]:
    """Return a copy of the wheel and one of the checkout, in a folder with a space in its name."""
    folder = setup.scratch / "my files"
    (folder / "keyhole").mkdir(parents=True)
    for name in filter(None, run(["git", "ls-files", "-z"], ROOT).split("\0")):
        if (ROOT / name).is_file():
            (folder / "keyhole" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "keyhole" / name)
    return Path(shutil.copy(wheel, folder)), folder / "keyhole"


def _uv_extra(setup: Setup, source: Path, programs: Path) -> None:
    env = _uv_env(setup)
    env["PATH"] = f"{programs}{os.pathsep}{env['PATH']}"
    run(["uv", "tool", "install", "--force", source], setup.scratch, env)
    run_printed_command(setup.scratch / "uv-tools" / "keyhole-reader" / "bin" / "python", setup.scratch, env)


def _pip_extra(setup: Setup, source: Path) -> None:
    folder = setup.scratch / f"pip {source.name}"
    venv.create(folder, with_pip=True)
    run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", source], setup.scratch)
    run_printed_command(folder / "bin" / "python", setup.scratch, environment())


def run_printed_command(python: Path, folder: Path, env: Mapping[str, str]) -> None:
    """Run the commands that an installation prints for two extras, one after the other; both must be there then."""
    for extra in ("office", "hosted"):
        program = f"from keyhole.runtime.installation import install_command; print(install_command({extra!r}))"
        run(["sh", "-c", run([python, "-c", program], folder, env)], folder, env)
    run([python, "-c", f"import {', '.join(EXTRAS['office'] + EXTRAS['hosted'])}"], folder, env)


def find_python(version: str) -> Path | None:
    """Return an installed Python of this version that runs, or None."""
    shown = shutil.which(f"python{version}")
    pyenv = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}")
    for found in (*([Path(shown)] if shown else []), *sorted(pyenv)):
        if not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return found
    return None


def _uvx(steps: Steps, setup: Setup, wheel: Path, programs: Path, interpreter: Path) -> None:
    env = _uv_env(setup)
    options = ["--python", interpreter, "--from", wheel]
    run([programs / "uvx", *options, "keyhole", "--version"], setup.scratch, env)  # downloads the dependencies
    uvx = [programs / "uvx", "--offline", *options]
    _check_commands(steps, setup, f"uvx, {interpreter.name}", [*uvx, "keyhole-reader"], [*uvx, "keyhole"], env)


def _uv(steps: Steps, setup: Setup, wheel: Path, programs: Path) -> None:
    env = _uv_env(setup)
    run([programs / "uv", "tool", "install", wheel], setup.scratch, env)
    _check_commands(
        steps, setup, "uv", [setup.scratch / "uv-bin" / "keyhole-reader"], [setup.scratch / "uv-bin" / "keyhole"]
    )


def _uv_env(setup: Setup) -> dict[str, str]:
    folders = {"UV_TOOL_DIR": "uv-tools", "UV_TOOL_BIN_DIR": "uv-bin", "UV_CACHE_DIR": "uv-cache"}
    return environment(**{name: str(setup.scratch / folder) for name, folder in folders.items()})


def _pipx(steps: Steps, setup: Setup, wheel: Path, programs: Path) -> None:
    home, bin_ = setup.scratch / "pipx", setup.scratch / "pipx-bin"
    env = environment(PIPX_HOME=str(home), PIPX_BIN_DIR=str(bin_))
    run([programs / "pipx", "install", wheel], setup.scratch, env)
    _check_commands(steps, setup, "pipx", [bin_ / "keyhole-reader"], [bin_ / "keyhole"])


def _check_commands(
    steps: Steps,
    setup: Setup,
    where: str,
    server: Sequence[object],
    command: Sequence[object],
    env: Mapping[str, str] | None = None,
) -> None:
    """Check that `command` prints its version and that a client can call the three tools of `server`."""
    variables = {**(env or {}), **_clean_env(setup)}
    version = run([*command, "--version"], setup.scratch, variables)
    assert version.startswith("keyhole "), version
    with connect(server, variables, setup.scratch) as call:
        check_tools(steps, where, call, setup.page)


def _clean_env(setup: Setup) -> dict[str, str]:
    """Return an environment with a separate home and without paths of the checkout."""
    settings = {name: value for name, value in setup.settings.items() if not name.startswith("PYTHON")}
    return {**setup.client_env(Path("/nowhere")), **settings}


@contextmanager
def connect(command: Sequence[object], env: Mapping[str, str], folder: Path) -> Iterator[Call]:
    """Connect a client to a server over stdio; yield the function that calls a tool."""
    first, *rest = (str(word) for word in command)
    server = StdioServerParameters(command=first, args=rest, env=dict(env), cwd=str(folder))
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:

        def call(tool: str, arguments: dict[str, Any]) -> Reply:
            result = portal.call(client.call_tool, tool, arguments)
            return read_reply(result.model_dump(by_alias=True, exclude_none=True, mode="json"))

        yield call
