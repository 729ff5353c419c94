"""The clients that Keyhole can be registered with: file, place in it, shape of an entry, and where that is said.

Checked in November 2026; `tried` are those whose own program reads the entry in a test (tests/clients/installing.py).
Pure: the paths of a machine are worked out, not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from keyhole.cli.install.entries import Shape
from keyhole.cli.install.paths import Machine, dot_config, roaming, settings

Format = Literal["json", "toml", "yaml"]
RESTART: Final = "Quit it wholly and start it again."
NEW_SESSION: Final = "It is there in the next session."


@dataclass(frozen=True, slots=True)
class Client:
    """One client. `user`: its files for all of a user's work, of which the first that exists is taken, or the first;
    `project`: the file for one folder, empty where there is none; `program`: what it is called on the PATH."""

    name: str
    title: str
    user: Callable[[Machine], tuple[Path, ...]]
    place: tuple[str, ...]
    shape: Shape
    source: str
    project: str = ""
    format: Format = "json"
    program: str = ""
    then: str = NEW_SESSION


def _claude_code(machine: Machine) -> tuple[Path, ...]:
    return (machine.set("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json",)


def _codex(machine: Machine) -> tuple[Path, ...]:
    return (machine.set("CODEX_HOME", machine.home / ".codex") / "config.toml",)


def _code(edition: str) -> Callable[[Machine], tuple[Path, ...]]:
    return lambda machine: (settings(machine) / edition / "User" / "mcp.json",)


def _gemini(machine: Machine) -> tuple[Path, ...]:
    return (machine.set("GEMINI_CLI_HOME", machine.home) / ".gemini" / "settings.json",)


def _opencode(machine: Machine) -> tuple[Path, ...]:
    folder = machine.set("OPENCODE_CONFIG_DIR", dot_config(machine) / "opencode")
    return tuple(folder / name for name in ("opencode.jsonc", "opencode.json"))


def _zed(machine: Machine) -> tuple[Path, ...]:
    if machine.platform == "win32":
        return (roaming(machine) / "Zed" / "settings.json",)
    base = machine.home / ".config" if machine.platform == "darwin" else dot_config(machine)
    return (base / "zed" / "settings.json",)


def _cline(machine: Machine) -> tuple[Path, ...]:
    return (
        machine.set(
            "CLINE_MCP_SETTINGS_PATH",
            machine.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json",
        ),
    )


def _lm_studio(machine: Machine) -> tuple[Path, ...]:
    return (machine.home / ".lmstudio" / "mcp.json", machine.home / ".cache" / "lm-studio" / "mcp.json")


def _copilot(machine: Machine) -> tuple[Path, ...]:
    return (machine.set("COPILOT_HOME", machine.home / ".copilot") / "mcp-config.json",)


def _goose(machine: Machine) -> tuple[Path, ...]:
    if machine.platform == "win32":
        return (roaming(machine) / "Block" / "goose" / "config" / "config.yaml",)
    return (dot_config(machine) / "goose" / "config.yaml",)


_SERVERS: Final = ("mcpServers",)
_GOOSE: Final = MappingProxyType({"name": "Keyhole", "enabled": True, "timeout": 300})
_TYPED: Final = Shape("stdio", "http")

_ALL: Final = (
    Client(
        "claude-desktop", "Claude Desktop", lambda machine: (settings(machine) / "Claude/claude_desktop_config.json",),
        _SERVERS, Shape(url=""), "https://modelcontextprotocol.io/docs/develop/connect-local-servers", then=RESTART,
    ),
    Client(
        "claude-code", "Claude Code", _claude_code, _SERVERS, _TYPED, "https://code.claude.com/docs/en/mcp",
        project=".mcp.json", program="claude",
    ),
    Client(
        "codex", "Codex", _codex, ("mcp_servers",), Shape(), "https://developers.openai.com/codex/mcp",
        project=".codex/config.toml", format="toml", program="codex",
    ),
    Client(
        "vscode", "VS Code", _code("Code"), ("servers",), _TYPED,
        "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        project=".vscode/mcp.json", program="code", then="Start it in the view MCP SERVERS, or reload the window.",
    ),
    Client(
        "vscode-insiders", "VS Code Insiders", _code("Code - Insiders"), ("servers",), _TYPED,
        "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        project=".vscode/mcp.json", program="code-insiders", then="Start it in the view MCP SERVERS.",
    ),
    Client(
        "copilot", "Copilot CLI", _copilot, _SERVERS, Shape("local", "http", more=MappingProxyType({"tools": ["*"]})),
        "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        program="copilot",
    ),
    Client(
        "cursor", "Cursor", lambda machine: (machine.home / ".cursor/mcp.json",), _SERVERS, Shape(),
        "https://cursor.com/docs/context/mcp", project=".cursor/mcp.json", program="cursor", then=RESTART,
    ),
    Client(
        "windsurf", "Windsurf", lambda machine: (machine.home / ".codeium/windsurf/mcp_config.json",), _SERVERS,
        Shape(url="serverUrl"), "https://docs.windsurf.com/windsurf/cascade/mcp", program="windsurf",
        then="Press refresh in the list of MCP servers.",
    ),
    Client(
        "gemini", "Gemini CLI", _gemini, _SERVERS, Shape(http="http"),
        "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
        project=".gemini/settings.json", program="gemini",
    ),
    Client(
        "opencode", "opencode", _opencode, ("mcp",),
        Shape("local", "remote", args="", env="environment"), "https://opencode.ai/docs/mcp-servers",
        project="opencode.json", program="opencode",
    ),
    Client(
        "zed", "Zed", _zed, ("context_servers",), Shape(), "https://zed.dev/docs/ai/mcp",
        project=".zed/settings.json", program="zed", then="It starts at once.",
    ),
    Client(
        "cline", "Cline", _cline, _SERVERS, Shape(http="streamableHttp"), "https://docs.cline.bot/mcp/mcp-overview",
        program="cline",
    ),
    Client(
        "lm-studio", "LM Studio", _lm_studio, _SERVERS, Shape(), "https://lmstudio.ai/docs/app/mcp", program="lms",
        then="Switch it on under Program, Integrations.",
    ),
    Client(
        "goose", "goose", _goose, ("extensions",),
        Shape("stdio", "streamable_http", url="uri", program="cmd", env="envs", more=_GOOSE),
        "https://block.github.io/goose/docs/guides/config-files", format="yaml", program="goose",
    ),
)  # fmt: skip
CLIENTS: Final = MappingProxyType({client.name: client for client in _ALL})
