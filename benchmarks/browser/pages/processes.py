"""Measure the memory of the browsers that run below this process."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self

INTERVAL: Final = 0.1
"""Seconds between two samples."""


def browser_memory() -> int:
    """Return the bytes of the largest browser below this process, with all of its processes.

    Memory that processes share counts once, divided among them.
    """
    children = _children()
    browsers = [pid for pid in _descendants(os.getpid(), children) if _is_browser(pid)]
    return max((sum(map(proportional_bytes, [pid, *_descendants(pid, children)])) for pid in browsers), default=0)


def _children() -> Mapping[int, Sequence[int]]:
    """Return the children of every process of the system."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            children[int(stat.read_text().rpartition(")")[2].split()[1])].append(int(stat.parent.name))
    return children


def _descendants(root: int, children: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield the processes below `root`."""
    for child in children.get(root, ()):
        yield child
        yield from _descendants(child, children)


def descendants_of(pid: int) -> list[int]:
    """Return the processes below a process."""
    return list(_descendants(pid, _children()))


def _is_browser(pid: int) -> bool:
    """Return True for the first process of a browser, which is controlled over a pipe, or for its supervisor."""
    with suppress(OSError):
        return b"--remote-debugging-pipe" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def proportional_bytes(pid: int) -> int:
    """Return the PSS of a process; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


class MemorySampler:
    """Records the most memory that a browser has at any time, in a `with` statement."""

    def __init__(self) -> None:
        self.peak = 0
        self._stopping = Event()
        self._thread = Thread(target=self._sample)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stopping.wait(INTERVAL):
            self.peak = max(self.peak, browser_memory())
