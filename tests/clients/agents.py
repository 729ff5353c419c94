"""Configure and start real agents with a fake model on loopback and a single prompt."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from .setup import Setup

PROMPT: Final = "Read the page."
KEY: Final = "loopback"
"""A placeholder, because the fake model checks no key."""


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """The input for an agent's configuration: the model's URL, the command that starts Keyhole, and the environment."""

    setup: Setup
    model: str
    command: tuple[str, ...]
    env: dict[str, str]

    @property
    def work(self) -> Path:
        """The agent's working folder."""
        folder = self.setup.scratch / "work"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def server(self) -> dict[str, Any]:
        """The entry for Keyhole in the form of most agents' settings files."""
        return {"command": self.command[0], "args": list(self.command[1:]), "env": self.setup.settings}

    def write(self, path: Path, settings: dict[str, Any]) -> None:
        """Write a settings file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), "utf-8")


Configure = Callable[[AgentSetup], tuple[list[str], dict[str, str]]]
"""Writes an agent's settings; returns its command line and the environment variables that it needs."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its npm packages, its configuration and its expected name."""

    name: str
    packages: tuple[str, ...]
    configure: Configure
    client: str
    """The `clientInfo.name` that it sends."""
    has_known_limit: bool = True
    """False if its output limit depends on the model, which the server does not learn."""


def _codex(model_name: str, agent_setup: AgentSetup) -> tuple[list[str], dict[str, str]]:
    home = agent_setup.setup.scratch / "codex"
    home.mkdir()
    model = {
        "name": "loopback",
        "base_url": f"{agent_setup.model}/v1",
        "wire_api": "responses",
        "env_key": "LOOPBACK_KEY",
    }
    tables = {
        "": {"model_provider": "loopback", "model": model_name, "approval_policy": "never"},
        "[model_providers.loopback]": model,
        # Required: otherwise Codex may send the first request to the model before the server has started.
        "[mcp_servers.keyhole]": {**{key: agent_setup.server[key] for key in ("command", "args")}, "required": True},
        "[mcp_servers.keyhole.env]": agent_setup.setup.settings,
    }
    # JSON strings and lists of strings are valid TOML.
    rows = [[name, *(f"{key} = {json.dumps(value)}" for key, value in table.items())] for name, table in tables.items()]
    (home / "config.toml").write_text("\n".join(line for row in rows for line in row) + "\n", "utf-8")
    return ["codex", "exec", "--skip-git-repo-check", "--json", PROMPT], {"CODEX_HOME": str(home), "LOOPBACK_KEY": KEY}


def _claude(agent_setup: AgentSetup) -> tuple[list[str], dict[str, str]]:
    agent_setup.write(agent_setup.work / "mcp.json", {"mcpServers": {"keyhole": agent_setup.server}})
    words = [
        "claude",
        "-p",
        PROMPT,
        "--mcp-config",
        "mcp.json",
        "--strict-mcp-config",
        "--allowedTools",
        "mcp__keyhole",
    ]
    quiet = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
    # Wait for the server; by default Claude Code continues without it after 5 seconds.
    waits = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": "60000", **dict.fromkeys(quiet, "1")}
    return words, {"ANTHROPIC_BASE_URL": agent_setup.model, "ANTHROPIC_API_KEY": KEY, **waits}


def _gemini(agent_setup: AgentSetup) -> tuple[list[str], dict[str, str]]:
    settings = {
        "mcpServers": {"keyhole": {**agent_setup.server, "trust": True}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    agent_setup.write(Path(agent_setup.env["HOME"]) / ".gemini" / "settings.json", settings)
    env = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": agent_setup.model, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    # Name a model: by default Gemini first asks another model which model to use.
    return ["gemini", "-p", PROMPT, "--yolo", "-m", "gemini-2.5-flash"], env


def _qwen(agent_setup: AgentSetup) -> tuple[list[str], dict[str, str]]:
    settings = {
        "mcpServers": {"keyhole": {**agent_setup.server, "trust": True}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "security": {"auth": {"selectedType": "openai"}},
        "tools": {"toolSearch": {"enabled": False}},
    }
    agent_setup.write(Path(agent_setup.env["HOME"]) / ".qwen" / "settings.json", settings)
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{agent_setup.model}/v1", "OPENAI_MODEL": "loopback"}
    return ["qwen", "-p", PROMPT, "--yolo"], env


def _opencode(agent_setup: AgentSetup) -> tuple[list[str], dict[str, str]]:
    limits = {"context": 400_000, "output": 8_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Loopback",
        "options": {"baseURL": f"{agent_setup.model}/v1", "apiKey": KEY},
        "models": {"loopback": {"name": "loopback", "tool_call": True, "limit": limits}},
    }
    server = {
        "type": "local",
        "command": list(agent_setup.command),
        "environment": agent_setup.setup.settings,
        "enabled": True,
    }
    settings = {"provider": {"loopback": provider}, "mcp": {"keyhole": server}}
    agent_setup.write(
        agent_setup.work / "opencode.json",
        {"autoupdate": False, "share": "disabled", "permission": "allow", **settings},
    )
    quiet = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
    return ["opencode", "run", "-m", "loopback/loopback", PROMPT], dict.fromkeys(quiet, "1")


def _copilot(agent_setup: AgentSetup) -> tuple[list[str], dict[str, str]]:
    server = {**agent_setup.server, "type": "local", "tools": ["*"]}
    agent_setup.write(agent_setup.work / "mcp.json", {"mcpServers": {"keyhole": server}})
    words = ["copilot", "-p", PROMPT, "--allow-all-tools", "--additional-mcp-config", "@mcp.json"]
    provider = {"BASE_URL": f"{agent_setup.model}/v1", "TYPE": "openai", "API_KEY": KEY}
    env = {f"COPILOT_PROVIDER_{key}": value for key, value in provider.items()}
    return words, {**env, "COPILOT_MODEL": "gpt-4.1", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}


AGENTS: Final = (
    # Two models: for gpt-5.5 Codex shows tools only after a search for tools, for gpt-5 it shows them at once.
    Agent("codex exec gpt-5.5", ("@openai/codex",), partial(_codex, "gpt-5.5"), "codex-mcp-client"),
    # Codex's output limit depends on the model, which Codex does not report. This limit is a quarter of gpt-5.5's.
    Agent("codex exec gpt-5", ("@openai/codex",), partial(_codex, "gpt-5"), "codex-mcp-client", has_known_limit=False),
    Agent("claude -p", ("@anthropic-ai/claude-code",), _claude, "claude-code"),
    Agent("gemini", ("@google/gemini-cli", "node"), _gemini, "gemini-cli-mcp-client"),
    Agent("qwen", ("@qwen-code/qwen-code", "node"), _qwen, "qwen-cli-mcp-client-keyhole"),
    Agent("opencode", ("opencode-ai",), _opencode, "opencode"),
    Agent("copilot", ("@github/copilot", "node"), _copilot, "copilot-cli"),
)
