"""Starts, feeds, kills and replaces worker processes. Reads no page itself.

A worker serves one page at a time. One that ran out of time or memory, crashed, or whose call was cancelled is killed
at once; the next page gets another. The pool belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.frames import (
    BROKEN,
    LENGTHS,
    OutOfTimeError,
    UnreadError,
    answer_in,
    head_of,
    lengths,
    pack,
)
from keyhole.records import Document, Page

log = logging.getLogger(__name__)

SIZE: Final = max(2, min(4, os.cpu_count() or 1))
"""Workers at most that heavy pages take: one for each processor, a second one even on one, so that a slow page does not
stop the others."""
EXPRESS: Final = 1
"""Workers besides, which heavy pages never take: most pages are light and read in less than a second, and they must not
wait behind a few that are made to take long. A light page takes any worker that is free."""
LIGHT: Final = 300_000
"""Bytes of a light page's body: nine of ten pages have fewer."""
LIGHT_SECONDS: Final = 2.0
"""Of a light page's first try. One that takes longer is read again as a heavy one, with all the time there is."""
START_TIMEOUT: Final = 20.0
"""Seconds for a worker to load its parsers: a hundred times what it takes."""
END_TIMEOUT: Final = 2.0
"""Seconds for a killed worker to be gone: the kernel takes milliseconds."""
IDLE: Final = 300.0
"""Seconds after which an idle worker ends: longer than an agent pauses between two pages."""
PIECE: Final = 1_000_000
"""Bytes written or buffered at a time, so that a large body is not copied whole."""
READER: Final = "keyhole.extract.workers.digest:digest"
"""What a worker does with a page."""
_BOOT: Final = (
    "import sys, json; options = json.loads(sys.argv[1]); sys.path[:] = options['path']; "
    "from keyhole.extract.workers.child import main; main(options)"
)
_KEPT: Final = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All that a worker inherits of the environment: what an interpreter may need to find its own libraries."""


class WorkerPool:
    """The Extractor of the product. `reader` is the function that workers run, as "module:function"."""

    def __init__(self, config: Config, size: int = SIZE, reader: str = READER, express: int = EXPRESS) -> None:
        self._config = config
        self._options = {"reader": reader, "memory": config.extract_memory, "seconds": config.extract_timeout}
        self._size = size
        self._express = express
        self._heavy = asyncio.Semaphore(size)
        self._all = asyncio.Semaphore(size + express)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._ending: set[asyncio.Task[None]] = set()

    def warm(self) -> None:
        """Start a worker when none waits for work and a slot is free."""
        if not any(worker.alive for worker in self._idle) and not self._all.locked():
            self._put_back(_Worker(self._options))

    async def extract(self, page: Page, until: float | None = None) -> tuple[Document, str]:
        """Have a worker read the page; of one that cannot be read, save what can be saved."""
        try:
            return await self._read_by(until, page)
        except UnreadError as failure:
            from keyhole.extract.workers.salvage import salvage

            log.warning("a page of %s could not be read: %s", urlsplit(page.url).hostname, failure.message)
            self.warm()  # in place of the one that was lost
            return await asyncio.to_thread(salvage, page, failure.message)

    async def aclose(self) -> None:
        """Kill all workers and wait until they are gone and nobody holds one."""
        for worker in self._busy:
            worker.kill()
        for _ in range(self._size):
            await self._heavy.acquire()
        for _ in range(self._size + self._express):
            await self._all.acquire()
        while self._idle:
            self._drop(self._idle.pop())
        await asyncio.gather(*self._ending)
        for _ in range(self._size):
            self._heavy.release()
        for _ in range(self._size + self._express):
            self._all.release()

    async def _read_by(self, until: float | None, page: Page) -> tuple[Document, str]:
        """The same, waiting for a worker and for its start included, within what is left of the call's time."""
        try:
            async with asyncio.timeout_at(until):
                return await self._read_in_turn(page)
        except TimeoutError as error:
            raise OutOfTimeError(
                "too little of the call's time was left to read it (refresh=true tries again)"
            ) from error

    async def _read_in_turn(self, page: Page) -> tuple[Document, str]:
        seconds = self._config.extract_timeout
        if len(page.body) <= LIGHT and self._express:
            try:
                async with self._all:
                    return await self._read(page, min(seconds, LIGHT_SECONDS))
            except OutOfTimeError:
                if seconds <= LIGHT_SECONDS:
                    raise
        async with self._heavy, self._all:
            return await self._read(page, seconds)

    async def _read(self, page: Page, seconds: float) -> tuple[Document, str]:
        worker = self._take()
        self._busy.add(worker)
        try:
            return await worker.read(page, seconds)
        finally:
            self._busy.discard(worker)
            if worker.clean:
                self._put_back(worker)
            else:  # out of step, out of use or in the middle of a page that nobody waits for
                self._drop(worker)

    def _take(self) -> _Worker:
        """The worker used last, whose memory is warm, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                worker.rest(None)
                return worker
            self._drop(worker)
        return _Worker(self._options)

    def _put_back(self, worker: _Worker) -> None:
        worker.rest(asyncio.get_running_loop().call_later(IDLE, self._retire, worker))
        self._idle.append(worker)

    def _retire(self, worker: _Worker) -> None:
        self._idle.remove(worker)
        self._drop(worker)

    def _drop(self, worker: _Worker) -> None:
        worker.rest(None)
        worker.kill()
        ending = asyncio.get_running_loop().create_task(worker.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


class _Worker:
    """One process. `clean`: it has answered what it was given and can take another page."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._process: Process | None = None
        self._line: int | None = None
        """Our end of a pipe through which nothing is said: the worker ends when it is closed, as by our own end."""
        self._ready = asyncio.get_running_loop().create_task(self._start(options))
        self._ready.add_done_callback(self._note)
        self._killed = False
        self.clean = True
        self._idle_end: asyncio.TimerHandle | None = None

    @property
    def alive(self) -> bool:
        """False for a process that has ended by itself or could not be started."""
        if self._ready.done() and (self._ready.cancelled() or self._ready.exception()):
            return False
        return self._process is None or self._process.returncode is None

    async def read(self, page: Page, seconds: float) -> tuple[Document, str]:
        """The worker's answer for one page. Raises what reading it raised, and UnreadError where that did not end."""
        try:
            process = await asyncio.shield(self._ready)
        except (OSError, EOFError, TimeoutError) as error:
            self.clean = False
            raise KeyholeError(Code.EXTRACTION_FAILED, "no process to read the page could be started") from error
        self.clean = False
        try:
            async with asyncio.timeout(seconds):
                request = {"url": page.url, "requested_url": page.requested_url, "content_type": page.content_type}
                await _write(process, request, page.body)
                head, text = await _message(process)
        except TimeoutError as error:
            raise OutOfTimeError(f"reading took more than {seconds:g} s") from error
        except (EOFError, OSError) as error:
            raise UnreadError(await self._cause(process, seconds)) from error
        answer = await asyncio.to_thread(answer_in, head, text)
        self.clean = head.get("last") is False
        if isinstance(answer, KeyholeError):
            raise answer
        return answer

    def rest(self, end: asyncio.TimerHandle | None) -> None:
        """Wait for work until `end`, or go to work."""
        if self._idle_end is not None:
            self._idle_end.cancel()
        self._idle_end = end

    def kill(self) -> None:
        """End the process at once, whatever it does. Never waits."""
        self._killed = True  # a process that is just being made is killed when it is: _start sees to it
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """Wait until a killed process is gone and its pipes are closed."""
        await asyncio.wait([self._ready])
        if self._process is not None:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(END_TIMEOUT):
                    await self._process.communicate(b"")
        if self._line is not None:
            os.close(self._line)
            self._line = None

    async def _start(self, options: dict[str, Any]) -> Process:
        far, near = os.pipe() if sys.platform == "linux" else (None, None)
        self._line = near
        try:
            self._process = process = await _spawn({**options, "path": _path(), "line": far})
        finally:
            if far is not None:
                os.close(far)
        if self._killed:
            self.kill()
        async with asyncio.timeout(START_TIMEOUT):
            await _message(process)
        return process

    def _note(self, ready: asyncio.Task[Process]) -> None:
        """Take notice of a failed start, which nobody may be waiting for."""
        if not ready.cancelled() and (error := ready.exception()) and not self._killed:
            log.warning("a worker could not be started: %r", error)

    async def _cause(self, process: Process, seconds: float) -> str:
        """Why a worker broke off in the middle of a page."""
        try:
            async with asyncio.timeout(END_TIMEOUT):
                code = await process.wait()
        except TimeoutError:
            return BROKEN
        log.warning("a worker ended with %s", code)
        return f"reading took more than {seconds:g} s" if code == -getattr(signal, "SIGXCPU", 0) else BROKEN


