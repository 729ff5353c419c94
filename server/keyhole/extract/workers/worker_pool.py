"""Share worker processes among the owners of calls, kill and replace them.

A worker reads one page at a time. It is killed if it exceeds a time limit or if its call is cancelled, and replaced if
it ends by itself. The limits are of processor time, so that a page is read as well on a busy machine as on an idle one;
the wait for a worker does not count. A pool belongs to one event loop.

A server for several owners reads fewer heavy pages of one owner at once than it has processors, and fewer light ones.
It has a spare worker for an owner that has no page being read. The pages of an owner with several pages to be read get
a lower priority, so that the pages of owners with one page are read first.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.tasks import (
    LENGTHS,
    MAX_ANSWER,
    MAX_RESULT,
    READING_ENDED,
    OutOfTimeError,
    Result,
    Task,
    UnreadError,
    encode_function,
    pack,
    parse_answer,
    parse_head,
    parse_result,
    unpack_lengths,
)
from keyhole.records import Document, Page
from keyhole.runtime.fair_slots import FairSlots
from keyhole.runtime.memory import return_free_memory

# One worker process, which reads one page, or runs one task, at a time: start, use and kill it.

log = logging.getLogger(__name__)

T = TypeVar("T")
_Parse = Callable[[dict[str, Any], bytes], T | KeyholeError]
"""A function that returns the answer in a message, or the failure in it."""

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
    """The time limits of reading one page, in seconds. The kernel enforces the limit of processor time, except on
    Windows."""

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
                # Otherwise the error and this frame would refer to each other and keep the page in memory.
                del answer, body
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


# The pool of workers, shared among the owners of calls.

_Work = Callable[[Worker, WorkerLimits], Awaitable[T]]
"""The work of a worker: to read a page or to run a task."""

POOL_SIZE: Final = max(2, min(4, os.cpu_count() or 1))
"""Largest number of workers for heavy pages: one per processor, at most four. At least two, so that a slow page does
not block the others."""
RESERVED_WORKERS: Final = 1
"""Additional workers that only light pages use. Most pages are light and take less than a second, so they should not
wait for a few hostile pages. A light page uses any free worker."""
SPARE_WORKERS: Final = 1
"""Additional workers of a server for several owners, only for owners that have no page being read. Nine users who read
a small page of 30 ms every two seconds need such a worker a seventh of the time."""
BACKGROUND_NICE: Final = 7
"""Niceness of the workers for the further pages of an owner. Beside a process of normal priority on one processor, such
a worker gets a sixth of the time. In benchmarks/server/fair_shares.py on a busy machine, 5 slowed polite users more,
and with 10 a greedy user's pages hardly made progress."""
MAX_LIGHT_BYTES: Final = 300_000
"""Largest body of a light page, in bytes. Nine of ten pages are smaller."""
LIGHT_SECONDS: Final = 2.0
"""Limit in seconds of processor time of the first attempt at a light page. A slower page is read again as a heavy page
with the full limit."""
WALL_FACTOR: Final = 10 if sys.platform != "win32" else 1
"""Seconds of wall time for each second of the limit on processor time, after which a page counts as unreadable: a
worker that waits for something uses no processor time. Beside eight busy programs on two processors, a worker gets a
fifth of one. Windows has only this limit."""
TRIM_DELAY: Final = 1.0
"""Seconds after the last page until freed memory is returned to the system. The C library keeps up to 130 MB of large
pages, and the calls still refer to their pages when the workers have read them."""
IDLE_TIMEOUT: Final = 300.0
"""Seconds after which an idle worker ends: longer than an agent's pause between two pages."""
READER: Final = "keyhole.extract.workers.child:extract_with_words"
"""The function that a worker runs on each page."""


