"""The beginning of an output that is printed while its command runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyhole.cli.run_command import MAX_BYTES, LiveOutput

RUN = """
import sys
from pathlib import Path
from keyhole.outputs.child_process import Program
from keyhole.cli.run_command import Options, run_program
from keyhole.config.config import Config
home, script = sys.argv[1:]
options = Options(4_000, live_after=0.1)
sys.exit(run_program(Config(home=Path(home)), options, Program(["sh", "-c", script]), script))
"""


def start(home: Path, script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(home), script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.skipif(os.name != "posix", reason="keyhole run needs POSIX signals")
@pytest.mark.parametrize(
    ("after", "ending"), [("echo stopped", b"stopped\n"), ("printf end; exit 3", b"end"), ("seq 3000", b"[end]\n")]
)
def test_a_server_that_runs_on_shows_that_it_is_ready(tmp_path: Path, after: str, ending: bytes) -> None:
    wait = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done"
    process = start(tmp_path / "home", f"printf 'listening on'; echo ' 3000'; {wait}; {after}")
    assert process.stdout
    assert process.stdout.readline() == b"listening on 3000\n"
    (tmp_path / "go").touch()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (3 if "exit" in after else 0, b"")
    assert out.endswith(ending)
    assert out == ending or (b"Output of " in out and len("listening on 3000\n") + len(out) <= 4_000)


def test_at_most_a_limit_is_printed_and_whole_lines_of_it(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    live = LiveOutput()
    live.write(b"one\n")
    assert capfdbinary.readouterr().out == b""
    live.start()
    live.write(b"two\nthree")
    assert capfdbinary.readouterr().out == b"one\ntwo\nthree"
    assert live.ends_in_line
    live.write(b"\n" + b"x" * MAX_BYTES)
    live.write(b"more\n")
    assert capfdbinary.readouterr().out == b"\n"
    assert (live.printed, live.ends_in_line) == (len(b"one\ntwo\nthree\n"), False)
