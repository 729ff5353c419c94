"""Run `keyhole run`: run a command, keep all that it prints, and print the important lines of it at the end."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from keyhole.cli.bound_command import bound_output, current_folder, keeps_outputs, print_bounded
from keyhole.cli.child_process import CANNOT_RUN, NOT_FOUND, Ended, run_child
from keyhole.cli.output_log import record_output
from keyhole.cli.table import print_json
from keyhole.cli.text_io import discard_buffered
from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.retrieval.bound import MIN_BUDGET, check_options
from keyhole.store.home import home_folder
from keyhole.store.running_output import RunningOutput
from keyhole.store.spool import spool_folder
from keyhole.text.secrets.mask import mask_secrets

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh"})


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Run the command, print its bounded output, and return its exit status."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise KeyholeError(Code.INVALID_ARGUMENT, "run needs a command: keyhole run -- COMMAND")
    if os.name != "posix":
        raise KeyholeError(Code.INVALID_ARGUMENT, "run needs the signals and process groups of a POSIX system")
    check_options(arguments.kind, arguments.budget)
    command, folder, started_at = command_line(words), current_folder(), time.time()
    facts = {"command": mask_secrets(command), "folder": mask_secrets(folder), "time": str(started_at)}
    spool = spool_folder(home_folder(config.home)) if keeps_outputs(config) else ""
    with closing(RunningOutput(spool, facts, config.store_max_bytes)) as output:
        try:
            ended = run_child(words, output.write, arguments.timeout)
        except OSError as error:
            output.remove()
            return _report_unrunnable(words[0], error)
        if _print_result(config, arguments, output, ended, started_at, command, folder):
            output.remove()
    return ended.status


def command_line(words: Sequence[str]) -> str:
    """Return the command line of a command: the script of a shell's option -c, or all words."""
    if len(words) > 2 and Path(words[0]).name in SHELLS and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def _report_unrunnable(name: str, error: OSError) -> int:
    """Print why a command cannot be run, and return the exit status that shells give."""
    is_missing = isinstance(error, FileNotFoundError)
    print(f"keyhole: {name}: {'command not found' if is_missing else error.strerror}", file=sys.stderr)
    return NOT_FOUND if is_missing else CANNOT_RUN


def _print_result(
    config: Config,
    arguments: argparse.Namespace,
    output: RunningOutput,
    ended: Ended,
    started_at: float,
    command: str,
    folder: str,
) -> bool:
    """Print the bounded output, and return whether the whole output is shown or stored."""
    notice = _notice(arguments.timeout, output.dropped, ended)
    if arguments.budget < MIN_BUDGET + len(notice):  # the result may not exceed its budget
        print(notice, end="", file=sys.stderr)
        notice = ""
    facts: dict[str, Any] = {
        "query": arguments.query,
        "budget": arguments.budget - len(notice),
        "command": command,
        "exit_status": ended.status,
        "folder": folder,
    }
    bounded, begun = bound_output(config, output.blocks(), kind=arguments.kind, **facts)
    record_output(config, "run", bounded, notice + bounded.text, started_at, facts)
    try:
        if arguments.json:
            print_json({**bounded._asdict(), "exit_status": ended.status, "timed_out": ended.timed_out})
        else:
            print(notice, end="")
            print_bounded(bounded, begun)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the pipe has closed it, as `| head` does
        discard_buffered()
    return bounded.unchanged or bounded.id is not None


def _notice(timeout: float | None, dropped: int, ended: Ended) -> str:
    """Return the lines that say why the output is not what the command would have printed."""
    lines = [f"Stopped by --timeout after {timeout:g} s.\n"] if ended.timed_out else []
    lines += [f"The last {dropped:,} bytes of the output are not kept: there is no space.\n"] if dropped else []
    return "".join(lines)
