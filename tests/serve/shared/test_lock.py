"""The holder of a lock is found and ended only if it is the server that wrote itself into it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.loopback import PATIENCE

if sys.platform == "win32":
    pytest.skip("Windows has no shared server", allow_module_level=True)

from keyhole.serve.shared.lock import end_server, find_server, take_lock, wait_for_end

SERVER = (
    "import sys; from keyhole.serve.shared.lock import take_lock; print(take_lock(sys.argv[1]), flush=True); input()"
)
OTHER = (
    "import fcntl, sys; f = open(sys.argv[1], 'ab'); fcntl.lockf(f, fcntl.LOCK_EX); print(True, flush=True); input()"
)


@contextmanager
def holder(program: str, lock: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds a lock until the block ends."""
    command = [sys.executable, "-c", program, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "a.lock"


def test_one_process_holds_a_lock_as_long_as_it_runs(lock: Path) -> None:
    with holder(SERVER, lock) as server:
        assert find_server(str(lock)) == server.pid
        assert not take_lock(str(lock))
        assert not wait_for_end(str(lock), server.pid, 0)
    assert find_server(str(lock)) == 0
    assert wait_for_end(str(lock), server.pid, 0)


def test_neither_a_free_nor_a_missing_lock_has_a_server(lock: Path) -> None:
    assert find_server(str(lock)) == 0
    lock.write_text(f"{os.getpid()} on {os.uname().nodename}\n")
    assert find_server(str(lock)) == 0


def test_another_program_that_holds_the_lock_is_not_ended(lock: Path) -> None:
    with holder(SERVER, lock) as server:
        pass
    with holder(OTHER, lock) as other:
        assert lock.read_text().startswith(f"{server.pid} ")
        assert find_server(str(lock)) == 0
        assert end_server(str(lock), other.pid)
        assert other.poll() is None


def test_a_server_is_ended_also_if_it_is_stopped(lock: Path) -> None:
    for stop, ending in ((False, signal.SIGTERM), (True, signal.SIGKILL)):
        with holder(SERVER, lock) as server:
            if stop:
                server.send_signal(signal.SIGSTOP)
                os.waitpid(server.pid, os.WUNTRACED)
            assert end_server(str(lock), server.pid)
            assert server.wait(PATIENCE) == -ending


def test_a_successor_is_not_ended(lock: Path) -> None:
    with holder(SERVER, lock) as old:
        pass
    with holder(SERVER, lock) as successor:
        assert end_server(str(lock), old.pid)
        assert successor.poll() is None
        assert find_server(str(lock)) == successor.pid


def test_no_process_is_ended_if_the_system_does_not_tell_which(lock: Path) -> None:
    with holder(SERVER, lock) as server:
        assert not end_server(str(lock), 0)
        assert server.poll() is None
