"""Run `keyhole run`: run a command, keep all that it prints, and print the important lines of it at the end.

Importing the code that bounds an output takes longer than many commands, so it is imported for a long output only.
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from keyhole.cli.background_output import keep_reading
from keyhole.cli.bound_command import bound_output, keeps_outputs, print_bounded
from keyhole.cli.child_process import CANNOT_RUN, NOT_FOUND, Alarm, Ended, Program, end_by_signal, run_child
from keyhole.cli.live_output import LiveOutput
from keyhole.cli.output_log import Asked, record_output
from keyhole.cli.progress_line import shown_progress
from keyhole.cli.text_io import discard_buffered, print_bytes
from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.errors import Code, KeyholeError
from keyhole.store.home import home_folder
from keyhole.store.running_output import RunningOutput
from keyhole.store.spool import spool_folder
from keyhole.text.output_facts import OutputFacts
from keyhole.text.secrets.mask import mask_secrets

if TYPE_CHECKING:
    import argparse

    from keyhole.retrieval.bound import Bounded

log = logging.getLogger(__name__)

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh"})


class Options(NamedTuple):
    """The options of `keyhole run`: how the output of a command is bounded and printed."""

    budget: int
    query: str | None = None
    kind: str | None = None
    json: bool = False
    timeout: float | None = None
    live_after: float | None = None
    """Seconds after which the beginning of the output is printed although the command still runs, None for never."""


class _Run(NamedTuple):
    """A command that has ended."""

    config: Config
    options: Options
    output: RunningOutput
    live: LiveOutput
    ended: Ended
    notice: str
    """Lines that say why the output is not what the command would have printed."""
    asked: Asked
    facts: OutputFacts
    """The facts about the output for `bound`."""
    started_at: float


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Run the command, print its bounded output, and return its exit status."""
    from keyhole.retrieval.bound import MIN_BUDGET, check_options

    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise KeyholeError(Code.INVALID_ARGUMENT, "run needs a command: keyhole run -- COMMAND")
    if os.name != "posix":
        raise KeyholeError(Code.INVALID_ARGUMENT, "run needs the signals and process groups of a POSIX system")
    check_options(arguments.kind, arguments.budget)
    options = Options(arguments.budget, arguments.query, arguments.kind, arguments.json, arguments.timeout)
    return run_program(config, options, Program(words), command_line(words), MIN_BUDGET)


def command_line(words: Sequence[str]) -> str:
    """Return the command line of a command: the script of a shell's option -c, or all words."""
    if len(words) > 2 and Path(words[0]).name in SHELLS and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def run_program(config: Config, options: Options, program: Program, command: str, min_budget: int = 0) -> int:
    """Run a command and print its bounded output. Return its exit status, or end by the signal that ended it.

    `command`: its command line, as it is shown and stored. `min_budget`: characters that a notice must leave.
    """
    folder, started_at = working_folder(), time.time()
    known = {"command": mask_secrets(command), "folder": mask_secrets(folder), "time": str(started_at)}
    spool = spool_folder(home_folder(config.home)) if keeps_outputs(config) else ""
    live = LiveOutput()
    alarm = None if options.live_after is None else Alarm(options.live_after, live.start)
    with closing(RunningOutput(spool, known, config.store_max_bytes)) as output:
        try:
            with shown_progress() if options.live_after is None else nullcontext() as progress:
                writers = [each for each in (output, live, progress) if each is not None]
                ended = run_child(program, _write_all(writers), options.timeout, alarm)
        except OSError as error:
            output.remove()
            return _report_unrunnable(program.words[0], error)
        notice = _notice(options.timeout, output.dropped, ended)
        if options.budget < min_budget + len(notice):  # the result may not exceed its budget
            print(notice, end="", file=sys.stderr)
            notice = ""
        budget = options.budget - len(notice) - live.printed - live.ends_in_line
        facts = OutputFacts(command, "", options.kind, ended.status, folder, names_command=True)
        asked = Asked(options.query, budget)
        if _print_result(_Run(config, options, output, live, ended, notice, asked, facts, started_at)):
            output.remove()
    _keep_reading(ended, spool, known)
    if ended.signal:
        end_by_signal(ended.signal)
    return ended.status


class _Writer(Protocol):
    def write(self, block: bytes) -> None: ...


def _write_all(writers: Sequence[_Writer]) -> Callable[[bytes], None]:
    def write(block: bytes) -> None:
        for writer in writers:
            writer.write(block)

    return write


def _report_unrunnable(name: str, error: OSError) -> int:
    """Print why a command cannot be run, and return the exit status that shells give."""
    is_missing = isinstance(error, FileNotFoundError)
    print(f"keyhole: {name}: {'command not found' if is_missing else error.strerror}", file=sys.stderr)
    return NOT_FOUND if is_missing else CANNOT_RUN


def _notice(timeout: float | None, dropped: int, ended: Ended) -> str:
    """Return the lines that say why the output is not what the command would have printed."""
    lines = [f"Stopped by --timeout after {timeout:g} s.\n"] if ended.timed_out else []
    lines += [f"The last {dropped:,} bytes of the output are not kept: there is no space.\n"] if dropped else []
    return "".join(lines)


def _print_result(done: _Run) -> bool:
    """Print the output, bounded if it is over the budget, and return whether the whole of it is shown or stored."""
    if not done.options.json and not done.notice and done.output.size <= done.options.budget:
        _print(lambda: print_bytes(b"".join(done.output.blocks())[done.live.printed :]))
        return True
    bounded, begun = bound_output(done.config, done.output.blocks(), done.started_at, done.asked, done.facts)
    result = done.notice + bounded.text
    record_output(done.config, "run", bounded, result, done.started_at, done.asked, done.facts)
    _print(lambda: _print_bounded(done, bounded, begun))
    return bounded.unchanged or bounded.id is not None


def _print_bounded(done: _Run, bounded: Bounded, begun: bytes) -> None:
    if done.options.json:
        from keyhole.cli.table import print_json

        ended = {"exit_status": done.ended.status, "timed_out": done.ended.timed_out}
        print_json({**bounded._asdict(), **ended})
    else:
        is_apart = done.live.ends_in_line and not bounded.unchanged
        print(done.notice, end="\n" if is_apart else "")
        print_bounded(bounded, begun[done.live.printed :])


def _print(write: Callable[[], None]) -> None:
    """Print to standard output, whose reader may have closed it, as `| head` does."""
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        discard_buffered()


def _keep_reading(ended: Ended, spool: str, known: Mapping[str, str]) -> None:
    """Let the processes that the command left running go on printing."""
    try:
        if ended.pipe is not None:
            keep_reading(ended.pipe, spool, known)
    except OSError as error:
        log.warning("processes that the command left running cannot print any more: %s", error.strerror)
