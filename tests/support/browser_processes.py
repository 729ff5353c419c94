"""Find the processes of a browser: those of the session that its supervisor has begun, and those below it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class _Stat(NamedTuple):
    """What Linux says about a process."""

    state: str
    parent: int
    session: int


def processes_of(supervisor: int) -> dict[int, str]:
    """Return the names of a browser's processes by their ids: supervisor, browser, zygote, renderer and others."""
    stats = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            stats[int(folder.name)] = _Stat(state, int(parent), int(session))
    found = {process for process, stat in stats.items() if stat.session == supervisor or process == supervisor}
    while more := {process for process, stat in stats.items() if stat.parent in found} - found:
        found |= more
    return {process: _name(process) for process in sorted(found) if stats[process].state != "Z"}


def _name(process: int) -> str:
    with suppress(OSError):
        command = Path(f"/proc/{process}/cmdline").read_text(errors="replace")
        if kind := re.search(r"--type=([\w-]+)", command):
            return kind[1]
        return "supervisor" if "supervisor.py" in command else "browser" if "--proxy-server" in command else "other"
    return "ended"
