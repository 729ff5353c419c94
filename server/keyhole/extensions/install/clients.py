"""Table of the clients that Keyhole can be registered with: their configuration files, and the shape of an entry.

Checked against the clients' documentation in November 2026. tests/clients/install_command.py checks some entries
with the client's own program. This module opens no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from types import MappingProxyType
from typing import Any, Final, Literal

# Entries: a server, to and from the configuration file of a client.

SCRIPT: Final = "keyhole-reader"
"""Name of the script that serves over stdio, and of the distribution."""
PROGRAM: Final = "keyhole"
"""Name of the script with all commands, and of the package."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server to register: a program with its settings, or the URL of a server that runs elsewhere."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""


@dataclass(frozen=True, slots=True)
class EntryKeys:
    """The keys of a client's entries."""

    stdio: str = ""
    """Value of `type` for a program; "" if entries have no `type`."""
    http: str = ""
    """Value of `type` for a URL; "" if entries have no `type`."""
    url: str = "url"
    """Key of the URL; "" if the client accepts no URLs."""
    program: str = "command"
    """Key of the program."""
    args: str = "args"
    """Key of the arguments; "" if `program` is a list of the program and its arguments."""
    env: str = "env"
    """Key of the settings."""
    headers: str = "headers"
    """Key of the headers for a URL."""
    header_variables: str = ""
    """Key of the headers whose values come from environment variables; "" if the client has no such key."""
    token_variable: str = ""
    """Key of the environment variable with the bearer token for a URL; "" if the client has no such key."""
    forwarded: str = ""
    """Key of the list of environment variables that the client passes to a program; "" if there is no such key."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every entry."""


@dataclass(frozen=True, slots=True)
class ValuePosition:
    """The position of a value in the text of a file, in characters."""

    start: int
    end: int
    items: tuple[tuple[int, int], ...] | None = None
    """The positions of the items of a list; None if the value is no list."""


def build_entry(shape: EntryKeys, server: Server, existing: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the entry of a server.

    Keys and settings of an `existing` entry of the same kind are kept unless `server` has other values for them. A
    setting with an empty value is removed.
    """
    entry: dict[str, Any] = {"type": kind} if (kind := shape.http if server.url else shape.stdio) else {}
    entry |= dict(shape.extra)
    old = existing if existing is not None and (shape.url in existing) == bool(server.url) else {}
    if server.url:
        return {**old, **entry, shape.url: server.url}
    entry |= {shape.program: server.command, shape.args: list(server.args)} if shape.args else {
        shape.program: [server.command, *server.args]
    }  # fmt: skip
    env = {**_as_mapping(old.get(shape.env)), **server.env}
    env = {name: value for name, value in env.items() if value != ""}
    if env or shape.env in old:
        entry[shape.env] = env
    return {**old, **{key: value for key, value in entry.items() if key not in shape.extra or key not in old}}


def parse_entry(shape: EntryKeys, entry: Mapping[str, Any]) -> Server:
    """Return the server of an entry, ignoring values of unexpected types."""
    words = entry.get(shape.program)
    if isinstance(words, str):
        words = [words, *_as_strings(entry.get(shape.args))]
    command, *args = _as_strings(words) or [""]
    env = {name: str(value) for name, value in _as_mapping(entry.get(shape.env)).items()}
    url = entry.get(shape.url) if shape.url else None
    return Server(command, tuple(args), env, url if isinstance(url, str) else "")


def is_keyhole(server: Server) -> bool:
    """Return True if a registered program is Keyhole, in any installation and under any name; False for a URL."""
    name = _program_name(server)
    is_module = "keyhole" in server.args[1:] and server.args[server.args.index("keyhole", 1) - 1] == "-m"
    is_serve = name == "keyhole" and server.args[:1] == ("serve",)
    return is_module or is_serve or _runs_script(server, SCRIPT)


def _runs_script(server: Server, script: str) -> bool:
    """Return True if the program is `script`, or a package runner such as uvx with `script` as an argument."""
    is_package = any(arg == script or arg.startswith((f"{script}@", f"{script}==")) for arg in server.args)
    return _program_name(server) == script or is_package


def _program_name(server: Server) -> str:
    return PureWindowsPath(server.command).stem  # PureWindowsPath accepts both kinds of slashes


def nest(path: Sequence[str | int], value: Mapping[str, Any]) -> Any:
    """Return `value` inside nested tables with the keys of `path`, the outermost first; an index makes a list."""
    nested: Any = dict(value)
    for key in reversed(path):
        nested = [nested] if isinstance(key, int) else {key: nested}
    return nested


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


# The clients.

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
    shape: EntryKeys
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
_TYPED: Final = EntryKeys("stdio", "http")
_CODEX: Final = EntryKeys(
    headers="http_headers", header_variables="env_http_headers", forwarded="env_vars",
    token_variable="bearer_token_env_var",  # noqa: S106 - a key
)  # fmt: skip

_ALL: Final = (
    McpClient(
        "claude-desktop", "Claude Desktop", _claude_desktop, _SERVERS, EntryKeys(url=""),
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
        "copilot", "Copilot CLI", _copilot, _SERVERS,
        EntryKeys("local", "http", extra=MappingProxyType({"tools": ["*"]})),
        "https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers",
        program="copilot",
    ),
    McpClient(
        "cursor", "Cursor", lambda machine: (machine.home / ".cursor/mcp.json",), _SERVERS, EntryKeys(),
        "https://cursor.com/docs/context/mcp", project=".cursor/mcp.json", program="cursor", next_step=RESTART,
    ),
    McpClient(
        "windsurf", "Windsurf", lambda machine: (machine.home / ".codeium/windsurf/mcp_config.json",), _SERVERS,
        EntryKeys(url="serverUrl"), "https://docs.windsurf.com/windsurf/cascade/mcp", program="windsurf",
        next_step="Refresh the list of MCP servers.",
    ),
    McpClient(
        "gemini", "Gemini CLI", _gemini, _SERVERS, EntryKeys(http="http"),
        "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
        project=".gemini/settings.json", program="gemini",
    ),
    McpClient(
        "opencode", "opencode", _opencode, ("mcp",),
        EntryKeys("local", "remote", args="", env="environment"), "https://opencode.ai/docs/mcp-servers",
        project="opencode.json", program="opencode",
    ),
    McpClient(
        "zed", "Zed", _zed, ("context_servers",), EntryKeys(), "https://zed.dev/docs/ai/mcp",
        project=".zed/settings.json", program="zed", next_step="It starts immediately.",
    ),
    McpClient(
        "cline", "Cline", _cline, _SERVERS, EntryKeys(http="streamableHttp"), "https://docs.cline.bot/mcp/mcp-overview",
        program="cline",
    ),
    McpClient(
        "lm-studio", "LM Studio", _lm_studio, _SERVERS, EntryKeys(), "https://lmstudio.ai/docs/app/mcp", program="lms",
        next_step="Enable it under Program, Integrations.",
    ),
    McpClient(
        "goose", "goose", _goose, ("extensions",),
        EntryKeys("stdio", "streamable_http", url="uri", program="cmd", env="envs", extra=_GOOSE),
        "https://block.github.io/goose/docs/guides/config-files", format="yaml", program="goose",
    ),
)  # fmt: skip
CLIENTS: Final = MappingProxyType({client.name: client for client in _ALL})