class WorkerPool:
    """An Extractor that reads pages in worker processes.

    At most `size` workers read heavy pages, and `reserved` more read light pages. Beyond these, `spare` workers read
    pages of owners that have no page being read; 0 if all calls have one owner. `reader` is the function that workers
    run, as "module:function".
    """

    def __init__(
        self,
        config: Config,
        size: int = POOL_SIZE,
        reader: str = READER,
        reserved: int = RESERVED_WORKERS,
        spare: int = 0,
    ) -> None:
        self._config = config
        self._options = {"reader": reader, "memory": config.extract_memory}
        self._reserved = reserved
        self._spare = spare
        total = size + reserved + spare
        # While an owner reads pages of one weight, a processor is left for the others.
        one_owner = max(1, size - 1) if spare else total
        self._heavy = FairSlots(size + spare, size + spare - one_owner if spare else 0)
        self._light = FairSlots(total, total - one_owner)
        self._all = FairSlots(total, total - size if spare else 0)
        self._max_processes = size + reserved + spare + size
        """Largest number of processes: workers of one priority may be idle while all of the other priority are busy."""
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._trim: asyncio.TimerHandle | None = None

    def warm(self) -> None:
        """Start a worker if no worker is idle and a slot is free."""
        if not any(worker.is_alive and not worker.nice for worker in self._idle) and self._all.has_free():
            self._put_back(Worker(self._options))

    async def extract(self, page: Page) -> tuple[Document, str]:
        """Return the document and words of a page, read by a worker. Salvages a page that no worker finishes."""
        try:
            return await self._in_turn(len(page.body), lambda worker, limits: worker.read(page, limits))
        except UnreadError as failure:
            if self._is_closing:
                raise KeyholeError(Code.EXTRACTION_PENDING, "the server ended before the page was read") from failure
            log.warning("a page of %s could not be read: %s", urlsplit(page.url).hostname, failure.message)
            return await self._salvage(page, failure)

    async def run(self, task: Task) -> Result:
        """Return the result of a task, run by a worker like a page of the same size."""
        size = sum(len(body) for body in task.bodies)
        return await self._in_turn(size, lambda worker, limits: worker.run(task, limits))

    async def aclose(self) -> None:
        """Kill all workers, and wait until they have ended and all calls have returned."""
        self._is_closing = True
        if self._trim:
            self._trim.cancel()
        for worker in self._busy:
            worker.kill()
        await self._heavy.wait_unused()
        await self._light.wait_unused()
        await self._all.wait_unused()
        while self._idle:
            self._drop(self._idle.pop())
        await asyncio.gather(*self._ending)

    async def _salvage(self, page: Page, failure: UnreadError) -> tuple[Document, str]:
        """Return the bare text of a page that no worker finished. Raises the failure if there is none."""
        limits = WorkerLimits(LIGHT_SECONDS, LIGHT_SECONDS * WALL_FACTOR)
        try:
            async with self._light.slot(), self._all.slot():
                return await self._do(lambda worker, limits: worker.read(page, limits, failure.message), limits)
        except UnreadError as error:
            raise KeyholeError(Code.EXTRACTION_FAILED, failure.message) from error

    async def _in_turn(self, size: int, work: _Work[T]) -> T:
        """Do work on `size` bytes when a worker is free. Light work that is slow is done again as heavy work."""
        seconds = self._config.extract_timeout
        if size <= MAX_LIGHT_BYTES and self._reserved:
            try:
                async with self._light.slot(), self._all.slot():
                    return await self._do(work, self._limits(min(seconds, LIGHT_SECONDS)))
            except OutOfTimeError:
                if seconds <= LIGHT_SECONDS:
                    raise
        async with self._heavy.slot(), self._all.slot():
            return await self._do(work, self._limits(seconds))

    def _trim_later(self) -> None:
        """Return freed memory to the system when no page was read for `TRIM_DELAY`, in a thread."""
        if self._trim:
            self._trim.cancel()
        loop = asyncio.get_running_loop()
        self._trim = loop.call_later(TRIM_DELAY, loop.run_in_executor, None, return_free_memory)

    def _limits(self, cpu_seconds: float) -> WorkerLimits:
        return WorkerLimits(cpu_seconds, self._config.extract_timeout * WALL_FACTOR)

    async def _do(self, work: _Work[T], limits: WorkerLimits) -> T:
        if self._is_closing:
            raise UnreadError(READING_ENDED)
        has_further_pages = self._light.demand() + self._heavy.demand() > 1
        worker = self._take_worker(BACKGROUND_NICE if self._spare and has_further_pages else 0)
        self._busy.add(worker)
        try:
            return await work(worker, limits)
        finally:
            self._busy.discard(worker)
            if not self._is_closing:
                self._trim_later()
            if worker.is_reusable:
                self._put_back(worker)
            else:  # used up, or still busy with an abandoned page
                self._drop(worker)

    def _take_worker(self, nice: int) -> Worker:
        """Return the idle worker of this niceness that was used last, or a new worker."""
        for worker in [worker for worker in reversed(self._idle) if worker.nice == nice]:
            self._idle.remove(worker)
            if worker.is_alive:
                worker.set_idle_timer(None)
                return worker
            self._drop(worker)
        return Worker(self._options, nice)

    def _put_back(self, worker: Worker) -> None:
        worker.set_idle_timer(asyncio.get_running_loop().call_later(IDLE_TIMEOUT, self._retire, worker))
        self._idle.append(worker)
        if len(self._idle) + len(self._busy) > self._max_processes:
            self._retire(self._idle[0])

    def _retire(self, worker: Worker) -> None:
        self._idle.remove(worker)
        self._drop(worker)

    def _drop(self, worker: Worker) -> None:
        worker.set_idle_timer(None)
        worker.kill()
        ending = asyncio.get_running_loop().create_task(worker.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
