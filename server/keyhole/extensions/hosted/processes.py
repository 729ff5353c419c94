"""Serve one port with several processes, each of which uses one processor.

The kernel gives each connection to one of them (SO_REUSEPORT, socket(7)). A process that ends is started again.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from keyhole.errors import KeyholeError

log = logging.getLogger(__name__)

RESTART_PAUSE: Final = 1.0
"""Seconds before an ended process is started again, so that one that cannot start does not use a processor."""
WRONG_SETTINGS: Final = 2
"""Exit code of a process that would end again, because its settings are wrong."""
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def serve_processes(count: int, serve: Callable[[int], int]) -> int:
    """Run `serve(number)` in `count` child processes until SIGTERM or SIGINT, and return the exit code.

    Each child gets these signals too, and drains. The caller has started no thread.
    """
    supervisor = Supervisor(serve)
    for number in STOP_SIGNALS:
        signal.signal(number, supervisor.stop)
    return supervisor.run(count)


class Supervisor:
    """The parent of the processes that serve."""

    def __init__(self, serve: Callable[[int], int]) -> None:
        self._serve = serve
        self._children: dict[int, int] = {}  # the numbers of the processes by their ids
        self._is_stopping = False

    def run(self, count: int) -> int:
        """Start the processes, and start each again that ends, until `stop` is called. Return the exit code."""
        for number in range(count):
            if not self._is_stopping:
                self._start(number)
        code = 0
        while self._children:
            process, status = os.wait()
            number = self._children.pop(process)
            code = os.waitstatus_to_exitcode(status)
            if code == WRONG_SETTINGS:
                self.stop(signal.SIGTERM, None)
                return code
            if not self._is_stopping:
                log.warning("process %d of the server ended with %d and is started again", process, code)
                time.sleep(RESTART_PAUSE)
            if not self._is_stopping:  # a signal may have arrived during the pause
                self._start(number)
        return max(code, 0)

    def stop(self, number: int, _frame: FrameType | None) -> None:
        """Pass a signal on to the processes. They end, and are not started again."""
        self._is_stopping = True
        for process in list(self._children):
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(process, number)

    def _start(self, number: int) -> None:
        # A signal between the fork and the next lines would not reach the child, or would run `stop` in the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        process = os.fork()
        if process:
            self._children[process] = number
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            return
        code = 1
        try:
            for each in STOP_SIGNALS:
                signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            code = self._serve(number)
        except KeyholeError as error:
            print(f"keyhole: {error.message}", file=sys.stderr)
            code = WRONG_SETTINGS
        finally:  # the child must not return into its parent's code
            if sys.exc_info()[0]:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(code)
