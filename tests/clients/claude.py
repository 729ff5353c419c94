"""A real Claude Code against Keyhole: registered from the command line, then connected to."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .stage import Stage
from .steps import Steps, run_program

PACKAGES = ("@anthropic-ai/claude-code",)

# No updates and no telemetry: what is left goes to loopback.
_QUIET = {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def check(steps: Steps, stage: Stage, programs: Path) -> None:
    """Register and connect. Its calls need an account, so they are not made here."""
    settings = [part for item in stage.settings.items() for part in ("-e", "=".join(item))]
    add = ["add", "keyhole", "--scope", "local", *settings, "--", *stage.command]
    steps.run("claude: mcp add registers the server", partial(_claude, stage, programs, add, "Added"))
    steps.run("claude: mcp get connects to it", partial(_claude, stage, programs, ["get", "keyhole"], "Connected"))


def _claude(stage: Stage, programs: Path, words: list[str], expected: str) -> None:
    env = {**stage.client_env(programs), **_QUIET}
    done = run_program([str(programs / "claude"), "mcp", *words], env, stage.scratch)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and expected in said, f"exit {done.returncode}: {said[-500:]}"
