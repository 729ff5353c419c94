"""The shared server: when it ends, and whom it refuses."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any

import pytest

from keyhole.cli.build import build
from keyhole.config.config import Config
from keyhole.serve.shared import server
from keyhole.serve.shared.address import Address
from keyhole.serve.shared.link import REFUSED, WELCOME, ControlRequest, ask, start_private
from keyhole.serve.shared.server import serve_shared
from tests.support.loopback import PATIENCE

INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"one","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no shared server")


@pytest.fixture
def address(tmp_path: Path) -> Address:
    return Address(str(tmp_path), "the settings")


@contextmanager
def served(address: Address, idle: float = PATIENCE) -> Iterator[threading.Thread]:
    """Serve in a thread until the block ends; yield the thread when clients can connect."""
    ready, interval = threading.Event(), sys.getswitchinterval()
    config = Config(home=Path(address.folder) / "home")
    thread = threading.Thread(
        target=serve_shared, args=(config, build, address, ready.set, lambda *_: b"answer"), kwargs={"idle": idle}
    )
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield thread
    finally:
        if asked := ask(address.socket, {"ask": "stop"}, PATIENCE):
            asked[0].close()
        thread.join(PATIENCE)
        sys.setswitchinterval(interval)
    assert not thread.is_alive()


def greet(address: Address, identity: str = "") -> tuple[socket, dict[str, Any]]:
    asked = ask(address.socket, {"identity": identity or address.identity, "client": {}}, PATIENCE)
    assert asked
    return asked


def test_it_ends_when_no_client_has_been_connected_for_a_while(address: Address) -> None:
    with served(address, idle=0.3) as thread:
        connection, answer = greet(address)
        assert answer == {"answer": WELCOME, "identity": address.identity}
        thread.join(0.6)
        assert thread.is_alive(), "a client is connected"
        connection.close()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert not Path(address.socket).exists()


def test_a_client_of_other_settings_is_refused_also_at_the_same_path(address: Address) -> None:
    with served(address):
        connection, answer = greet(address, "others")
        with connection:
            assert answer == {"answer": REFUSED}
            assert connection.recv(1) == b""


def test_a_connection_that_is_none_of_a_relay_is_closed(address: Address) -> None:
    with served(address):
        for line in (b"GET / HTTP/1.1\n", b"hook\n", b"\n", b'{"identity": "others"}\n'):
            with socket(AF_UNIX) as connection:
                connection.settimeout(PATIENCE)
                connection.connect(address.socket)
                connection.sendall(line)
                answer = connection.recv(1_000)
                assert answer == b"" or json.loads(answer) == {"answer": REFUSED}


def test_a_client_that_does_not_read_is_disconnected(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "UNREAD_SECONDS", 0.2)
    with served(address):
        connection, _ = greet(address)
        other, _ = greet(address)
        with connection, other:
            connection.sendall(INITIALIZE)
            with pytest.raises(ConnectionError):
                while True:
                    connection.sendall(LIST)
            other.sendall(INITIALIZE)
            assert b"serverInfo" in other.recv(65_536)


def test_another_user_is_refused_on_both_sides(address: Address) -> None:
    with served(address), socket(AF_UNIX) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.geteuid", lambda: 12_345)
        connection.settimeout(PATIENCE)
        connection.connect(address.socket)
        with suppress(ConnectionError):
            # The server may close the connection before, while or after the line is written.
            connection.sendall(b'{"ask": "status"}\n')
            assert connection.recv(1_000) == b""
        with pytest.raises(PermissionError):
            ControlRequest(address.socket, {"ask": "status"})


def test_a_server_that_does_not_answer_is_given_up(address: Address) -> None:
    with socket(AF_UNIX) as listener:
        listener.bind(address.socket)
        listener.listen()
        with pytest.raises(TimeoutError):
            ask(address.socket, {"ask": "status"}, 0.05)


def test_a_private_server_ends_with_its_relay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path))
    connection, process = start_private()
    with connection:
        connection.sendall(b"no json\n")
        assert b"-32700" in connection.recv(1_000)
    assert os.waitpid(process, 0)[1] == 0
