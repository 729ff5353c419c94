"""Run a command with its output in one pipe, pass signals on, and wait for its end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

TIMED_OUT: Final = 124
CANNOT_RUN: Final = 126
NOT_FOUND: Final = 127
SIGNALLED: Final = 128
"""Exit statuses as those of shells and of timeout(1): 128 plus the number of the signal that ended the command."""
PIPE_BYTES: Final = 1_048_576
"""Greatest capacity of a pipe on Linux without privileges. When the command ends, at most this is left in it."""
TRAILING_SECONDS: Final = 0.05
"""Seconds after the end of the command in which the output of its background processes still counts. Codex 0.169 waits
as long: `POST_EXIT_CLOSE_WAIT_CAP` in codex-rs/core/src/unified_exec."""
GRACE_SECONDS: Final = 2.0
"""Seconds between SIGTERM and SIGKILL at the time limit, in which the command can clean up."""
BLOCK_BYTES: Final = 262_144
"""Bytes that are read at a time."""
FORWARDED: Final = frozenset({"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM"})
JOB_CONTROL: Final = frozenset({"SIGTSTP", "SIGCONT", "SIGWINCH"})
"""Signals that a terminal sends to this process and the command alike, and that stop and continue both."""


class Program(NamedTuple):
    """A command, and how it is started."""

    words: Sequence[str]
    environment: Mapping[bytes, bytes] | None = None
    """The environment of the command, None for that of this process."""
    in_own_group: bool = True
    """False if the command stays in this process's group, so that a signal to the group ends both."""


class Ended(NamedTuple):
    """The end of a command."""

    status: int
    signal: int = 0
    """The signal that ended the command, 0 if it exited."""
    timed_out: bool = False
    pipe: int | None = None
    """The read end of the pipe, which the caller closes, if background processes of the command still hold it open."""


class Alarm(NamedTuple):
    """A function that is called when the command has run for some seconds."""

    seconds: float
    call: Callable[[], None]


def run_child(
    program: Program, write: Callable[[bytes], None], timeout: float | None = None, alarm: Alarm | None = None
) -> Ended:
    """Run a command, pass its stdout and stderr in their order to `write`, and return how it ended.

    The command reads this process's stdin. Signals to this process are passed on to the command's process group. After
    `timeout` seconds the group gets SIGTERM, and two seconds later SIGKILL. A process that the command leaves running
    is not waited for, although it may keep the pipe open. Raises OSError if the command cannot be run.
    """
    # In a terminal, the command stays in the foreground group, to which the terminal itself sends signals.
    in_terminal = sys.stdin.isatty()
    in_own_group = program.in_own_group and not in_terminal
    reading, writing = os.pipe()
    with _Signals(FORWARDED if in_terminal else FORWARDED | JOB_CONTROL) as signals, ExitStack() as stack:
        stack.callback(os.close, reading)
        with _closing(writing):
            process = subprocess.Popen(
                list(program.words), stdout=writing, stderr=writing, env=program.environment,
                pass_fds=_inheritable(), process_group=0 if in_own_group else None,
            )  # fmt: skip
        child = _Child(process, reading, write, in_own_group=in_own_group, in_terminal=in_terminal)
        try:
            ended = _wait(child, signals, timeout, alarm)
        finally:
            child.kill(signal.SIGKILL)  # it has ended, unless reading or writing failed
        if child.is_open:
            stack.pop_all()
            ended = ended._replace(pipe=reading)
    return ended


def end_by_signal(number: int) -> None:
    """End this process by the signal that ended the command, so that its caller learns the same. Dumps no core."""
    import resource  # exists on POSIX systems only

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)


def _inheritable() -> list[int]:
    """Return the open files, except the standard streams, that this process inherited for its command."""
    with suppress(OSError):
        handles = [int(path.name) for path in Path("/dev/fd").iterdir()]
        return [handle for handle in handles if handle > 2 and _is_inheritable(handle)]
    return []


def _is_inheritable(handle: int) -> bool:
    with suppress(OSError):  # it was opened to list the others
        return os.get_inheritable(handle)
    return False


