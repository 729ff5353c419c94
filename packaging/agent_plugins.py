"""Generate the plugins of agents, and their marketplaces, from one source: `python packaging/agent_plugins.py`.

The folder `plugins/keyhole` is a plugin for several clients at once: each reads its own manifest, and all share the
server, the skill of packaging/skills and the hooks of `keyhole install`. A test checks that the files are up to date.

Formats, November 2026: Agent Plugins 1.0 (agent-plugins.org; read by Cursor, VS Code and Copilot CLI), Claude Code
2.1.197, Codex 0.169, Gemini CLI 0.61. `python -m tests.clients.release` installs it with each client that is a package.
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
from keyhole.cli.install.hook_clients import HOOK_CLIENTS  # noqa: E402
from keyhole.cli.install.hook_lines import HookLine  # noqa: E402

FOLDER: Final = "plugins/keyhole"
"""The plugin's folder below the root. A marketplace must not name the root: Codex finds no plugin there."""
SKILLS: Final = ROOT / "packaging" / "skills"
AGENT_PLUGINS: Final = "https://agent-plugins.org/schemas/1.0.0"
AUTHOR: Final = {"name": f"{listings.TITLE} contributors"}
SERVER: Final = {"command": "uvx", "args": [f"{listings.DISTRIBUTION}@{__version__}"]}
"""How a client starts the server. uvx downloads this version at the first start."""


HOOK_PROGRAM: Final = "command -v keyhole >/dev/null 2>&1 || exit 0; keyhole"
"""The beginning of a hook's command line. Where Keyhole is not installed, the hook does nothing and succeeds. uvx would
start at every call of a tool, and takes longer than the hook."""


def hooks(client: str) -> dict[str, Any]:
    """Return the hooks of a client of `keyhole install`, in the form of its own file."""
    known = HOOK_CLIENTS[client]
    line = HookLine(HOOK_PROGRAM, (), known.argument, known.options)
    return {"hooks": {known.event: [known.item(line, "linux")]}}


def facts() -> dict[str, Any]:
    """Return what every manifest says."""
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
    """Return the JSON files of the plugin, by their paths in its folder."""
    servers = {"mcpServers": {"keyhole": SERVER}}
    return {
        "plugin.json": {"$schema": f"{AGENT_PLUGINS}/plugin.schema.json", **facts()},
        "mcp.json": {
            "$schema": f"{AGENT_PLUGINS}/mcp.schema.json",
            "mcpServers": {"keyhole": {"type": "stdio", **SERVER}},
        },
        ".mcp.json": servers,
        ".claude-plugin/plugin.json": {**facts(), "hooks": "./hooks/claude-code.json"},
        ".codex-plugin/plugin.json": {
            **facts(),
            "skills": "./skills/",
            "mcpServers": "./.mcp.json",
            "hooks": "./hooks/codex.json",
        },
        "hooks/claude-code.json": hooks("claude-code"),
        "hooks/codex.json": hooks("codex"),
        "gemini-extension.json": {
            "name": "keyhole",
            "version": __version__,
            "description": listings.DESCRIPTION,
            **servers,
        },
    }


def marketplaces() -> dict[str, dict[str, Any]]:
    """Return the lists of plugins that clients read in a repository, by their paths in it."""
    entry = {"name": "keyhole", "description": listings.DESCRIPTION}
    listed = {
        "name": "keyhole",
        "owner": AUTHOR,
        "metadata": {"description": listings.DESCRIPTION},
        "plugins": [{**entry, "source": f"./{FOLDER}"}],
    }
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
        ".claude-plugin/marketplace.json": listed,
        ".cursor-plugin/marketplace.json": listed,
        ".agents/plugins/marketplace.json": codex,
    }


def write(root: Path) -> None:
    """Write the plugin and the marketplaces below a folder."""
    folder = root / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    files = {**{f"{FOLDER}/{path}": content for path, content in plugin_files().items()}, **marketplaces()}
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(listings.to_json(content), encoding="utf-8")
    shutil.copytree(SKILLS, folder / "skills")
    shutil.copy(ROOT / "LICENSE", folder)


if __name__ == "__main__":
    write(ROOT)
