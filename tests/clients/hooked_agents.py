"""Configure real agents whose tools' results go through Keyhole's hook, and run turns of them."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from . import flood_server
from .agents import AGENTS, Agent, AgentSetup
from .codex import app_server
from .fake_model import BUILT_IN, Step, serve_model
from .setup import SERVER, Setup, open_setup
from .steps import run_program

PATIENCE: Final = 90.0
"""Seconds for a turn, which normally takes 3 to 10."""
HOOK_SECONDS: Final = 2
"""Seconds after which a client stops a hook, in place of Keyhole's 10, so that a hook that hangs delays a test less."""
LARGE_FILE: Final = "large.txt"
"""A file of 200 KB in the working folder."""
EDITED_FILE: Final = "edited.txt"
"""A file in the working folder, the first 50 KB of LARGE_FILE, which every agent reads whole."""
NAMES_FOLDER: Final = "timetables"
"""A folder in the working folder, whose files have names of 10 KB together."""
FETCHED: Final = "https://docs.example.org/page"
"""An address that no resolver knows."""
ROW, EDITED_ROW = "row 900:", "row 900, edited:"
"""A text in EDITED_FILE that is not in its bounded form, and what it is changed to."""
OTHER_SERVER: Final = (sys.executable, str(Path(__file__).with_name("flood_server.py")))

_JSON_COMMAND = re.compile(r'"[^"\n]*( hook (?:claude|codex|copilot)\b)')
_PLUGIN_COMMAND = re.compile(r"^const COMMAND = \[.*\];$", re.MULTILINE)
_SECONDS = re.compile(r'("timeout(?:Sec)?": |const SECONDS = )10\b')


@dataclass(frozen=True, slots=True)
class HookedAgent:
    """An agent with Keyhole's hook."""

    name: str
    """The agent's name in `keyhole install`."""
    agent: Agent
    hook_file: str
    """The file that `keyhole install` writes, below the agent's home folder."""
    shell: str
    """Its shell tool."""
    command: str
    """The name of the argument that has the command line."""
    flood: str
    """Its name of the other server's tool."""
    extend: Callable[[AgentSetup, list[str]], list[str]]
    """Adds the other server to the agent's settings; returns the command line, which permits its tools."""
    file_calls: tuple[Step, ...] = ()
    """Calls of its tools that read and search LARGE_FILE."""
    name_calls: tuple[Step, ...] = ()
    """Calls of its tools that find the files in NAMES_FOLDER."""
    edit_calls: tuple[Step, ...] = ()
    """Calls of its tools that read EDITED_FILE and change ROW in it."""
    built_in_fetch: Step | None = None
    """A call of its own web fetch, None if no hook can refuse it."""
    tells_status: bool = True
    """False if the model learns the exit status of no command."""

    def run(self, command: str) -> Step:
        """Return the model's call that runs a command line."""
        return self.shell, {self.command: command, "description": "Run it."}


def _edit_json(path: Path, keys: Sequence[str], value: Any) -> None:
    """Set a value in a settings file."""
    settings = json.loads(path.read_text("utf-8"))
    table = settings
    for key in keys[:-1]:
        table = table.setdefault(key, {})
    table[keys[-1]] = value
    path.write_text(json.dumps(settings), "utf-8")


def _claude(agent_setup: AgentSetup, words: list[str]) -> list[str]:
    other = {"command": OTHER_SERVER[0], "args": [OTHER_SERVER[1]]}
    _edit_json(agent_setup.work / "mcp.json", ("mcpServers", "other"), other)
    return [
        *words,
        "mcp__other",
        "Bash",
        "Grep",
        "Read",
        "Edit",
    ]  # the last option of the words lists the permitted tools


def _codex(agent_setup: AgentSetup, words: list[str]) -> list[str]:
    lines = [
        "[mcp_servers.other]",
        f"command = {json.dumps(OTHER_SERVER[0])}",
        f"args = [{json.dumps(OTHER_SERVER[1])}]",
    ]
    with (agent_setup.setup.scratch / "codex" / "config.toml").open("a", encoding="utf-8") as file:
        file.write("\n".join([*lines, "required = true", ""]))
    # Codex's sandbox needs rights of the kernel that containers do not give.
    return [*words[:2], "--sandbox", "danger-full-access", *words[2:]]


def _copilot(agent_setup: AgentSetup, words: list[str]) -> list[str]:
    other = {"type": "local", "command": OTHER_SERVER[0], "args": [OTHER_SERVER[1]], "tools": ["*"]}
    _edit_json(agent_setup.work / "mcp.json", ("mcpServers", "other"), other)
    return words


def _opencode(agent_setup: AgentSetup, words: list[str]) -> list[str]:
    other = {"type": "local", "command": list(OTHER_SERVER), "enabled": True}
    _edit_json(agent_setup.work / "opencode.json", ("mcp", "other"), other)
    return words


