"""Start, use and kill one worker process, which reads one page, or runs one task, at a time."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.base import Result, Task
from keyhole.extract.workers.frames import (
    LENGTHS,
    MAX_ANSWER,
    MAX_RESULT,
    READING_ENDED,
    OutOfTimeError,
    UnreadError,
    encode_function,
    pack,
    parse_answer,
    parse_head,
    parse_result,
    unpack_lengths,
)
from keyhole.records import Document, Page

log = logging.getLogger(__name__)

T = TypeVar("T")
_Parse = Callable[[dict[str, Any], bytes], T | KeyholeError]
"""Returns the answer in a message, or the failure in it."""

START_TIMEOUT: Final = 60.0
"""Seconds within which a worker must load its parsers: on an idle machine, three hundred times the usual time."""
END_TIMEOUT: Final = 2.0
"""Seconds within which a killed worker must end. The kernel takes milliseconds."""
CHUNK_BYTES: Final = 1_000_000
"""Bytes written or buffered at a time, so that a large body is not copied whole."""
_BOOT: Final = (
    "import sys, json; options = json.loads(sys.argv[1]); sys.path[:] = options['path']; "
    "from keyhole.extract.workers.child import main; main(options)"
)
_INHERITED_VARIABLES: Final = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Environment variables that a worker inherits, because its interpreter may need them to find libraries."""


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """The time limits of reading one page, in seconds. The kernel enforces that of processor time; Windows has none."""

    cpu_seconds: float
    wall_seconds: float


