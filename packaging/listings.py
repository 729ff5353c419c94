"""What catalogues say of Keyhole, made from the code: `python packaging/listings.py` writes both files anew.

`server.json` is the entry in the MCP registry, `packaging/mcpb/manifest.json` the face of the bundle for desktop
clients. A test compares them with what is made here. Nothing is built and nothing is published here.
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
from keyhole.config.schema import SETTINGS, Setting  # noqa: E402
from keyhole.serve.tools import tool_list  # noqa: E402

OWNER: Final = "OWNER"
"""Placeholder for the account that will hold the public repository. The registry lets only that account publish under
the name; docs/packaging.md says where it stands and `tests/packaging/test_packaging.py` that it stands nowhere else."""

NAME: Final = f"io.github.{OWNER}/keyhole-reader"
DISTRIBUTION: Final = "keyhole-reader"
TITLE: Final = "Keyhole"
DESCRIPTION: Final = "Bounded web retrieval: the passages that answer, the full text kept, the exact next call."
"""At most 100 characters, which is all the registry takes."""

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

LISTED: Final = (
    *("home", "max_chars", "context_tokens", "searxng_url"),
    *("brave_key", "exa_key", "tavily_key", "serper_key", "mojeek_key"),
    *("allow_private", "allow_domains", "deny_domains", "robots", "proxy"),
)
"""Settings that one user over stdio may want, of all there are; the others are for those who host."""

ASKED: Final = {
    "searxng_url": "SearXNG address",
    "brave_key": "Brave Search key",
    "exa_key": "Exa key",
    "tavily_key": "Tavily key",
    "serper_key": "Serper key",
    "mojeek_key": "Mojeek key",
    "allow_private": "Private addresses that may be fetched",
    "allow_domains": "Only these domains",
}
"""What a desktop client asks when the bundle is installed, with the titles it shows. All may stay empty. Budgets are
not asked: one that is set wins over the one that fits the client."""

FORMATS: Final = {"path": "filepath"}


def registry() -> dict[str, Any]:
    """The entry in the MCP registry."""
    package = {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": DISTRIBUTION,
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "environmentVariables": [_variable(setting) for setting in _settings(LISTED)],
    }
    return {
        "$schema": SCHEMA,
        "name": NAME,
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
    """The manifest of the bundle. Its client has uv make the environment that the bundle's pyproject.toml describes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = _settings(tuple(ASKED))
    start = {
        "command": "uv",
        "args": ["run", "--directory", "${__dirname}", "server/main.py"],
        "env": {setting.variable: f"${{user_config.{setting.field}}}" for setting in asked},
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
        "user_config": {setting.field: _question(setting) for setting in asked},
    }


def _question(setting: Setting) -> dict[str, Any]:
    # Without a default some clients hand on the name of the variable itself; an empty setting is one that is not set.
    question = {"type": "string", "title": ASKED[setting.field], "description": _sentence(setting)}
    return {**question, "required": False, "default": "", **({"sensitive": True} if setting.secret else {})}


def _settings(fields: tuple[str, ...]) -> list[Setting]:
    known = {setting.field: setting for setting in SETTINGS}
    return [known[field] for field in fields]


def _sentence(setting: Setting) -> str:
    return setting.description[0].upper() + setting.description[1:]


FILES: Final = {ROOT / "server.json": registry, ROOT / "packaging" / "mcpb" / "manifest.json": manifest}


def rendered(facts: dict[str, Any]) -> str:
    """The facts as they stand in a file."""
    return json.dumps(facts, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for path, make in FILES.items():
        path.write_text(rendered(make()), encoding="utf-8")
