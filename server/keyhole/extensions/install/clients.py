"""Table of the clients that Keyhole can be registered with: their configuration files, and the shape of an entry.

Checked against the clients' documentation in November 2026. tests/clients/install_command.py checks some entries
with the client's own program. This module opens no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from keyhole.extensions.install.entries import Shape

Format = Literal["json", "toml", "yaml", "script"]
RESTART: Final = "Quit the client completely and start it again."
NEW_SESSION: Final = "It is available in the next session."


@dataclass(frozen=True, slots=True)
class Machine:
    """The facts that configuration paths depend on. `platform`: as in `sys.platform`; `project`: the current folder."""

    platform: str
    home: Path
    project: Path
    environment: Mapping[str, str]

    def path_from(self, variable: str, default: Path) -> Path:
        """Return the path in an environment variable, or `default` if it is unset or empty."""
        value = self.environment.get(variable, "").strip()
        return Path(value) if value else default

    def settings_folder(self) -> Path:
        """Return the platform's folder for the settings of desktop programs."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.roaming_folder() if self.platform == "win32" else self.config_folder()

    def roaming_folder(self) -> Path:
        """Return the folder for application data on Windows."""
        return self.path_from("APPDATA", self.home / "AppData" / "Roaming")

    def config_folder(self) -> Path:
        """Return the XDG configuration folder, which some programs use on every platform."""
        return self.path_from("XDG_CONFIG_HOME", self.home / ".config")


@dataclass(frozen=True, slots=True)
class McpClient:
    """An MCP client, its configuration file, and the form of its entries."""

    name: str
    title: str
    user_paths: Callable[[Machine], tuple[Path, ...]]
    """Possible configuration files of the user. The first that exists is used; if none exists, the first."""
    key_path: tuple[str, ...]
    """Keys in the file that lead to the table of servers."""
    shape: Shape
    source: str
    """URL of the documentation of the file."""
    project: str = ""
    """Configuration file of a project folder; "" if the client has none."""
    format: Format = "json"
    program: str = ""
    """Name of the client's executable on the PATH."""
    next_step: str = NEW_SESSION
    """The step for the user after a change."""


def _claude_desktop(machine: Machine) -> tuple[Path, ...]:
    return (machine.settings_folder() / "Claude" / "claude_desktop_config.json",)


