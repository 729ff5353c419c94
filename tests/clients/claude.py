"""Register Keyhole with Claude Code on the command line and have Claude Code connect to it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .setup import Setup
from .steps import Steps, run_program

PACKAGES = ("@anthropic-ai/claude-code",)

# No updates and no telemetry, so that all traffic goes to loopback.
_QUIET = {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Register and connect. Tool calls would need an account."""
    settings = [part for item in setup.settings.items() for part in ("-e", "=".join(item))]
    add = ["add", "keyhole", "--scope", "local", *settings, "--", *setup.command]
    steps.run("claude: mcp add registers the server", partial(_claude, setup, programs, add, "Added"))
    steps.run("claude: mcp get connects to it", partial(_claude, setup, programs, ["get", "keyhole"], "Connected"))


def _claude(setup: Setup, programs: Path, words: list[str], expected: str) -> None:
    env = {**setup.client_env(programs), **_QUIET}
    done = run_program([str(programs / "claude"), "mcp", *words], env, setup.scratch)
    output = done.stdout + done.stderr
    assert done.returncode == 0 and expected in output, f"exit {done.returncode}: {output[-500:]}"
