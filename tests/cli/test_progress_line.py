"""A line on a terminal shows that a command runs. Nothing of it goes into a pipe or stays on the terminal."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keyhole.cli.run_command import CLEAR, ProgressLine, shown_progress
from tests.support.waiting import wait_for

COMMAND = (sys.executable, "-c", "import time\nfor n in range(40): print('step', n, flush=True); time.sleep(0.05)")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_counts_the_output_and_ends_with_its_last_line_without_control_characters() -> None:
    line = ProgressLine()
    line.write(b"one\ntwo \x1b[31mred\xff\n\n")
    text = line.text(200)
    assert text.startswith("19 bytes, 3 lines, 0 s: two ") and "red" in text and "\x1b" not in text
    assert len(line.text(20)) <= 20


def test_the_line_is_shown_while_the_block_runs_and_removed_at_the_end() -> None:
    terminal = Terminal()
    with shown_progress(terminal, delay=0.0) as progress:
        progress.write(b"compiling\n")
        wait_for(lambda: "compiling" in terminal.getvalue())
    assert terminal.getvalue().endswith(CLEAR)
    assert "10 bytes, 1 lines, 0 s: compiling" in terminal.getvalue()


def test_a_short_command_and_a_pipe_show_nothing() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    with shown_progress(terminal), shown_progress(pipe, delay=0.0):
        time.sleep(0.01)  # the thread of a terminal would write now
    assert terminal.getvalue() == pipe.getvalue() == ""


@pytest.mark.skipif(os.name != "posix", reason="keyhole run needs POSIX")
def test_keyhole_run_shows_it_on_a_terminal_and_prints_the_same_as_in_a_pipe(tmp_path: Path) -> None:
    environment = {**os.environ, "KEYHOLE_HOME": str(tmp_path)}
    run = [sys.executable, "-m", "keyhole", "run", "--", *COMMAND]
    outer, inner = pty.openpty()
    with subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, stderr=inner, stdin=inner) as process:
        os.close(inner)
        output, _ = process.communicate(timeout=60)
    shown = b""
    try:
        while part := os.read(outer, 10_000):
            shown += part
    except OSError:  # Linux ends a terminal without processes with an error
        pass
    os.close(outer)
    piped = subprocess.run(run, env=environment, capture_output=True, timeout=60, check=True)
    assert output == piped.stdout == b"".join(b"step %d\n" % number for number in range(40))
    assert piped.stderr == b""
    assert b" lines, 1 s: step " in shown and shown.endswith(CLEAR.encode())
