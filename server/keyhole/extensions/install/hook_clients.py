"""Table of the clients that can run Keyhole as a hook after each tool call: their files, and the shape of a hook.

Checked in November 2026 against Claude Code 2.1.197, Codex 0.169.0, Copilot CLI 1.0.102 and opencode 1.18.33, and their
documentation. This module opens no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from keyhole.extensions.install.clients import CLIENTS, NEW_SESSION, Format, Machine, McpClient
from keyhole.extensions.install.hook_lines import HookLine, Shell, join_words

TIMEOUT: Final = 10
"""Seconds after which a client stops the hook and uses the output as it is: enough for outputs of many megabytes."""
CODEX_TRUST: Final = (
    "Codex skips the hook, without a message, until you trust it: start codex and trust it with /hooks. "
    "A change of the command or of its place in the list needs your trust again."
)
CODEX_REWRITES: Final = (
    f"{CODEX_TRUST} From then on, Codex runs every command without asking you, because rewriting a command approves it."
)
REWRITE_EVENT: Final = "PreToolUse"
REWRITE: Final = "--rewrite-commands"
"""The option of Codex's hook that runs each command through `keyhole shell`."""
PREFER: Final = "--prefer"
"""The option of the hook that refuses the client's own web fetch."""
_CLAUDE_FETCH: Final = "^(WebFetch|WebSearch)$"
CODEX_OPTIONS: Final = " || exit 0"
"""Codex replaces a tool's output by the error message of a hook that exits with 2, the usual status of a wrong command
line. This text prevents that, in the shells of all platforms."""
_KEY_PATH: Final = ("hooks",)
_CLAUDE_TOOLS: Final = "^(Bash|PowerShell|Read|Grep|Glob|TaskOutput|mcp__(?!keyhole).*)$"
_CODEX_SHELL: Final = "Bash"
_CODEX_TOOLS: Final = f"^({_CODEX_SHELL}|mcp__.*)$"
"""Patterns of the tools whose output is bounded. Codex's patterns cannot exclude Keyhole's own tools; the hook does."""


@dataclass(frozen=True, slots=True)
class HookClient:
    """A client that runs hooks. `client.key_path` leads to the lists of hooks, by event, in the file of `client`."""

    client: McpClient
    argument: str
    """The client's name in `keyhole hook NAME`."""
    event: str
    """The event after a tool call; "" for a plugin."""
    windows_shell: Shell
    """The shell that runs hooks on Windows."""
    tools: str = ""
    """Pattern of the tools whose output is bounded; "" for all, in a file without patterns."""
    start: str = ""
    """The content that a new file begins with."""
    options: str = ""
    """The text after the command, for the shell."""
    fetch_event: str = ""
    """The event before a call, "" for a plugin, and for a client whose own web fetch no hook can refuse."""
    fetch_tools: str = ""
    """Pattern of the client's own tools for the web; "" in a file without patterns."""

    @property
    def can_prefer(self) -> bool:
        """Return whether a hook can refuse the client's own web fetch."""
        return bool(self.fetch_event) or self.client.format == "script"

    def line(self, words: Sequence[str], platform: str) -> HookLine:
        """Return the command line for a program with its arguments. `platform`: as in `sys.platform`."""
        shell: Shell = self.windows_shell if platform == "win32" else "posix"
        return HookLine(join_words(words, shell), tuple(words), self.argument, self.options)

    def item(self, line: HookLine, platform: str) -> dict[str, Any]:
        """Return the item for the list of hooks: a group with one handler, or a handler."""
        if self.tools:
            handler = {"type": "command", "command": line.text, "timeout": TIMEOUT}
            return {"matcher": self.tools, "hooks": [handler]}
        shell = "powershell" if platform == "win32" else "bash"
        return {"type": "command", shell: line.text, "timeoutSec": TIMEOUT}

    def prefer_item(self, line: HookLine, platform: str, server: str) -> dict[str, Any]:
        """Return the item of the hook that names the call of the registered `server` in place of a built-in one."""
        return replace(self, tools=self.fetch_tools).item(replace(line, options=f" {PREFER} {server}"), platform)

    def rewrite_item(self, line: HookLine, platform: str) -> dict[str, Any]:
        """Return the item of Codex's hook that runs each command through `keyhole shell`."""
        rewriting = replace(line, options=f" {REWRITE}{line.options}")
        return replace(self, tools=f"^{_CODEX_SHELL}$").item(rewriting, platform)


def _claude(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("CLAUDE_CONFIG_DIR", machine.home / ".claude") / "settings.json",)


def _codex(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("CODEX_HOME", machine.home / ".codex") / "hooks.json",)


def _copilot(machine: Machine) -> tuple[Path, ...]:
    return (machine.path_from("COPILOT_HOME", machine.home / ".copilot") / "hooks" / "keyhole.json",)


def _opencode(machine: Machine) -> tuple[Path, ...]:
    folder = machine.path_from("OPENCODE_CONFIG_DIR", machine.config_folder() / "opencode")
    return (folder / "plugin" / "keyhole.js",)


def _hook_file(
    name: str,
    paths: Callable[[Machine], tuple[Path, ...]],
    project: str,
    source: str,
    format: Format = "json",
    next_step: str = NEW_SESSION,
) -> McpClient:
    return replace(
        CLIENTS[name], user_paths=paths, key_path=_KEY_PATH, project=project, source=source, format=format,
        next_step=next_step,
    )  # fmt: skip


_ALL: Final = (
    HookClient(
        _hook_file(
            "claude-code", _claude, ".claude/settings.local.json",
            "https://code.claude.com/docs/en/hooks",
        ),
        "claude", "PostToolUse", "git bash", _CLAUDE_TOOLS, fetch_event="PreToolUse", fetch_tools=_CLAUDE_FETCH,
    ),
    HookClient(
        _hook_file(
            "codex", _codex, ".codex/hooks.json", "https://developers.openai.com/codex/hooks",
            next_step=CODEX_TRUST,
        ),
        "codex", "PostToolUse", "cmd", _CODEX_TOOLS, options=CODEX_OPTIONS,
    ),
    HookClient(
        _hook_file(
            "copilot", _copilot, ".github/hooks/keyhole.json",
            "https://docs.github.com/en/copilot/reference/hooks-reference",
        ),
        "copilot", "postToolUse", "powershell", start='{\n  "version": 1\n}\n', fetch_event="preToolUse",
    ),
    HookClient(
        _hook_file(
            "opencode", _opencode, ".opencode/plugin/keyhole.js", "https://opencode.ai/docs/plugins", "script",
            next_step=f"{NEW_SESSION} At its first start with a plugin, opencode installs a package from npm.",
        ),
        "opencode", "", "posix",
    ),
)  # fmt: skip
HOOK_CLIENTS: Final[Mapping[str, HookClient]] = MappingProxyType({each.client.name: each for each in _ALL})