class Worker:
    """A worker process. `is_reusable` is True while it can take another page.

    `nice`: how much lower its priority is than the server's.
    """

    def __init__(self, options: dict[str, Any], nice: int = 0) -> None:
        self.nice = nice
        self._process: Process | None = None
        self._lifetime_fd: int | None = None
        """The server's end of a pipe without data. The worker ends when this end is closed, as by the server's
        death."""
        self._ready = asyncio.get_running_loop().create_task(self._start({**options, "nice": nice}))
        self._ready.add_done_callback(self._log_failed_start)
        self._killed = False
        self.is_reusable = True
        self._idle_timer: asyncio.TimerHandle | None = None

    @property
    def is_alive(self) -> bool:
        """False if the process ended by itself or could not be started."""
        if self._ready.done() and (self._ready.cancelled() or self._ready.exception()):
            return False
        return self._process is None or self._process.returncode is None

    async def read(self, page: Page, limits: WorkerLimits, failure: str = "") -> tuple[Document, str]:
        """Return the worker's answer for one page. Raises KeyholeError as `_exchange` does.

        If a reader failed before, `failure` says why, and only the page's bare text is read.
        """
        request = {"url": page.url, "requested_url": page.requested_url, "content_type": page.content_type}
        return await self._exchange({**request, "failure": failure}, page.body, limits, MAX_ANSWER, parse_answer)

    async def run(self, task: Task, limits: WorkerLimits) -> Result:
        """Return the worker's result of one task. Raises KeyholeError as `_exchange` does."""
        sizes = [len(body) for body in task.bodies]
        request = {"function": encode_function(task.function), "arguments": dict(task.arguments), "sizes": sizes}
        body = task.bodies[0] if len(task.bodies) == 1 else b"".join(task.bodies)
        return await self._exchange(request, body, limits, MAX_RESULT, parse_result)

    async def _exchange(
        self, request: dict[str, Any], body: bytes, limits: WorkerLimits, max_bytes: int, parse: _Parse[T]
    ) -> T:
        """Send one request and return its parsed answer. Both limits begin when the worker has started.

        Raises UnreadError if the worker did not finish, and any other KeyholeError that the bytes caused.
        """
        try:
            process = await asyncio.shield(self._ready)
        except (OSError, EOFError, TimeoutError) as error:
            self.is_reusable = False
            raise KeyholeError(Code.EXTRACTION_FAILED, "the worker process could not be started") from error
        self.is_reusable = False
        try:
            async with asyncio.timeout(limits.wall_seconds):
                await _send_message(process, {**request, "seconds": limits.cpu_seconds}, body)
                head, text = await _receive_message(process, max_bytes)
        except TimeoutError as error:
            raise OutOfTimeError(f"reading took more than {limits.wall_seconds:g} s") from error
        except (EOFError, OSError) as error:
            raise await self._find_cause(process, limits) from error
        answer = await asyncio.to_thread(parse, head, text)
        self.is_reusable = head.get("last") is False
        if isinstance(answer, KeyholeError):
            try:
                raise answer
            finally:
                del answer, body  # otherwise the error and this frame would keep each other, and the page with them
        return answer

    def set_idle_timer(self, timer: asyncio.TimerHandle | None) -> None:
        """Replace the timer that ends the idle worker. None stops it."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._idle_timer = timer

    def kill(self) -> None:
        """Kill the process without waiting for its end."""
        self._killed = True  # _start kills a process that is not created yet
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """Wait until the killed process has ended, and close its pipes."""
        await asyncio.wait([self._ready])
        if self._process is not None:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(END_TIMEOUT):
                    await self._process.communicate(b"")
        if self._lifetime_fd is not None:
            os.close(self._lifetime_fd)
            self._lifetime_fd = None

    async def _start(self, options: dict[str, Any]) -> Process:
        worker_end, self._lifetime_fd = os.pipe() if sys.platform == "linux" else (None, None)
        try:
            self._process = process = await _start_process(
                {**options, "path": _module_path(), "lifetime_fd": worker_end}
            )
        finally:
            if worker_end is not None:
                os.close(worker_end)
        if self._killed:
            self.kill()
        async with asyncio.timeout(START_TIMEOUT):
            await _receive_message(process)
        return process

    def _log_failed_start(self, ready: asyncio.Task[Process]) -> None:
        """Log a failed start, since no call may be waiting for it."""
        if not ready.cancelled() and (error := ready.exception()) and not self._killed:
            log.warning("a worker could not be started: %r", error)

    async def _find_cause(self, process: Process, limits: WorkerLimits) -> UnreadError:
        """Return the error that states why a worker ended while it read a page."""
        try:
            async with asyncio.timeout(END_TIMEOUT):
                code = await process.wait()
        except TimeoutError:
            return UnreadError(READING_ENDED)
        log.warning("a worker ended with %s", code)
        if code == -getattr(signal, "SIGXCPU", 0):
            return OutOfTimeError(f"reading took more than {limits.cpu_seconds:g} s of processor time")
        return UnreadError(READING_ENDED)


async def _start_process(options: dict[str, Any]) -> Process:
    lifetime_fd = options["lifetime_fd"]
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-X", "utf8", "-c", _BOOT, json.dumps(options)),
        pass_fds=() if lifetime_fd is None else (lifetime_fd,),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,  # parser messages quote the page, and a page must not fill the log
        env={name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ},
        start_new_session=True,  # Ctrl-C in a terminal goes to the server only, which ends its workers
        limit=CHUNK_BYTES,
    )


def _module_path() -> list[str]:
    """Return the absolute import path of this process, with which a worker finds the same modules."""
    entries = [str(Path(entry).absolute()) for entry in sys.path]
    own = str(Path(__file__).absolute().parents[3])
    return entries if own in entries else [*entries, own]


async def _send_message(process: Process, head: dict[str, Any], body: bytes) -> None:
    assert process.stdin  # noqa: S101 - for the type checker
    prefix, body = pack(head, body)
    process.stdin.write(prefix)
    view = memoryview(body)
    for start in range(0, len(body), CHUNK_BYTES):
        process.stdin.write(view[start : start + CHUNK_BYTES])
        await process.stdin.drain()
    await process.stdin.drain()


async def _receive_message(process: Process, max_bytes: int = MAX_ANSWER) -> tuple[dict[str, Any], bytes]:
    assert process.stdout  # noqa: S101 - for the type checker
    head_size, body_size = unpack_lengths(await process.stdout.readexactly(LENGTHS.size), max_bytes)
    head = await process.stdout.readexactly(head_size)
    body = await process.stdout.readexactly(body_size) if body_size else b""
    return parse_head(head), body