def _claude_code(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json",)


def _codex(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("CODEX_HOME", machine.home / ".codex") / "config.toml",)


def _vscode(edition: str) -> Callable[[Machine], tuple[Path, ...]]:
    return lambda machine: (machine.settings_folder() / edition / "User" / "mcp.json",)


def _gemini(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("GEMINI_CLI_HOME", machine.home) / ".gemini" / "settings.json",)


def _opencode(machine: Machine) -> tuple[Path, ...]:
    folder = machine.path_from("OPENCODE_CONFIG_DIR", machine.config_folder() / "opencode")
    return tuple(folder / name for name in ("opencode.jsonc", "opencode.json"))


def _zed(machine: Machine) -> tuple[Path, ...]:
    if machine.platform == "win32":
        return (machine.roaming_folder() / "Zed" / "settings.json",)
    base = machine.home / ".config" if machine.platform == "darwin" else machine.config_folder()
    return (base / "zed" / "settings.json",)


def _cline(machine: Machine) -> tuple[Path, ...]:
    return (
        machine.path_from(
            "CLINE_MCP_SETTINGS_PATH",
            machine.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json",
        ),
    )


def _lm_studio(machine: Machine) -> tuple[Path, ...]:
    return (machine.home / ".lmstudio" / "mcp.json", machine.home / ".cache" / "lm-studio" / "mcp.json")


def _copilot(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("COPILOT_HOME", machine.home / ".copilot") / "mcp-config.json",)


def _goose(machine: Machine) -> tuple[Path, ...]:
    if machine.platform == "win32":
        return (machine.roaming_folder() / "Block" / "goose" / "config" / "config.yaml",)
    return (machine.config_folder() / "goose" / "config.yaml",)


_SERVERS: Final = ("mcpServers",)
_GOOSE: Final = MappingProxyType({"name": "Keyhole", "enabled": True, "timeout": 300})
_TYPED: Final = Shape("stdio", "http")
_CODEX: Final = Shape(
    headers="http_headers", header_variables="env_http_headers", forwarded="env_vars",
    token_variable="bearer_token_env_var",  # noqa: S106 - a key
)  # fmt: skip

_ALL: Final = (
    McpClient(
        "claude-desktop", "Claude Desktop", _claude_desktop, _SERVERS, Shape(url=""),
        "https://modelcontextprotocol.io/docs/develop/connect-local-servers", next_step=RESTART,
    ),
    McpClient(
        "claude-code", "Claude Code", _claude_code, _SERVERS, _TYPED, "https://code.claude.com/docs/en/mcp",
        project=".mcp.json", program="claude",
    ),
    McpClient(
        "codex", "Codex", _codex, ("mcp_servers",), _CODEX, "https://developers.openai.com/codex/mcp",
        project=".codex/config.toml", format="toml", program="codex",
    ),
    McpClient(
        "vscode", "VS Code", _vscode("Code"), ("servers",), _TYPED,
        "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        project=".vscode/mcp.json", program="code", next_step="Start it in the MCP SERVERS view, or reload the window.",
    ),
    McpClient(
        "vscode-insiders", "VS Code Insiders", _vscode("Code - Insiders"), ("servers",), _TYPED,
        "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        project=".vscode/mcp.json", program="code-insiders", next_step="Start it in the MCP SERVERS view.",
    ),
    McpClient(
        "copilot", "Copilot CLI", _copilot, _SERVERS, Shape("local", "http", extra=MappingProxyType({"tools": ["*"]})),
        "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        program="copilot",
    ),
    McpClient(
        "cursor", "Cursor", lambda machine: (machine.home / ".cursor/mcp.json",), _SERVERS, Shape(),
        "https://cursor.com/docs/context/mcp", project=".cursor/mcp.json", program="cursor", next_step=RESTART,
    ),
    McpClient(
        "windsurf", "Windsurf", lambda machine: (machine.home / ".codeium/windsurf/mcp_config.json",), _SERVERS,
        Shape(url="serverUrl"), "https://docs.windsurf.com/windsurf/cascade/mcp", program="windsurf",
        next_step="Refresh the list of MCP servers.",
    ),
    McpClient(
        "gemini", "Gemini CLI", _gemini, _SERVERS, Shape(http="http"),
        "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
        project=".gemini/settings.json", program="gemini",
    ),
    McpClient(
        "opencode", "opencode", _opencode, ("mcp",),
        Shape("local", "remote", args="", env="environment"), "https://opencode.ai/docs/mcp-servers",
        project="opencode.json", program="opencode",
    ),
    McpClient(
        "zed", "Zed", _zed, ("context_servers",), Shape(), "https://zed.dev/docs/ai/mcp",
        project=".zed/settings.json", program="zed", next_step="It starts immediately.",
    ),
    McpClient(
        "cline", "Cline", _cline, _SERVERS, Shape(http="streamableHttp"), "https://docs.cline.bot/mcp/mcp-overview",
        program="cline",
    ),
    McpClient(
        "lm-studio", "LM Studio", _lm_studio, _SERVERS, Shape(), "https://lmstudio.ai/docs/app/mcp", program="lms",
        next_step="Enable it under Program, Integrations.",
    ),
    McpClient(
        "goose", "goose", _goose, ("extensions",),
        Shape("stdio", "streamable_http", url="uri", program="cmd", env="envs", extra=_GOOSE),
        "https://block.github.io/goose/docs/guides/config-files", format="yaml", program="goose",
    ),
)  # fmt: skip
CLIENTS: Final = MappingProxyType({client.name: client for client in _ALL})
