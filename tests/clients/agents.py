"""Real agents, each pointed at a model on loopback: how one is configured, started and given its one prompt."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from .stage import Stage

PROMPT: Final = "Read the page."
KEY: Final = "loopback"
"""A key that is none: the model is ours."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What an agent is set up with: the model's address, the command that starts Keyhole, folders of its own."""

    stage: Stage
    model: str
    command: tuple[str, ...]
    env: dict[str, str]

    @property
    def work(self) -> Path:
        """The folder that it works in."""
        folder = self.stage.scratch / "work"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def server(self) -> dict[str, Any]:
        """Keyhole as most files of settings name it."""
        return {"command": self.command[0], "args": list(self.command[1:]), "env": self.stage.settings}

    def write(self, path: Path, settings: dict[str, Any]) -> None:
        """A file of settings."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), "utf-8")


SetUp = Callable[[Scene], tuple[list[str], dict[str, str]]]
"""Writes an agent's settings; the words that start it and what its environment needs."""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent."""

    name: str
    packages: tuple[str, ...]
    set_up: SetUp
    client: str
    """`clientInfo.name` as it announces itself."""
    fitted: bool = True
    """Whether what it lets through is known by its name."""


def _codex(model_name: str, scene: Scene) -> tuple[list[str], dict[str, str]]:
    home = scene.stage.scratch / "codex"
    home.mkdir()
    model = {"name": "loopback", "base_url": f"{scene.model}/v1", "wire_api": "responses", "env_key": "LOOPBACK_KEY"}
    tables = {
        "": {"model_provider": "loopback", "model": model_name, "approval_policy": "never"},
        "[model_providers.loopback]": model,
        # Waited for: otherwise the first request to the model may go out before a busy machine has started it.
        "[mcp_servers.keyhole]": {**{key: scene.server[key] for key in ("command", "args")}, "required": True},
        "[mcp_servers.keyhole.env]": scene.stage.settings,
    }
    # JSON's strings, lists of strings and nothing else are TOML's as well.
    rows = [[name, *(f"{key} = {json.dumps(value)}" for key, value in table.items())] for name, table in tables.items()]
    (home / "config.toml").write_text("\n".join(line for row in rows for line in row) + "\n", "utf-8")
    return ["codex", "exec", "--skip-git-repo-check", "--json", PROMPT], {"CODEX_HOME": str(home), "LOOPBACK_KEY": KEY}


def _claude(scene: Scene) -> tuple[list[str], dict[str, str]]:
    scene.write(scene.work / "mcp.json", {"mcpServers": {"keyhole": scene.server}})
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
    # Waited for, as above: it would go on after 5 seconds.
    waits = {"MCP_CONNECTION_NONBLOCKING": "false", "MCP_CONNECT_TIMEOUT_MS": "60000", **dict.fromkeys(quiet, "1")}
    return words, {"ANTHROPIC_BASE_URL": scene.model, "ANTHROPIC_API_KEY": KEY, **waits}


def _gemini(scene: Scene) -> tuple[list[str], dict[str, str]]:
    settings = {
        "mcpServers": {"keyhole": {**scene.server, "trust": True}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    scene.write(Path(scene.env["HOME"]) / ".gemini" / "settings.json", settings)
    env = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": scene.model, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    # A model by name: by default another one is asked first which to use.
    return ["gemini", "-p", PROMPT, "--yolo", "-m", "gemini-2.5-flash"], env


def _qwen(scene: Scene) -> tuple[list[str], dict[str, str]]:
    settings = {
        "mcpServers": {"keyhole": {**scene.server, "trust": True}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "security": {"auth": {"selectedType": "openai"}},
        "tools": {"toolSearch": {"enabled": False}},
    }
    scene.write(Path(scene.env["HOME"]) / ".qwen" / "settings.json", settings)
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{scene.model}/v1", "OPENAI_MODEL": "loopback"}
    return ["qwen", "-p", PROMPT, "--yolo"], env


def _opencode(scene: Scene) -> tuple[list[str], dict[str, str]]:
    limits = {"context": 400_000, "output": 8_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Loopback",
        "options": {"baseURL": f"{scene.model}/v1", "apiKey": KEY},
        "models": {"loopback": {"name": "loopback", "tool_call": True, "limit": limits}},
    }
    server = {"type": "local", "command": list(scene.command), "environment": scene.stage.settings, "enabled": True}
    settings = {"provider": {"loopback": provider}, "mcp": {"keyhole": server}}
    scene.write(
        scene.work / "opencode.json", {"autoupdate": False, "share": "disabled", "permission": "allow", **settings}
    )
    quiet = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
    return ["opencode", "run", "-m", "loopback/loopback", PROMPT], dict.fromkeys(quiet, "1")


def _copilot(scene: Scene) -> tuple[list[str], dict[str, str]]:
    server = {**scene.server, "type": "local", "tools": ["*"]}
    scene.write(scene.work / "mcp.json", {"mcpServers": {"keyhole": server}})
    words = ["copilot", "-p", PROMPT, "--allow-all-tools", "--additional-mcp-config", "@mcp.json"]
    provider = {"BASE_URL": f"{scene.model}/v1", "TYPE": "openai", "API_KEY": KEY}
    env = {f"COPILOT_PROVIDER_{key}": value for key, value in provider.items()}
    return words, {**env, "COPILOT_MODEL": "gpt-4.1", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}


AGENTS: Final = (
    # Two models: of one Codex knows what it takes and holds tools back until they are looked for, of the other not.
    Agent("codex exec gpt-5.5", ("@openai/codex",), partial(_codex, "gpt-5.5"), "codex-mcp-client"),
    # What it lets through goes by the model, a quarter here, and no server is told which it is.
    Agent("codex exec gpt-5", ("@openai/codex",), partial(_codex, "gpt-5"), "codex-mcp-client", fitted=False),
    Agent("claude -p", ("@anthropic-ai/claude-code",), _claude, "claude-code"),
    Agent("gemini", ("@google/gemini-cli", "node"), _gemini, "gemini-cli-mcp-client"),
    Agent("qwen", ("@qwen-code/qwen-code", "node"), _qwen, "qwen-cli-mcp-client-keyhole"),
    Agent("opencode", ("opencode-ai",), _opencode, "opencode"),
    Agent("copilot", ("@github/copilot", "node"), _copilot, "copilot-cli"),
)
