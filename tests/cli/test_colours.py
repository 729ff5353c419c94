"""Colours and block characters: only on terminals that show them, and as NO_COLOR, FORCE_COLOR and TERM ask."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence

import pytest

from keyhole.cli.colours import detect_style
from keyhole.cli.demo_site import fixtures_folder

PAGE = str(fixtures_folder() / "sqlite-wal" / "body")
EXPLAIN = ["select", PAGE, "--type", "text/html", "-q", "checkpoint starvation", "--budget", "1500", "--explain"]


@pytest.mark.parametrize(
    ("environment", "terminal", "colours"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": ""}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colours_depend_on_the_terminal_and_the_environment(
    environment: dict[str, str], terminal: bool, colours: bool
) -> None:
    assert detect_style(environment, terminal=terminal, encoding="utf-8", columns=80).colours is colours


@pytest.mark.parametrize(
    ("environment", "terminal", "encoding", "plain"),
    [
        ({}, True, "utf-8", False),
        ({}, True, "UTF8", False),
        ({}, True, "ascii", True),
        ({}, True, "latin-1", True),
        ({}, False, "utf-8", True),
        ({"TERM": "dumb"}, True, "utf-8", True),
        ({"FORCE_COLOR": "1"}, False, "utf-8", True),
    ],
)
def test_block_characters_depend_on_the_terminal_and_the_encoding(
    environment: dict[str, str], terminal: bool, encoding: str, plain: bool
) -> None:
    assert detect_style(environment, terminal=terminal, encoding=encoding, columns=80).plain is plain


@pytest.mark.parametrize(
    ("environment", "columns", "width"),
    [
        ({}, 80, 80),
        ({}, 20, 60),
        ({}, 500, 200),
        ({}, None, 100),
        ({"COLUMNS": "120"}, 80, 120),
        ({"COLUMNS": "²"}, 80, 80),
    ],
)
def test_the_width_depends_on_the_terminal_and_columns(
    environment: dict[str, str], columns: int | None, width: int
) -> None:
    assert detect_style(environment, terminal=True, encoding="utf-8", columns=columns).width == width


def on_a_terminal(words: Sequence[str], **environment: str) -> str:
    """Return the output of a command on a real terminal."""
    ours, theirs = pty.openpty()
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    }
    variables = {**inherited, "TERM": "xterm", "PYTHONUTF8": "1", **environment}
    with subprocess.Popen([sys.executable, "-m", "keyhole", *words], stdout=theirs, env=variables) as process:
        os.close(theirs)
        drawn = b""
        while piece := _read(ours):
            drawn += piece
    os.close(ours)
    assert process.returncode == 0
    return drawn.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # raised on Linux when the other side of a terminal is closed
        return b""


def test_a_plot_on_a_terminal_has_colours_and_blocks_unless_they_are_turned_off() -> None:
    drawn = on_a_terminal(EXPLAIN)
    assert "\x1b[32m" in drawn
    assert "█" in drawn
    assert "\x1b" not in on_a_terminal(EXPLAIN, NO_COLOR="1")
    dumb = on_a_terminal(EXPLAIN, TERM="dumb")
    assert "\x1b" not in dumb
    assert "█" not in dumb


def test_a_plot_in_a_pipe_is_ascii_except_for_page_text_and_coloured_only_if_forced() -> None:
    def run_piped(**environment: str) -> str:
        command = [sys.executable, "-m", "keyhole", *EXPLAIN]
        variables = {**os.environ, **environment}
        return subprocess.run(
            command, env=variables, capture_output=True, encoding="utf-8", check=True, timeout=60
        ).stdout

    plain = run_piped()
    assert "\x1b" not in plain
    assert not set(plain) & set("█▒·│▁▂▃▄▅▆▇")
    assert "\x1b[" in run_piped(FORCE_COLOR="1")
