"""`keyhole install` against the clients themselves: each reads what was written, and most start it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from .npm import NotBroughtError, bring
from .stage import SERVER, Stage
from .steps import Steps, run_program

PACKAGES = ("@openai/codex",)
"""The one that must be there; the others are brought by the steps that need them."""

_COLORS = re.compile("\x1b\\[[0-9;]*m")
_QUIET = {
    "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "GEMINI_TELEMETRY_ENABLED": "false", "OPENCODE_DISABLE_AUTOUPDATE": "1", "NO_COLOR": "1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reader:
    """A client's own program that reads its file: what it is asked, what it says with Keyhole, and without.
    `file`: where it is below the home folder; `there`: what it holds before; `rewrites`: the client writes it too."""

    client: str
    package: str
    program: Sequence[str]
    shows: str
    file: str
    there: str
    rewrites: bool = False
    besides: Mapping[str, str] = field(default_factory=dict)


_SERVERS = '{\n\t// mine\n\t"mcpServers": {\n\t\t"other": { "command": "true" }, /* stays */\n\t},\n}\n'
READERS = (
    Reader(
        "codex", "@openai/codex", ("codex", "mcp", "list", "--json"), '"keyhole"', ".codex/config.toml",
        '# mine\nmodel = "m"\n\n[mcp_servers.other] # stays\ncommand = "true"\n\n# the last words',
    ),
    Reader(
        "claude-code", "@anthropic-ai/claude-code", ("claude", "mcp", "get", "keyhole"), "Connected", ".claude.json",
        '{\n  "mcpServers": {\n    "other": {\n      "command": "true"\n    }\n  }\n}', rewrites=True,
    ),
    Reader(
        "gemini", "@google/gemini-cli", ("gemini", "mcp", "list"), "- Connected", ".gemini/settings.json",
        _SERVERS.replace("},\n}", "}\n}").replace("}, /*", "} /*"), besides={".gemini/trustedFolders.json": "FOLDER"},
    ),
    Reader(
        "opencode", "opencode-ai", ("opencode", "mcp", "list"), "keyhole connected", ".config/opencode/opencode.jsonc",
        '{\r\n    // mine\r\n    "$schema": "https://opencode.ai/config.json",\r\n    "mcp": {},\r\n}',
    ),
    Reader(
        "copilot", "@github/copilot", ("copilot", "mcp", "get", "keyhole"), "Status: Enabled",
        ".copilot/mcp-config.json",
        '{"mcpServers": {"other": {"type": "local", "command": "true", "args": [], "tools": ["*"]}}}',
    ),
)  # fmt: skip


def check(steps: Steps, stage: Stage, _programs: Path) -> None:
    """Register, have the client read it, take it out again."""
    for reader in READERS:
        try:
            programs = bring((reader.package,))
        except NotBroughtError as reason:
            steps.skip(f"install {reader.client}", str(reason))
            continue
        env = {**stage.client_env(programs), **_QUIET}
        file = Path(env["HOME"]) / reader.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(reader.there.encode())
        for name, text in reader.besides.items():
            folder = json.dumps({str(stage.scratch): "TRUST_FOLDER"})
            (Path(env["HOME"]) / name).write_text(folder if text == "FOLDER" else text, "utf-8")
        where = f"install {reader.client}"
        steps.run(f"{where}: keeps what is in the file", partial(_install, stage, env, reader, file))
        steps.run(f"{where}: the client reads it", partial(_read, stage, env, programs, reader, reader.shows, True))
        steps.run(f"{where}: --uninstall takes it out", partial(_uninstall, stage, env, reader, file))
        steps.run(f"{where}: the client misses it", partial(_read, stage, env, programs, reader, reader.shows, False))


def _install(stage: Stage, env: Mapping[str, str], reader: Reader, file: Path) -> None:
    settings = [
        part
        for name, value in stage.settings.items()
        if name.startswith("KEYHOLE_")
        for part in ("--env", f"{name}={value}")
    ]
    said = _keyhole(stage, env, "install", reader.client, *settings)
    assert "registered" in said, said
    written = file.read_bytes()
    for line in reader.there.splitlines():
        # In a file of one line, and for the comma behind what was last, only the words are compared.
        assert all(word.rstrip(",}") in written.decode() for word in line.split()), line
    said = _keyhole(stage, env, "install", reader.client, *settings)
    assert "already" in said and file.read_bytes() == written, said


def _read(stage: Stage, env: Mapping[str, str], programs: Path, reader: Reader, shown: str, there: bool) -> None:
    command = [str(programs / reader.program[0]), *reader.program[1:]]
    done = run_program(command, env, stage.scratch)
    said = _COLORS.sub("", done.stdout + done.stderr)
    assert (shown in said) is there, f"exit {done.returncode}: {said[-500:]}"


def _uninstall(stage: Stage, env: Mapping[str, str], reader: Reader, file: Path) -> None:
    said = _keyhole(stage, env, "install", reader.client, "--uninstall")
    assert "taken out" in said, said
    if not reader.rewrites:
        assert file.read_bytes() == reader.there.encode(), file.read_bytes()


def _keyhole(stage: Stage, env: Mapping[str, str], *words: str) -> str:
    done = run_program([sys.executable, "-m", "keyhole", *words], {**env, "PYTHONPATH": str(SERVER)}, stage.scratch)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    return done.stdout