async def _spawn(options: dict[str, Any]) -> Process:
    line = options["line"]
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-X", "utf8", "-c", _BOOT, json.dumps(options)),
        pass_fds=() if line is None else (line,),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,  # what parsers say of a page repeats it, and a page must not fill the log
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        start_new_session=True,  # Ctrl-C in a terminal is for the server, which ends its workers
        limit=PIECE,
    )


def _path() -> list[str]:
    """Where modules are found here, so that a worker finds the same ones however this interpreter was told of them."""
    found = [str(Path(entry).absolute()) for entry in sys.path]
    own = str(Path(__file__).absolute().parents[3])
    return found if own in found else [*found, own]


async def _write(process: Process, head: dict[str, Any], body: bytes) -> None:
    assert process.stdin  # noqa: S101 - for the type checker
    prefix, body = pack(head, body)
    process.stdin.write(prefix)
    view = memoryview(body)
    for start in range(0, len(body), PIECE):
        process.stdin.write(view[start : start + PIECE])
        await process.stdin.drain()
    await process.stdin.drain()


async def _message(process: Process) -> tuple[dict[str, Any], bytes]:
    assert process.stdout  # noqa: S101 - for the type checker
    head_size, body_size = lengths(await process.stdout.readexactly(LENGTHS.size))
    head = await process.stdout.readexactly(head_size)
    body = await process.stdout.readexactly(body_size) if body_size else b""
    return head_of(head), body
