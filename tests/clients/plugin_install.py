"""Install the plugin with each client that is a package, and let the client start the server that the plugin names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import agent_plugins

from .codex import PACKAGES as CODEX
from .codex import app_server
from .distributions import ROOT, environment, run
from .npm import InstallError, install_from_npm
from .setup import Setup
from .steps import Steps, run_program
from .tool_calls import TOOLS

MARKETPLACES: Final = (".claude-plugin", ".agents", ".cursor-plugin", ".github/plugin", "plugins")
"""The parts of the tree that a client reads."""
PLUGIN: Final = "keyhole@keyhole"


def check(steps: Steps, setup: Setup, wheel: Path, tools: Path) -> None:
    """Check the plugin. `wheel`: takes the place of the package index. `tools`: the folder of uvx and skillsaw."""
    tree = setup.scratch / "repository"
    for name in MARKETPLACES:
        shutil.copytree(ROOT / name, tree / name)
    steps.run("plugin: its formats are valid", lambda: run([tools / "skillsaw", "lint", "--strict", tree], tree))
    for client, (packages, look) in _CLIENTS.items():
        home = setup.scratch / f"{client} home"
        home.mkdir()
        # A file, because Codex passes on few variables.
        (home / ".config" / "uv").mkdir(parents=True)
        (home / ".config" / "uv" / "uv.toml").write_text(f"find-links = [{json.dumps(str(wheel.parent))}]\n", "utf-8")
        env = environment(HOME=str(home), **{name: setup.settings[name] for name in ("KEYHOLE_HOME", "KEYHOLE_CONFIG")})
        try:
            programs = install_from_npm(packages)
        except InstallError as reason:
            steps.skip(f"plugin in {client}", str(reason))
            continue
        env["PATH"] = f"{programs}:{tools}:{env['PATH']}"
        steps.run(f"plugin: {client} installs it and starts its server", partial(look, programs, tree, env))


def _claude(programs: Path, tree: Path, env: dict[str, str]) -> None:
    claude = programs / "claude"
    for path in (tree, tree / agent_plugins.FOLDER):
        run([claude, "plugin", "validate", "--strict", path], tree, env)
    run([claude, "plugin", "marketplace", "add", tree], tree, env)
    run([claude, "plugin", "install", PLUGIN], tree, env)
    listed = run([claude, "mcp", "list"], tree, env)
    assert "plugin:keyhole:keyhole" in listed and "Connected" in listed, listed


def _codex(programs: Path, tree: Path, env: dict[str, str]) -> None:
    codex = programs / "codex"
    run([codex, "plugin", "marketplace", "add", tree], tree, env)
    run([codex, "plugin", "add", PLUGIN], tree, env)
    with app_server(programs, env, tree) as server:
        (status,) = server.request("mcpServerStatus/list", {})["data"]
        (listed,) = server.request("hooks/list", {"cwds": [str(tree)]})["data"]
    assert set(status["tools"]) == TOOLS, status
    assert any("keyhole hook codex" in json.dumps(hook) for hook in listed["hooks"]), listed


def _copilot(programs: Path, tree: Path, env: dict[str, str]) -> None:
    copilot = programs / "copilot"
    run([copilot, "plugin", "marketplace", "add", tree], tree, env)
    assert "1 skill" in run([copilot, "plugin", "install", PLUGIN], tree, env)
    assert "keyhole" in run([copilot, "mcp", "list"], tree, env)


def _gemini(programs: Path, tree: Path, env: dict[str, str]) -> None:
    gemini, extension = programs / "gemini", tree / agent_plugins.FOLDER
    run([gemini, "extensions", "validate", extension], tree, env)
    trusted = Path(env["HOME"]) / ".gemini" / "trustedFolders.json"
    trusted.parent.mkdir(exist_ok=True)
    trusted.write_text(json.dumps({str(tree): "TRUST_FOLDER", str(extension): "TRUST_FOLDER"}), "utf-8")
    run([gemini, "extensions", "install", extension, "--consent"], tree, env)
    # Gemini CLI waits 5 s for a server, and the first start downloads what it needs. It passes on no variable for
    # certificates either, so uv takes the packages from its cache.
    package = agent_plugins.SERVER["args"][0]
    uvx = shutil.which("uvx", path=env["PATH"])
    run([uvx, "--from", package, "keyhole", "--version"], tree, env)
    with (Path(env["HOME"]) / ".config" / "uv" / "uv.toml").open("a") as file:
        file.write("offline = true\n")
    done = run_program([str(gemini), "mcp", "list"], env, tree)
    assert "Connected" in done.stdout + done.stderr, done.stdout + done.stderr


_CLIENTS: Final[dict[str, tuple[tuple[str, ...], Callable[[Path, Path, dict[str, str]], None]]]] = {
    "Claude Code": (("@anthropic-ai/claude-code",), _claude),
    "Codex": (tuple(CODEX), _codex),
    "Copilot CLI": (("@github/copilot", "node"), _copilot),
    "Gemini CLI": (("@google/gemini-cli", "node"), _gemini),
}
