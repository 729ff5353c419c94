"""A shared server that does not answer is ended. Servers are stopped by SIGSTOP, which looks like a computation that
never ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyhole.serve.shared.address import find_address
from keyhole.serve.shared.relay import START_SECONDS
from tests.support.loopback import PATIENCE
from tests.support.shared_clients import Client, reader_settings, servers_of, shared_home
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs relays and reads /proc")

UNKNOWN = {"id": "aaaaaaaaaaaaaaaa"}


@pytest.fixture
def home() -> Iterator[Path]:
    with shared_home() as folder:
        yield folder


def only_server(home: Path) -> int:
    """Return the process of the only server."""
    (server,) = servers_of(home)
    process: int = server["process"]
    return process


def is_running(process: int) -> bool:
    """Return whether a process has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def stop(settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `keyhole server stop`."""
    command = [sys.executable, "-m", "keyhole", "server", "stop"]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=60)


def test_a_stopped_server_is_ended_by_the_command(home: Path) -> None:
    settings = reader_settings(home)
    with Client(settings) as client:
        client.call("read_artifact", **UNKNOWN)
        stopped = only_server(home)
        os.kill(stopped, signal.SIGSTOP)
        ended = stop(settings)
        assert (ended.returncode, ended.stdout) == (0, f"stopped the server of process {stopped}\n")
        wait_for(lambda: not is_running(stopped))
        client.call("read_artifact", **UNKNOWN)
        running = only_server(home)
        next((home / "shared").glob("*.sock")).unlink()  # a server that is ending, and has not ended
        assert stop(settings).stdout == f"stopped the server of process {running}\n"
        wait_for(lambda: not is_running(running))


def test_another_program_that_holds_the_lock_leaves_the_client_alone(home: Path) -> None:
    settings = reader_settings(home)
    address = find_address(settings)
    assert address
    Path(address.folder).mkdir(mode=0o700)
    hold = "import fcntl, sys; f = open(sys.argv[1], 'ab'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, address.path("lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        other.stdout.readline()
        start = time.monotonic()
        with Client(settings) as client:
            assert client.call("read_artifact", **UNKNOWN)
        assert time.monotonic() - start < PATIENCE < START_SECONDS
        assert "another program holds" in Path(address.path("log")).read_text()
        assert "no shared server" in stop(settings).stderr
        assert other.poll() is None
        other.kill()
