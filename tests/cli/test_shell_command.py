"""`keyhole shell` runs a script; tests/outputs/hooks/test_codex_commands.py compares what scripts do."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

from keyhole.cli.main import main
from keyhole.cli.shell_command import is_login, make_program, read_environment
from keyhole.outputs.hooks.codex import ENVIRONMENT, MAX_ENVIRONMENT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="keyhole shell needs POSIX signals")
NAME = ENVIRONMENT.encode()


def run(script: str, home: Path | str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "keyhole", "shell", "--", "sh", "", script],
        env={**os.environ, "KEYHOLE_HOME": str(home), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "state", "expected"),
    [
        ("/bin/bash", "hBc login_shell    \ton", True),
        ("/bin/bash", "hBc login_shell    \toff\n-lc", False),
        ("/bin/bash", "hBc login_shell    \toff\n-c", False),
        ("/bin/zsh", "569Xl", True),
        ("/bin/zsh", "569X", False),
        ("/bin/zsh", "569Xl -lc", True),
        ("/bin/sh", "-lc", True),
        ("/bin/sh", "-c", False),
        ("/bin/sh", "", False),
    ],
)
def test_a_login_shell_is_recognised_by_its_options_or_its_arguments(name: str, state: str, expected: bool) -> None:
    assert is_login(name, state) is expected
    assert make_program(name, state, "make", {}).words == [name, "-lc" if expected else "-c", "make"]


def test_the_shell_gets_the_environment_in_which_the_first_one_was_started() -> None:
    data = b"A=1\0B=two\nlines=\xff\0not a variable\0C=\0"
    program = make_program("sh", "-c", "", {NAME: b64encode(data), b"A": b"2"})
    assert program.environment == {b"A": b"1", b"B": b"two\nlines=\xff", b"C": b""}


@pytest.mark.parametrize("encoded", [b"", b"A", b"====", b64encode(b"A=1"), b64encode(b"A=1\0" * MAX_ENVIRONMENT)])
def test_without_a_complete_environment_the_shell_gets_that_of_this_process(encoded: bytes) -> None:
    assert read_environment(encoded) == {}
    assert make_program("sh", "-c", "", {NAME: encoded, b"A": b"2"}).environment == {b"A": b"2"}


def test_the_script_runs_whatever_is_wrong_with_the_settings_or_the_home_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for home in (tmp_path / "file" / "home", "/proc/home"):
        assert run("echo one; exit 3", home, KEYHOLE_MAX_CHARS="many") == (3, "one\n", "")
        status, out, err = run("seq 3000; exit 3", home, KEYHOLE_STORE="no-store")
        assert (status, out.endswith("[end]\n"), err) == (3, True, "")


def test_a_person_can_leave_out_the_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path))
    assert main(["shell", "sh", "", "exit 3"]) == 3
