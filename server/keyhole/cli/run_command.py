"""Run `keyhole run`: run a command, keep all that it prints, and print the important lines of it at the end.

Importing the code that bounds an output takes longer than many commands, so it is imported for a long output only.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TextIO

from keyhole.cli.bound_command import bound_output, keeps_outputs, print_bounded
from keyhole.cli.output_log import Asked, record_output
from keyhole.cli.text_io import discard_buffered, print_bytes
from keyhole.config.config import Config
from keyhole.config.folders import working_folder
from keyhole.errors import Code, KeyholeError
from keyhole.outputs.child_process import CANNOT_RUN, NOT_FOUND, Alarm, Ended, Program, end_by_signal, run_child
from keyhole.outputs.running_output import RunningOutput, keep_reading
from keyhole.store.home import home_folder
from keyhole.store.spool import spool_folder
from keyhole.text.output_facts import OutputFacts
from keyhole.text.secrets.mask import mask_secrets

if TYPE_CHECKING:
    import argparse

    from keyhole.outputs.bound import Bounded

# Show on a terminal that a command runs: a line with its bytes, lines, time and last line. A pipe gets nothing.

DELAY: Final = 1.0
"""Seconds before the line is shown: a shorter command needs none."""
INTERVAL: Final = 0.2
"""Seconds between two changes of the line."""
LAST_BYTES: Final = 2_000
"""Bytes at the end of the output that are kept, to show its last line."""
CLEAR: Final = "\r\x1b[2K"
"""Moves to the beginning of the line and clears it (ECMA-48: EL)."""


class ProgressLine:
    """Counts an output, and describes it in one line."""

    def __init__(self) -> None:
        self._size = self._lines = 0
        self._end = b""
        self._start = time.monotonic()

    def write(self, block: bytes) -> None:
        """Count a block of the output."""
        self._size += len(block)
        self._lines += block.count(b"\n")
        self._end = (self._end + block)[-LAST_BYTES:]

    def text(self, columns: int) -> str:
        """Return the line, at most `columns` wide, without control characters."""
        from keyhole.cli.terminal import one_line

        seconds = time.monotonic() - self._start
        counts = f"{self._size:,} bytes, {self._lines:,} lines, {seconds:.0f} s"
        ends = [line for line in self._end.decode("utf-8", "replace").splitlines() if line.strip()]
        return one_line(f"{counts}: {ends[-1].strip()}" if ends else counts, columns)


@contextmanager
def shown_progress(terminal: TextIO = sys.stderr, delay: float = DELAY) -> Iterator[ProgressLine]:
    """Show the line on a terminal while the block runs, after a delay, and remove it at the end."""
    progress, is_done = ProgressLine(), Event()

    def show() -> None:
        if is_done.wait(delay):
            return
        while True:
            columns = shutil.get_terminal_size().columns - 1  # in the last column, some terminals begin a new line
            terminal.write(CLEAR + progress.text(columns))
            terminal.flush()
            if is_done.wait(INTERVAL):
                break
        terminal.write(CLEAR)
        terminal.flush()

    thread = Thread(target=show, daemon=True)
    if terminal.isatty():
        thread.start()
    try:
        yield progress
    finally:
        is_done.set()
        if thread.is_alive():
            thread.join()


# Print the beginning of an output while its command still runs, so that its reader sees that a server is ready.

MAX_BYTES: Final = 1_000
"""Bytes that are printed before the command has ended, a quarter of the budget: what a server prints at its start."""


class LiveOutput:
    """Prints the first MAX_BYTES of an output at once, from the call of `start` on."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self._is_live = False
        self.printed = 0
        """Bytes that are printed already."""

    def write(self, block: bytes) -> None:
        """Add a block of the output."""
        if len(self._begun) < MAX_BYTES:
            self._begun += block[: MAX_BYTES - len(self._begun)]
            self._print()

    def start(self) -> None:
        """Print what was added before, and from now on each block."""
        self._is_live = True
        self._print()

    @property
    def ends_in_line(self) -> bool:
        """True if a text that follows needs a new line."""
        return self.printed > 0 and self._begun[self.printed - 1] != ord("\n")

    def _print(self) -> None:
        """Print what is not printed yet. The bytes before the limit end with a whole line."""
        if not self._is_live:
            return
        end = len(self._begun) if len(self._begun) < MAX_BYTES else self._begun.rfind(b"\n") + 1
        if end > self.printed:
            with suppress(BrokenPipeError):  # printing the result raises it again
                sys.stdout.buffer.write(self._begun[self.printed : end])
                sys.stdout.flush()
            self.printed = end


# Run `keyhole run`: run a command, keep all that it prints, and print the important lines of it at the end.

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
    from keyhole.outputs.bound import MIN_BUDGET, check_options

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
        from keyhole.cli.terminal import print_json

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
