"""Generate the plugins of agents, and their marketplaces, from one source: `python packaging/agent_plugins.py`.

`plugins/keyhole` is a plugin of Claude Code and of Codex, with hooks, and an extension of Gemini CLI.
`plugins/portable` is the same without hooks in the format Agent Plugins 1.0 (agent-plugins.org), which Cursor, VS Code
and Copilot CLI read. They are two folders, because Codex 0.169 reads no hooks of a folder with the portable manifest.
All share the server and the skill of packaging/skills. A test checks that the files are up to date, and
`python -m tests.clients.release` installs them with each client that is a package.
"""

from __future__ import annotations

import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "server")]

import listings  # noqa: E402 - found through the line above
from keyhole import __version__  # noqa: E402
from keyhole.extensions.install.hooks import HOOK_CLIENTS, HookLine  # noqa: E402

FOLDER: Final = "plugins/keyhole"
PORTABLE: Final = "plugins/portable"
"""The folders of the plugins. A marketplace must not name the root of the repository: Codex finds no plugin there."""
SKILLS: Final = ROOT / "packaging" / "skills"
AGENT_PLUGINS: Final = "https://agent-plugins.org/schemas/1.0.0"
AUTHOR: Final = {"name": f"{listings.TITLE} contributors"}
SERVER: Final = {"command": "uvx", "args": [f"{listings.DISTRIBUTION}@{__version__}"]}
"""How a client starts the server. uvx downloads this version at the first start."""


README: Final = f"""# {listings.TITLE}

{listings.DESCRIPTION}

The plugin has an MCP server with three tools (`web_fetch`, `search`, `read_artifact`), which `uvx` downloads and
starts, and a skill that says how to read with a budget.
"""
HOOKS_README: Final = f"""
With Claude Code and Codex, the long outputs of other tools are bounded too, where Keyhole is installed:
`uv tool install {listings.DISTRIBUTION}`.
"""
HOOK_PROGRAM: Final = "command -v keyhole >/dev/null 2>&1 || exit 0; keyhole"
"""The beginning of a hook's command line. Where Keyhole is not installed, the hook does nothing and succeeds. uvx would
start at every call of a tool, and takes longer than the hook."""


def hooks(client: str) -> dict[str, Any]:
    """Return the hooks of a client of `keyhole install`, in the form of its own file."""
    known = HOOK_CLIENTS[client]
    line = HookLine(HOOK_PROGRAM, (), known.argument, known.options)
    return {"hooks": {known.event: [known.item(line, "linux")]}}


def facts() -> dict[str, Any]:
    """Return the fields that every manifest has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {
        "name": "keyhole",
        "version": __version__,
        "description": listings.DESCRIPTION,
        "author": AUTHOR,
        "license": project["license"],
        "keywords": project["keywords"],
    }


def plugin_files() -> dict[str, dict[str, Any]]:
    """Return the JSON files of the plugins, by their paths."""
    servers = {"mcpServers": {"keyhole": SERVER}}
    portable = {"mcpServers": {"keyhole": {"type": "stdio", **SERVER}}}
    gemini = {"name": "keyhole", "version": __version__, "description": listings.DESCRIPTION, **servers}
    codex = {"skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/codex.json"}
    return {
        f"{PORTABLE}/plugin.json": {"$schema": f"{AGENT_PLUGINS}/plugin.schema.json", **facts()},
        f"{PORTABLE}/mcp.json": {"$schema": f"{AGENT_PLUGINS}/mcp.schema.json", **portable},
        f"{FOLDER}/.mcp.json": servers,
        f"{FOLDER}/.claude-plugin/plugin.json": {**facts(), "hooks": "./hooks/claude-code.json"},
        f"{FOLDER}/.codex-plugin/plugin.json": {**facts(), **codex},
        f"{FOLDER}/hooks/claude-code.json": hooks("claude-code"),
        f"{FOLDER}/hooks/codex.json": hooks("codex"),
        f"{FOLDER}/gemini-extension.json": gemini,
    }


def marketplaces() -> dict[str, dict[str, Any]]:
    """Return the lists of plugins that clients read in a repository, by their paths in it."""
    codex = {
        "name": "keyhole",
        "interface": {"displayName": listings.TITLE},
        "plugins": [
            {
                "name": "keyhole",
                "source": {"source": "local", "path": f"./{FOLDER}"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Developer Tools",
            }
        ],
    }
    return {
        ".claude-plugin/marketplace.json": _marketplace(FOLDER),
        ".cursor-plugin/marketplace.json": _marketplace(PORTABLE),
        ".github/plugin/marketplace.json": _marketplace(PORTABLE),
        ".agents/plugins/marketplace.json": codex,
    }


def _marketplace(folder: str) -> dict[str, Any]:
    """Return the list with the plugin of a folder. Copilot CLI and VS Code read that in `.github`."""
    return {
        "name": "keyhole",
        "owner": AUTHOR,
        "metadata": {"description": listings.DESCRIPTION},
        "plugins": [{"name": "keyhole", "description": listings.DESCRIPTION, "source": f"./{folder}"}],
    }


def write(root: Path) -> None:
    """Write the plugins and the marketplaces below a folder."""
    for folder in (FOLDER, PORTABLE):
        shutil.rmtree(root / folder, ignore_errors=True)
    for path, content in (plugin_files() | marketplaces()).items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(listings.to_json(content), encoding="utf-8")
    for folder, readme in ((FOLDER, README + HOOKS_README), (PORTABLE, README)):
        shutil.copytree(SKILLS, root / folder / "skills")
        shutil.copy(ROOT / "LICENSE", root / folder)
        (root / folder / "README.md").write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    write(ROOT)