_AGENTS = {agent.name: agent for agent in AGENTS}
HOOKED_AGENTS: Final = (
    HookedAgent(
        "claude-code", _AGENTS["claude -p"], "home/.claude/settings.json", "Bash", "command", "mcp__other__flood",
        _claude,
        (
            ("Read", {"file_path": LARGE_FILE}),
            ("Grep", {"pattern": "ferry", "path": LARGE_FILE, "output_mode": "content", "head_limit": 0}),
        ),
        (("Grep", {"pattern": "ferry", "path": NAMES_FOLDER}), ("Glob", {"pattern": f"{NAMES_FOLDER}/*"})),
        (
            ("Read", {"file_path": EDITED_FILE}),
            ("Edit", {"file_path": EDITED_FILE, "old_string": ROW, "new_string": EDITED_ROW}),
        ),
        ("WebFetch", {"url": FETCHED, "prompt": "the default port"}),
    ),
    # With gpt-5, Codex cuts a shell's output most, and offers tools without a search for them.
    HookedAgent(
        "codex", _AGENTS["codex exec gpt-5"], "codex/hooks.json", "exec_command", "cmd", "mcp__other|flood", _codex
    ),
    HookedAgent(
        "copilot", _AGENTS["copilot"], "home/.copilot/hooks/keyhole.json", "bash", "command", "other-flood", _copilot,
        (("view", {"path": LARGE_FILE, "forceReadLargeFiles": True}),),
        (("glob", {"pattern": f"{NAMES_FOLDER}/*"}),),
        built_in_fetch=(f"{BUILT_IN}web_fetch", {"url": FETCHED}),
    ),
    HookedAgent(
        "opencode", _AGENTS["opencode"], "home/.config/opencode/plugin/keyhole.js", "bash", "command", "other_flood",
        _opencode, (("read", {"filePath": LARGE_FILE}), ("grep", {"pattern": "ferry", "include": LARGE_FILE})),
        (("glob", {"pattern": f"{NAMES_FOLDER}/*"}),),
        (
            ("read", {"filePath": EDITED_FILE}),
            ("edit", {"filePath": EDITED_FILE, "oldString": ROW, "newString": EDITED_ROW}),
        ),
        built_in_fetch=("webfetch", {"url": FETCHED, "format": "text"}),
        tells_status=False,
    ),
)  # fmt: skip


def run_turn(
    hooked: HookedAgent, programs: Path, script: Sequence[Step], change: Callable[[Path], None] | None = None,
    *, options: Sequence[str] = (), trusts: bool = True, after: Callable[[Path], None] | None = None,
    shared: bool = False,
) -> list[str]:  # fmt: skip
    """Install the hook, run a turn whose model follows the script, and return the results that the model received.

    `change` edits the file with the hook after it was installed; `options`: of `keyhole install`; `trusts`: the user
    trusts Codex's hooks. `after` gets Keyhole's home folder when the turn has ended. `shared`: the agent starts
    keyhole-reader.
    """
    with (
        tempfile.TemporaryDirectory(prefix="keyhole-clients-") as folder,
        open_setup(Path(folder), shared=shared) as setup,
    ):
        with serve_model(script) as model:
            agent_setup = AgentSetup(setup, model.url, setup.command, setup.client_env(programs))
            words, variables = hooked.agent.configure(agent_setup)
            words = hooked.extend(agent_setup, words)
            # With a plugin, opencode waits for npm, which without a network takes a minute.
            env = {**agent_setup.env, **variables, **setup.settings, "npm_config_offline": "true"}
            _install(hooked, options, env, setup)
            (agent_setup.work / LARGE_FILE).write_text(flood_server.TEXT, "utf-8")
            (agent_setup.work / EDITED_FILE).write_text(flood_server.TEXT[:50_000], "utf-8")
            (agent_setup.work / NAMES_FOLDER).mkdir()
            for number in range(200):
                name = f"pier-{number * 7919 % 1009}-timetable-of-the-ferries.txt"
                (agent_setup.work / NAMES_FOLDER / name).write_text("ferry\n", "utf-8")
            if change:
                change(setup.scratch / hooked.hook_file)
            if hooked.name == "codex" and trusts:
                _trust(programs, env, agent_setup.work)
            done = run_program([str(programs / words[0]), *words[1:]], env, agent_setup.work, PATIENCE)
            if after:
                after(Path(setup.settings["KEYHOLE_HOME"]))
        assert done.returncode == 0, f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-500:]}"
        assert len(model.shown) == len(script), f"{len(model.shown)} of {len(script)} results: {model.shown}"
        return model.shown


def use_program(program: Path) -> Callable[[Path], None]:
    """Return a function that has the hook in a file start this program, and be stopped after HOOK_SECONDS."""

    def change(file: Path) -> None:
        text = file.read_text("utf-8")
        command = f"const COMMAND = {json.dumps([str(program), 'hook', 'opencode'])};"
        changed = _PLUGIN_COMMAND.sub(lambda _: command, _JSON_COMMAND.sub(rf'"{program}\1', text))
        changed, count = _SECONDS.subn(rf"\g<1>{HOOK_SECONDS}", changed)
        assert str(program) in changed and count == 1, f"not the hook of Keyhole: {text}"
        file.write_text(changed, "utf-8")

    return change


def _install(hooked: HookedAgent, options: Sequence[str], env: dict[str, str], setup: Setup) -> None:
    words = [sys.executable, "-m", "keyhole", "install", hooked.name, "--hooks-only", "--yes", *options]
    done = run_program(words, {**env, "PYTHONPATH": str(SERVER)}, setup.scratch)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]


def _trust(programs: Path, env: dict[str, str], folder: Path) -> None:
    """Trust the hooks, through Codex's app server."""
    with app_server(programs, env, folder) as server:
        (listed,) = server.request("hooks/list", {"cwds": [str(folder)]})["data"]
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in listed["hooks"]}
        assert trusted, f"Codex reads no hook: {listed}"
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        server.request("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
