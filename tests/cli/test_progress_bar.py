"""The bar that a person sees: on a real terminal only, with the call's words, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys

import pytest

from keyhole.cli.progress_bar import bar

PROGRAM = """
import asyncio
from keyhole.bar import bar
with bar("search") as progress:
    asyncio.run(progress(3, 8, "fetching 3/5: [docs].example.org"))
print("the answer")
"""


def test_without_a_terminal_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("search") as progress:
        asyncio.run(progress(1, 2, "searching"))
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_the_bar_says_what_the_call_says_and_is_wiped_away() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        drawn = _all_of(ours)
        assert process.stdout
        assert process.stdout.read() == b"the answer\n"
    assert process.returncode == 0
    assert b"fetching 3/5: [docs].example.org" in drawn
    assert b"\x1b[2K" in drawn.rpartition(b"docs")[2]


def _all_of(terminal: int) -> bytes:
    drawn = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # what Linux says when the other side of a terminal is closed
            piece = b""
        if not piece:
            os.close(terminal)
            return drawn
        drawn += piece
