"""The progress bar of a call: only on a terminal, with the call's message, and removed at the end."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys

import pytest

from keyhole.cli.tool_commands import progress_bar

PROGRAM = """
import asyncio
from keyhole.cli.tool_commands import progress_bar
with progress_bar("search") as progress:
    asyncio.run(progress(3, 8, "fetching 3/5: [docs].example.org"))
print("the answer")
"""


def test_without_a_terminal_no_bar_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("search") as progress:
        asyncio.run(progress(1, 2, "searching"))
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_the_bar_shows_the_calls_message_and_is_removed() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        drawn = _read_all(ours)
        assert process.stdout
        assert process.stdout.read() == b"the answer\n"
    assert process.returncode == 0
    assert b"fetching 3/5: [docs].example.org" in drawn
    assert b"\x1b[2K" in drawn.rpartition(b"docs")[2]


def _read_all(terminal: int) -> bytes:
    drawn = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # raised on Linux when the other side of a terminal is closed
            piece = b""
        if not piece:
            os.close(terminal)
            return drawn
        drawn += piece
