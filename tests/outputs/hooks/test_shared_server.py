"""A hook lets a running shared server answer, and does the work itself whenever that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from keyhole.serve.shared.address import find_address
from tests.support.hook_events import LONG, recorded
from tests.support.loopback import PATIENCE
from tests.support.shared_clients import reader_settings, shared_home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs shared servers")


@pytest.fixture
def settings() -> Iterator[dict[str, str]]:
    with shared_home() as home:
        yield reader_settings(home)


def hook(settings: dict[str, str], output: str = LONG) -> bytes:
    """Return what the hook of Claude Code prints for a command that printed `output`."""
    event = recorded("claude-shell-small")
    event["tool_response"]["stdout"] = output
    command = [sys.executable, "-m", "keyhole", "hook", "claude"]
    data = json.dumps(event).encode()
    return subprocess.run(command, env=settings, input=data, capture_output=True, check=True, timeout=60).stdout


@contextmanager
def real_server(settings: dict[str, str]) -> Iterator[None]:
    command = [sys.executable, "-m", "keyhole", "server", "run"]
    with subprocess.Popen(command, env=settings, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        yield
        process.kill()


@contextmanager
def fake_server(settings: dict[str, str], reply: bytes) -> Iterator[list[bytes]]:
    """Listen at the address of the settings, and answer one connection after it sent everything."""
    address = find_address(settings)
    assert address
    Path(address.folder).mkdir(parents=True, exist_ok=True)
    received: list[bytes] = []
    with socket(AF_UNIX) as listener:
        listener.bind(address.socket)
        listener.listen()
        listener.settimeout(PATIENCE)

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                while part := connection.recv(65_536):
                    received.append(part)
                connection.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        yield received
        thread.join()
    Path(address.socket).unlink()


def test_a_shared_server_gives_the_answer_of_the_hook(settings: dict[str, str]) -> None:
    Path(settings["KEYHOLE_HOME"], "secret").write_bytes(b"s" * 32)
    alone = hook({**settings, "KEYHOLE_SHARED": "off"})
    assert b"10:00:" in alone
    with real_server(settings):
        assert hook(settings) == alone
        assert hook({**settings, "KEYHOLE_RECORD": "off"}) == alone  # other settings: the hook does the work


def test_the_answer_of_a_server_is_printed_as_it_is(settings: dict[str, str]) -> None:
    with fake_server(settings, b'+{"from": "server"}') as received:
        assert hook(settings) == b'{"from": "server"}'
    line, _, event = b"".join(received).partition(b"\n")
    assert line.startswith(b"hook claude 4000 (") and json.loads(event)["tool_name"] == "Bash"
    with fake_server(settings, b"+"):
        assert hook(settings) == b""


def test_without_an_answer_the_hook_does_the_work(settings: dict[str, str]) -> None:
    with fake_server(settings, b""):
        assert b"10:00:" in hook(settings)


def test_a_short_event_asks_no_server(settings: dict[str, str]) -> None:
    address = find_address(settings)
    assert address
    os.makedirs(address.folder)  # noqa: PTH103 - a string
    Path(address.socket).write_text("no socket")
    assert hook(settings, "ok\n") == b""