@contextmanager
def _closing(handle: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(handle)


class _Signals:
    """Receives the signals to pass on, and SIGCHLD when the command ends, while its `with` block runs."""

    def __init__(self, names: frozenset[str]) -> None:
        self._numbers = [number for number in signal.Signals if number.name in names]
        self.received: list[int] = []
        self.woken, self._waking = os.pipe()

    def __enter__(self) -> _Signals:
        for end in (self.woken, self._waking):
            os.set_blocking(end, False)
        # A signal that this process ignores, as SIGHUP after nohup, is ignored by the command too.
        numbers = [number for number in self._numbers if signal.getsignal(number) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._receive) for number in (*numbers, signal.SIGCHLD)}
        self._fd_before = signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._fd_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.woken)
        os.close(self._waking)

    def _receive(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD:
            self.received.append(number)

    def take(self) -> list[int]:
        """Return the signals to pass on, and forget them."""
        with suppress(BlockingIOError):
            while os.read(self.woken, 512):
                pass
        # One assignment: between two calls, the handler could run, and its signal would be lost.
        taken, self.received = self.received, []
        return taken


class _Child:
    """A running command and the pipe with its output."""

    def __init__(
        self, process: subprocess.Popen[bytes], reading: int, write: Callable[[bytes], None], *, in_own_group: bool,
        in_terminal: bool,
    ) -> None:  # fmt: skip
        self._process = process
        self._write = write
        self._in_own_group = in_own_group
        self._in_terminal = in_terminal
        self.reading = reading
        self.is_open = True

    @property
    def ended(self) -> Ended | None:
        """The end of the command, None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        return Ended(code) if code >= 0 else Ended(SIGNALLED - code, -code)

    def kill(self, number: int) -> None:
        """Send a signal to the command and, unless it shares this process's group, to the processes that it started."""
        send = os.killpg if self._in_own_group else os.kill
        with suppress(ProcessLookupError):
            if self._process.returncode is None:
                send(self._process.pid, number)
                if number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                    send(self._process.pid, signal.SIGCONT)  # a stopped process gets no other signal until it goes on

    def forward(self, number: int) -> None:
        """Pass a signal on. A terminal has sent SIGINT and SIGQUIT to the command already."""
        if not self._in_terminal or number not in (signal.SIGINT, signal.SIGQUIT):
            self.kill(number)

    def read(self) -> int:
        """Read a block of output and return its length, 0 at the end."""
        block = os.read(self.reading, BLOCK_BYTES)
        self.is_open = bool(block)
        if block:
            self._write(block)
        return len(block)

    def drain(self) -> None:
        """Read what is left in the pipe, and for TRAILING_SECONDS what background processes print."""
        left, deadline = PIPE_BYTES, time.monotonic() + TRAILING_SECONDS
        while self.is_open:
            seconds = max(0.0, deadline - time.monotonic())
            if not (seconds or left > 0) or not select.select([self.reading], [], [], seconds)[0]:
                break
            left -= self.read()


def _wait(child: _Child, signals: _Signals, timeout: float | None, alarm: Alarm | None) -> Ended:
    """Read the output and pass signals on until the command has ended."""
    started = time.monotonic()
    limits = [] if timeout is None else [(0.0, signal.SIGKILL), (started + timeout, signal.SIGTERM)]
    timed_out = False
    while (ended := child.ended) is None:
        times = [limits[-1][0]] if limits else []
        times += [started + alarm.seconds] if alarm else []
        ends = [child.reading, signals.woken] if child.is_open else [signals.woken]
        ready, _, _ = select.select(ends, [], [], max(0.0, min(times) - time.monotonic()) if times else None)
        if child.reading in ready:
            child.read()
        for number in signals.take():
            child.forward(number)
        if alarm and time.monotonic() >= started + alarm.seconds:
            alarm.call()
            alarm = None
        if limits and time.monotonic() >= limits[-1][0]:
            timed_out = True
            child.kill(limits.pop()[1])
            limits = [(time.monotonic() + GRACE_SECONDS, number) for _, number in limits]
    child.drain()
    return Ended(TIMED_OUT, timed_out=True) if timed_out else ended
