"""A worker process: read pages and tasks from stdin, one at a time, and write documents and results to stdout.

The process ends when the server closes stdin or dies. It uses no network, store or settings, and its memory and time
are limited.
"""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, Final

from keyhole.errors import KeyholeError
from keyhole.extract import extract
from keyhole.extract.workers.tasks import (
    LENGTHS,
    Result,
    decode_function,
    encode_document,
    encode_failure,
    pack,
    parse_head,
    unpack_lengths,
)
from keyhole.passages.stems import index_terms
from keyhole.records import Document

PageReader = Callable[[bytes, str, str, str], tuple[Document, str]]
"""A function of body, URL, content type and requested URL that returns a document and its words for the search
index."""

MAX_PAGES: Final = 200
"""Number of pages after which a process is replaced, which limits leaks and damage by a page."""
MAX_GROWTH: Final = 0.25
"""Largest growth of a process, as a share of the memory limit. A process that has grown more after a page is
replaced."""
MAX_REQUEST: Final = 2**32
"""Largest request, in bytes. The server's settings limit requests further."""
OUT_OF_MEMORY: Final = "reading took more memory than is allowed"
"""The reason that a process reports before it ends, because little memory is left for its next page."""
AUTOGROUP_TRIES: Final = 10
"""Attempts to change the niceness of a session: more than the workers that start at the same time."""
_AUTOGROUP: Final = Path("/proc/self/autogroup")
_STATM: Final = Path("/proc/self/statm")


def extract_with_words(body: bytes, url: str, content_type: str, requested_url: str = "") -> tuple[Document, str]:
    """Return the document of a page, and its words for the search index."""
    document = extract(body, url=url, content_type=content_type, requested_url=requested_url)
    return document, index_words(document.title, document.main)


def index_words(title: str, text: str) -> str:
    """Return the words of a text for the search index."""
    return " ".join(index_terms(title, text))


def main(options: dict[str, Any]) -> None:
    """Serve requests until stdin ends.

    `options` contains `reader` ("module:function"), `memory` in bytes, `nice` and `lifetime_fd`.
    """
    _lower_priority(options["nice"])
    answers = _take_stdout()
    read: PageReader = decode_function(options["reader"])
    import_module("keyhole.extract.html.page")  # most pages need it, and the first is still being fetched
    gc.collect()
    gc.freeze()  # imported modules live as long as the process, so later collections can skip them
    if options.get("lifetime_fd") is not None:
        _die_with_server(options["lifetime_fd"])
    base = _limit_memory(options["memory"])
    _send(answers, {})
    for number in range(1, MAX_PAGES + 1):
        page = _receive(sys.stdin.buffer)
        if page is None:
            return
        _limit_cpu(page[0]["seconds"])
        head, text = _answer(read, *page)
        _limit_cpu(None)  # the time to receive the next request does not count
        has_grown = _address_space() - base > options["memory"] * MAX_GROWTH
        last = has_grown or number == MAX_PAGES or head.get("unread") == OUT_OF_MEMORY
        _send(answers, {**head, "last": last}, text)
        if last:
            return


def _answer(read: PageReader, head: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the answer for one page or task.

    An unexpected exception harms only its page. Its message may quote the page, so only its type is reported.
    """
    try:
        if "function" in head:
            values, text = run_task(head["function"], head["arguments"], split_bodies(body, head["sizes"]))
            return {"result": values}, text
        if head["failure"]:
            from keyhole.extract.workers.salvage import salvage

            return encode_document(*salvage(body, head["url"], head["content_type"], head["failure"]))
        return encode_document(*read(body, head["url"], head["content_type"], head["requested_url"]))
    except KeyholeError as error:
        return encode_failure(error), b""
    except MemoryError:
        return {"unread": OUT_OF_MEMORY}, b""
    except Exception as error:  # noqa: BLE001 - a fault of a parser on a hostile page can be of any type
        return {"unread": f"reading failed ({type(error).__name__})"}, b""


def run_task(function: str, arguments: Mapping[str, Any], bodies: Sequence[bytes]) -> Result:
    """Return the result of a function, named as by `encode_function`."""
    result: Result = decode_function(function)(arguments, bodies)
    return result


def split_bodies(body: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Return the bodies of these sizes, which follow each other in `body`."""
    ends = list(accumulate(sizes))
    return [body[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _receive(requests: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Return the next page, or None if the server closed the pipe."""
    prefix = requests.read(LENGTHS.size)
    if len(prefix) < LENGTHS.size:
        return None
    head_size, body_size = unpack_lengths(prefix, MAX_REQUEST)
    head, body = requests.read(head_size), requests.read(body_size)
    return (parse_head(head), body) if len(body) == body_size else None


def _send(answers: BinaryIO, head: dict[str, Any], body: bytes = b"") -> None:
    for piece in pack(head, body):
        answers.write(piece)
    answers.flush()


def _take_stdout() -> BinaryIO:
    """Return stdout as the pipe to the server. Output of libraries goes to the null device instead."""
    pipe = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    return pipe


def _address_space() -> int:
    """Return the address space in use, in bytes, or 0 if the system does not report it."""
    try:
        return int(_STATM.read_bytes().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _limit_memory(size: int) -> int:
    """Limit memory to `size` bytes more than the process uses now. Return the current use in bytes.

    Linux limits the address space. macOS accepts a limit on data but enforces it only for some allocations.
    Windows has no such limit, so only the time limit applies.
    """
    base = _address_space()
    if sys.platform != "win32":
        import resource

        kind = resource.RLIMIT_AS if base else resource.RLIMIT_DATA
        _set_limit(kind, base + size)
        _set_limit(resource.RLIMIT_CORE, 0)
    return base


def _limit_cpu(seconds: float | None) -> None:
    """Set the kernel's limit on processor time from now on, in whole seconds, rounded up; None removes it.

    The time in which other programs have the processors does not count. The limit applies even if the server has died.
    """
    if sys.platform != "win32":
        import resource

        until = resource.RLIM_INFINITY if seconds is None else math.ceil(time.process_time() + seconds)
        _set_limit(resource.RLIMIT_CPU, until)


def _set_limit(kind: int, soft: int) -> None:
    """Set a soft limit of the kernel, at most to its hard limit."""
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)
    try:
        resource.setrlimit(kind, (soft, hard))
    except (ValueError, OSError):
        return  # the system does not support this limit


def _lower_priority(nice: int) -> None:
    """Raise the niceness of this process, and on Linux also that of its session.

    Where Linux groups processes by session (`sched_autogroup_enabled`), niceness only applies within a session, and
    this process has its own.
    """
    if not nice or sys.platform == "win32":
        return
    with suppress(OSError):  # a sandbox may forbid it
        os.nice(nice)
    for _ in range(AUTOGROUP_TRIES):
        try:
            _AUTOGROUP.write_text(str(nice))
        except BlockingIOError:  # without privileges, Linux allows one such change in 0.1 s
            time.sleep(0.1)
        except OSError:
            return  # no such groups, or a sandbox forbids it
        else:
            return


def _die_with_server(fd: int) -> None:
    """Make the kernel end this process when the server's end of the pipe is closed, as by the server's death.

    The default action of the signal works even while a hostile page keeps the interpreter busy. This pipe is separate
    from stdin, which would also signal data; nothing is ever written to this pipe. Only Linux supports this. On other
    systems the limit on processor time ends the process later.
    """
    if sys.platform != "linux":
        return
    import fcntl
    import select

    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([fd], [], [], 0)[0]:  # closed before the signal was enabled
        os._exit(0)
