"""Check that real clients read the registrations that `keyhole install` writes; most also start the server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from .npm import InstallError, install_from_npm
from .setup import SERVER, Setup
from .steps import Steps, run_program

PACKAGES = ("@openai/codex",)
"""The required client. The other clients are installed by their steps, which are skipped if that fails."""

_COLORS = re.compile("\x1b\\[[0-9;]*m")
_QUIET = {
    "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "GEMINI_TELEMETRY_ENABLED": "false", "OPENCODE_DISABLE_AUTOUPDATE": "1", "NO_COLOR": "1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reader:
    """A client's program that lists its MCP servers."""

    client: str
    package: str
    program: Sequence[str]
    expected: str
    """Its output contains this text only if Keyhole is registered."""
    file: str
    """The configuration file, relative to the home folder."""
    content: str
    """The content of the file before `keyhole install`."""
    rewrites: bool = False
    """True if the client writes to the file itself."""
    extra_files: Mapping[str, str] = field(default_factory=dict)


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
        _SERVERS.replace("},\n}", "}\n}").replace("}, /*", "} /*"),
        extra_files={".gemini/trustedFolders.json": "FOLDER"},
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


def check(steps: Steps, setup: Setup, _programs: Path) -> None:
    """Register Keyhole, have the client list it, and uninstall it again, with each client."""
    for reader in READERS:
        try:
            programs = install_from_npm((reader.package,))
        except InstallError as reason:
            steps.skip(f"install {reader.client}", str(reason))
            continue
        env = {**setup.client_env(programs), **_QUIET}
        file = Path(env["HOME"]) / reader.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(reader.content.encode())
        for name, text in reader.extra_files.items():
            folder = json.dumps({str(setup.scratch): "TRUST_FOLDER"})
            (Path(env["HOME"]) / name).write_text(folder if text == "FOLDER" else text, "utf-8")
        where = f"install {reader.client}"
        steps.run(f"{where}: keeps the content of the file", partial(_install, setup, env, reader, file))
        steps.run(f"{where}: the client lists it", partial(_read, setup, env, programs, reader, True))
        steps.run(f"{where}: --uninstall removes it", partial(_uninstall, setup, env, reader, file))
        steps.run(f"{where}: the client no longer lists it", partial(_read, setup, env, programs, reader, False))


def _install(setup: Setup, env: Mapping[str, str], reader: Reader, file: Path) -> None:
    settings = [
        part
        for name, value in setup.settings.items()
        if name.startswith("KEYHOLE_")
        for part in ("--env", f"{name}={value}")
    ]
    output = _keyhole(setup, env, "install", reader.client, "--no-hooks", *settings)
    assert "registered" in output, output
    written = file.read_bytes()
    for line in reader.content.splitlines():
        # Compare words, because a line may get a comma, and a file of one line is broken into lines.
        assert all(word.rstrip(",}") in written.decode() for word in line.split()), line
    output = _keyhole(setup, env, "install", reader.client, "--no-hooks", *settings)
    assert "already" in output and file.read_bytes() == written, output


def _read(setup: Setup, env: Mapping[str, str], programs: Path, reader: Reader, is_registered: bool) -> None:
    command = [str(programs / reader.program[0]), *reader.program[1:]]
    done = run_program(command, env, setup.scratch)
    output = _COLORS.sub("", done.stdout + done.stderr)
    assert (reader.expected in output) is is_registered, f"exit {done.returncode}: {output[-500:]}"


def _uninstall(setup: Setup, env: Mapping[str, str], reader: Reader, file: Path) -> None:
    output = _keyhole(setup, env, "install", reader.client, "--no-hooks", "--uninstall")
    assert "entry removed" in output, output
    if not reader.rewrites:
        assert file.read_bytes() == reader.content.encode(), file.read_bytes()


def _keyhole(setup: Setup, env: Mapping[str, str], *words: str) -> str:
    done = run_program([sys.executable, "-m", "keyhole", *words], {**env, "PYTHONPATH": str(SERVER)}, setup.scratch)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    return done.stdout
