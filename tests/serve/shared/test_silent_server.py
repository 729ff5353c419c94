"""A shared server that does not answer is ended, and its clients are served by other servers. Servers are stopped by
SIGSTOP, which looks like a computation that never ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from benchmarks.browser.pages.processes import descendants_of
from keyhole.serve.shared.address import find_address
from keyhole.serve.shared.connection_state import SILENT
from keyhole.serve.shared.link import WELCOME
from keyhole.serve.shared.relay import GREETING_SECONDS, START_SECONDS
from tests.support.loopback import PATIENCE
from tests.support.shared_clients import Client, reader_settings, servers_of, shared_home
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs relays and reads /proc")

UNKNOWN = {"id": "aaaaaaaaaaaaaaaa"}
CALL = {"name": "read_artifact", "arguments": UNKNOWN}
IMPATIENT = """
import sys
from keyhole.__main__ import read
from keyhole.serve.shared import link, relay
link.SILENT_SECONDS, relay.CALM_SECONDS = 2.0, 0.2
sys.exit(read())
"""
"""A relay that waits less for a silent server than a real one."""
RELAY = (sys.executable, "-c", IMPATIENT)


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


def test_a_new_client_does_not_wait_for_a_stopped_server_and_ends_it(home: Path) -> None:
    settings = reader_settings(home)
    with Client(settings) as first:
        first.call("read_artifact", **UNKNOWN)
        stopped = only_server(home)
        os.kill(stopped, signal.SIGSTOP)
        start = time.monotonic()
        with Client(settings, relay=RELAY) as new:
            assert time.monotonic() - start < GREETING_SECONDS, "the handshake is known"
            assert new.call("read_artifact", **UNKNOWN)
            wait_for(lambda: not is_running(stopped))
            assert first.call("read_artifact", **UNKNOWN)
            assert only_server(home) != stopped


def test_calls_at_a_stopped_server_are_answered_by_private_ones_and_its_successor_lives(home: Path) -> None:
    settings = reader_settings(home)
    with Client(settings, relay=RELAY) as one, Client(settings, relay=RELAY) as two:
        for client in (one, two):
            expected = client.call("read_artifact", **UNKNOWN)
        stopped = only_server(home)
        os.kill(stopped, signal.SIGSTOP)
        asked = [(client, client.request("tools/call", CALL)) for client in (one, two)]
        wait_for(lambda: not is_running(stopped))
        with Client(settings) as new:
            assert new.call("read_artifact", **UNKNOWN) == expected
            successor = only_server(home)
            for client, id in asked:
                assert client.reply(id)["result"]["content"][0]["text"] == expected
            assert only_server(home) == successor
            assert [client["relay"] for client in servers_of(home)[0]["clients"]] == [new.process.pid]


def test_a_call_at_a_private_server_that_stops_gets_an_error_and_the_next_call_an_answer(home: Path) -> None:
    settings = reader_settings(home)
    with Client(settings, relay=RELAY) as client:
        client.call("read_artifact", **UNKNOWN)
        os.kill(only_server(home), signal.SIGSTOP)
        client.call("read_artifact", **UNKNOWN)
        (private,) = descendants_of(client.process.pid)
        os.kill(private, signal.SIGSTOP)
        assert client.ask("tools/call", CALL)["error"]["message"] == SILENT
        assert client.call("read_artifact", **UNKNOWN)
        assert not is_running(private)


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


def test_a_server_that_does_not_prove_its_settings_is_not_used(home: Path) -> None:
    settings = reader_settings(home)
    address = find_address(settings)
    assert address
    Path(address.folder).mkdir(mode=0o700)
    with socket(AF_UNIX) as listener:
        listener.bind(address.socket)
        listener.listen()
        listener.settimeout(PATIENCE)
        received: list[bytes] = []

        def welcome() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(json.dumps({"answer": WELCOME, "identity": "others"}).encode() + b"\n")
                received.append(connection.recv(65_536))

        thread = threading.Thread(target=welcome)
        thread.start()
        with Client(settings) as client:
            assert client.call("read_artifact", **UNKNOWN)
        thread.join()
    assert received == [b""], "the client's messages do not reach it"
