"""Describe Keyhole to catalogues: the entry in the MCP registry, and the manifest of the bundle for desktop clients.

`python packaging/listings.py` writes the manifest, `packaging/mcpb/manifest.json`; a test checks that it is up to date.
The entry names the owner, so packaging/publish.py writes it for a release.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "server"))

from keyhole import __version__  # noqa: E402 - this runs from a checkout that is not installed
from keyhole.config.config import SETTINGS, Setting  # noqa: E402
from keyhole.serve.tools import tool_list  # noqa: E402

DISTRIBUTION: Final = "keyhole-reader"
TITLE: Final = "Keyhole"
DESCRIPTION: Final = "Bounded web retrieval: the passages that answer, the full text kept, the exact next call."
"""At most 100 characters, the registry's limit."""

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

REGISTRY_SETTINGS: Final = (
    *("home", "max_chars", "context_tokens", "searxng_url"),
    *("brave_key", "exa_key", "tavily_key", "serper_key", "mojeek_key"),
    *("allow_private", "allow_domains", "deny_domains", "robots", "proxy"),
)
"""The settings for a single user over stdio; the other settings are for hosted servers."""

USER_SETTINGS: Final = {
    "searxng_url": "SearXNG address",
    "brave_key": "Brave Search key",
    "exa_key": "Exa key",
    "tavily_key": "Tavily key",
    "serper_key": "Serper key",
    "mojeek_key": "Mojeek key",
    "allow_private": "Private addresses that may be fetched",
    "allow_domains": "Only these domains",
}
"""The optional settings that a desktop client asks for when it installs the bundle, with their titles. Budgets are not
among them, because a budget that is set overrides the budget that fits the client."""

FORMATS: Final = {"path": "filepath"}


def registry(name: str) -> dict[str, Any]:
    """Return the entry in the MCP registry. `name`: the name of the server, such as io.github.ACCOUNT/PACKAGE."""
    package = {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": DISTRIBUTION,
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "environmentVariables": [_variable(setting) for setting in _settings(REGISTRY_SETTINGS)],
    }
    return {
        "$schema": SCHEMA,
        "name": name,
        "title": TITLE,
        "description": DESCRIPTION,
        "version": __version__,
        "packages": [package],
    }


def _variable(setting: Setting) -> dict[str, Any]:
    about = {"name": setting.variable, "description": f"{_sentence(setting)} ({setting.unit})"}
    form = {"format": FORMATS[setting.unit]} if setting.unit in FORMATS else {}
    return {**about, **form, **({"isSecret": True} if setting.secret else {})}


def manifest() -> dict[str, Any]:
    """Return the manifest of the bundle. The client runs uv to install what the bundle's pyproject.toml lists."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    settings = _settings(tuple(USER_SETTINGS))
    start = {
        "command": "uv",
        "args": ["run", "--directory", "${__dirname}", "server/main.py"],
        "env": {setting.variable: f"${{user_config.{setting.field}}}" for setting in settings},
    }
    return {
        "manifest_version": "0.4",
        "name": DISTRIBUTION,
        "display_name": TITLE,
        "version": __version__,
        "description": DESCRIPTION,
        "author": {"name": f"{TITLE} contributors"},
        "icon": "icon.png",
        "server": {"type": "uv", "entry_point": "server/main.py", "mcp_config": start},
        "tools": [{"name": tool.name, "description": tool.description} for tool in tool_list()],
        "keywords": project["keywords"],
        "license": project["license"],
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": project["requires-python"]},
        },
        "user_config": {setting.field: _user_setting(setting) for setting in settings},
    }


def _user_setting(setting: Setting) -> dict[str, Any]:
    # Without a default, some clients pass the name of the variable as its value. Keyhole ignores an empty setting.
    field = {"type": "string", "title": USER_SETTINGS[setting.field], "description": _sentence(setting)}
    return {**field, "required": False, "default": "", **({"sensitive": True} if setting.secret else {})}


def _settings(fields: tuple[str, ...]) -> list[Setting]:
    known = {setting.field: setting for setting in SETTINGS}
    return [known[field] for field in fields]


def _sentence(setting: Setting) -> str:
    return setting.description[0].upper() + setting.description[1:]


FILES: Final = {ROOT / "packaging" / "mcpb" / "manifest.json": manifest}


def to_json(facts: dict[str, Any]) -> str:
    """Return the text of the JSON file."""
    return json.dumps(facts, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for path, make in FILES.items():
        path.write_text(to_json(make()), encoding="utf-8")
