"""Run `keyhole shell`: run a script as the shell that starts this command would, and bound its output.

Codex starts a shell with the rewritten command, and the shell replaces itself by this process. This process runs the
script in a new shell, which it starts in the same way. The script runs even if Keyhole fails.
"""

from __future__ import annotations

import binascii
import os
import signal
import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from keyhole.cli.run_command import Options, run_program
from keyhole.cli.text_io import open_closed_streams
from keyhole.config.config import Config
from keyhole.config.load import read_settings
from keyhole.errors import KeyholeError
from keyhole.outputs.child_process import Program
from keyhole.outputs.hooks.codex import ENVIRONMENT, MAX_ENVIRONMENT

if TYPE_CHECKING:
    import argparse

BUDGET: Final = 4_000
"""Characters that are printed, as by `keyhole run`."""
LIVE_AFTER: Final = 5.0
"""Seconds after which the beginning of the output is printed. Codex 0.169 shows an agent what a command has printed in
10 s, and what it prints in 5 s or more whenever the agent asks (`MIN_EMPTY_YIELD_TIME_MS` in its source)."""
FAILED: Final = 1
"""Exit status if the output cannot be printed."""


def is_plain(words: Sequence[str]) -> bool:
    """Return whether the words after `keyhole shell` are those that the hook of Codex writes, and need no parser."""
    return len(words) == 4 and words[0] == "--"


def run_plain(words: Sequence[str]) -> int:
    """Run the script of the words of `is_plain`, and return its exit status."""
    open_closed_streams()
    _, name, state, script = words
    try:
        return _run(make_program(name, state, script, os.environb), script)
    except (KeyholeError, OSError) as error:
        print(f"keyhole: {error}", file=sys.stderr)
        return FAILED


def run(_config: Config, arguments: argparse.Namespace) -> int:
    """Run the script and return its exit status."""
    return _run(make_program(arguments.name, arguments.state, arguments.script, os.environb), arguments.script)


def _run(program: Program, script: str) -> int:
    """Run the script and print its bounded output. In a terminal, the shell replaces this process."""
    if os.isatty(1):  # an agent talks with the program, whose output cannot wait for the end
        _replace_process(program)
    config, _ = read_settings(os.environ)  # what is wrong in the settings is no fault of the script
    from keyhole.cli.log_format import configure_logging

    configure_logging("ERROR", config.log_format)  # a log line would look like output of the script
    return run_program(config, Options(BUDGET, live_after=LIVE_AFTER), program, script)


def make_program(name: str, state: str, script: str, environment: Mapping[bytes, bytes]) -> Program:
    """Return the shell that runs the script as the shell `name` would.

    `state`: `$-`, and the line of `shopt login_shell` or the first argument of the shell. `environment`: that of this
    process, in which a variable may have the environment in which the shell was started.

    A login shell runs the user's profile again, so it needs the environment from before the first run.
    """
    started_in = read_environment(environment.get(ENVIRONMENT.encode(), b""))
    inherited = {variable: value for variable, value in environment.items() if variable != ENVIRONMENT.encode()}
    option = "-lc" if is_login(name, state) else "-c"
    return Program([name, option, script], started_in or inherited, in_own_group=False)


def is_login(name: str, state: str) -> bool:
    """Return whether the state is that of a login shell."""
    words = state.split()
    if "login_shell" in words:  # of bash
        return words[words.index("login_shell") :][1:2] == ["on"]
    flags = next((word for word in words if word.startswith("-")), "")
    if not flags and Path(name).name == "zsh":
        flags = "".join(words[:1])
    return "l" in flags


def read_environment(encoded: bytes) -> dict[bytes, bytes]:
    """Decode the Base64 of a file /proc/PID/environ into its variables; {} if it is incomplete."""
    try:
        data = b64decode(encoded)
    except binascii.Error:
        return {}
    if len(data) >= MAX_ENVIRONMENT or not data.endswith(b"\0"):
        return {}
    pairs = (entry.partition(b"=") for entry in data.split(b"\0"))
    return {name: value for name, equals, value in pairs if equals}


def _replace_process(program: Program) -> None:
    """Replace this process by the shell."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
        signal.signal(number, signal.SIG_DFL)
    os.execvpe(program.words[0], list(program.words), program.environment or os.environb)  # noqa: S606 - the shell is meant
