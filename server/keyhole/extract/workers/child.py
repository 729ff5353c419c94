"""A worker process: reads pages from stdin, one at a time, and writes what it made of each to stdout, until the server
closes stdin or is gone. It has no network, no store and no settings, and limits of its own on memory and time.
"""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final

from keyhole.errors import KeyholeError
from keyhole.extract.workers.frames import LENGTHS, document_message, failure_message, head_of, lengths, pack
from keyhole.records import Document

Read = Callable[[bytes, str, str, str], tuple[Document, str]]
"""From body, URL, content type and requested URL to a document and its words."""

MAX_PAGES: Final = 200
"""Pages that a process reads before it is replaced: what libraries leak or a page damaged ends with it."""
GROWTH: Final = 0.25
"""Share of the memory limit by which a process may have grown after a page; the next one needs the room."""
CPU_SLACK: Final = 5
"""Seconds of processor time beyond the limit on wall time, within which the server kills the process if it lives."""
MAX_REQUEST: Final = 2**32
"""Bytes: the server bounds what it sends by its own settings."""
_STATM: Final = Path("/proc/self/statm")
_PRELOADED: Final = ("keyhole.extract.html.page", "keyhole.passages.stems")
"""What most pages need, loaded while the first one is still on the network."""


def main(options: dict[str, Any]) -> None:
    """Serve until there is nothing more to read. `options`: reader ("module:function"), memory, seconds."""
    answers = _private_stdout()
    module, _, function = options["reader"].partition(":")
    read: Read = getattr(import_module(module), function)
    for name in _PRELOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # what was loaded lives as long as the process: no later collection need go through it
    if options.get("line") is not None:
        _die_with_server(options["line"])
    base = _limit_memory(options["memory"])
    _send(answers, {})
    for number in range(1, MAX_PAGES + 1):
        page = _receive(sys.stdin.buffer)
        if page is None:
            return
        _limit_cpu(options["seconds"])
        head, text = _answer(read, *page)
        grown = _address_space() - base > options["memory"] * GROWTH
        last = grown or number == MAX_PAGES or "unread" in head
        _send(answers, {**head, "last": last}, text)
        if last:
            return


def _answer(read: Read, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """The answer for one page. What is not foreseen ends the process, and the server starts another."""
    try:
        return document_message(*read(body, head["url"], head["content_type"], head["requested_url"]))
    except KeyholeError as error:
        return failure_message(error), b""
    except MemoryError:
        return {"unread": "reading took more memory than is allowed"}, b""


def _receive(requests: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next page, or None when the server has closed the pipe."""
    prefix = requests.read(LENGTHS.size)
    if len(prefix) < LENGTHS.size:
        return None
    head_size, body_size = lengths(prefix, MAX_REQUEST)
    head, body = requests.read(head_size), requests.read(body_size)
    return (head_of(head), body) if len(body) == body_size else None


def _send(answers: BinaryIO, head: dict[str, Any], body: bytes = b"") -> None:
    for piece in pack(head, body):
        answers.write(piece)
    answers.flush()


def _private_stdout() -> BinaryIO:
    """The pipe to the server, for answers alone: what a library prints goes nowhere."""
    pipe = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return pipe


def _address_space() -> int:
    """Bytes of address space in use, or 0 where the system does not tell."""
    try:
        return int(_STATM.read_bytes().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _limit_memory(size: int) -> int:
    """Allow `size` bytes more than the interpreter and its libraries hold now; what they hold.

    Linux counts address space. macOS takes the limit on data and enforces it for part of the allocations only;
    Windows has no such limit. There the limit on time is what holds.
    """
    base = _address_space()
    if sys.platform != "win32":
        import resource

        kind = resource.RLIMIT_AS if base else resource.RLIMIT_DATA
        _lower(kind, base + size)
        _lower(resource.RLIMIT_CORE, 0)
    return base


def _limit_cpu(seconds: float) -> None:
    """A second fence, which the kernel keeps: it holds even if the server that watches the clock is gone."""
    if sys.platform != "win32":
        import resource

        _lower(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds) + CPU_SLACK)


def _lower(kind: int, soft: int) -> None:
    import resource

    hard = resource.getrlimit(kind)[1]
    try:
        resource.setrlimit(kind, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
    except (ValueError, OSError):
        return  # a system that does not know this limit


def _die_with_server(line: int) -> None:
    """Have the kernel end this process when the server's end of this pipe is closed, as it is when the server is
    killed. The signal's default action needs no interpreter, which a hostile page may be keeping busy. Nothing is ever
    written to the pipe: stdin's last bytes are signalled too, and may be so when they have been read already.
    Linux alone ends a process by it; elsewhere the limit on processor time does, later."""
    if sys.platform != "linux":
        return
    import fcntl
    import select

    fcntl.fcntl(line, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(line, fcntl.F_SETFL, fcntl.fcntl(line, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([line], [], [], 0)[0]:  # closed before the signal was asked for
        os._exit(0)
