"""The progress bar of a call: only on a terminal, with the call's message, and removed at the end."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys

import pytest

from keyhole.cli.tool_commands import name_commands, progress_bar

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


@pytest.mark.parametrize(
    ("hint", "command"),
    [
        ('Next: read_artifact(id="nb42", offset=7, limit=2683)', "Next: keyhole read nb42 --offset 7 --limit 2683"),
        ('read_artifact(id="x", query="who\'s \\"it\\"?")', "keyhole read x --query 'who'\"'\"'s \"it\"?'"),
        ("fetch a known URL with web_fetch(url=…), or search", "fetch a known URL with keyhole fetch …, or search"),
        ("search(query=…, sites=…, fetch=false) finds it", "keyhole search … --sites … --no-fetch finds it"),
        (
            'web_fetch(url="https://a.example/x?y=1&z", refresh=true)',
            "keyhole fetch 'https://a.example/x?y=1&z' --refresh",
        ),
        ('web_fetch(url="\\x")', 'web_fetch(url="\\x")'),
        ("research(query=1)", "research(query=1)"),
    ],
)
def test_hints_of_a_result_are_commands_for_a_person(hint: str, command: str) -> None:
    assert name_commands(hint) == command


def test_a_page_that_names_a_call_stays_as_it_is() -> None:
    page = "--- untrusted text ab12 ---\nsearch(query=1)\n--- end ab12 ---"
    assert name_commands(f"search(query=2)\n{page}\nsearch(query=3)") == (f"keyhole search 2\n{page}\nkeyhole search 3")
