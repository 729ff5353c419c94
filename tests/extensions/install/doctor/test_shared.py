"""What `keyhole doctor` says about shared servers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keyhole.cli.terminal import Level
from keyhole.config.config import Config
from keyhole.extensions.install.doctor import machine
from tests.support.shared_clients import Client, reader_settings, servers_of, shared_home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs shared servers")


def message(monkeypatch: pytest.MonkeyPatch, home: Path) -> str:
    monkeypatch.setenv("KEYHOLE_HOME", str(home))
    (finding,) = machine.check_shared_servers(Config())
    assert finding.level in (Level.OK, Level.NOTE)
    return finding.message


def test_a_running_server_is_shown_with_its_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    with shared_home() as home:
        assert message(monkeypatch, home) == "none is running; the next client starts one"
        with Client(reader_settings(home)) as one, Client(reader_settings(home)) as two:
            for client in (one, two):
                client.call("read_artifact", id="aaaaaaaaaaaaaaaa")  # once it is answered, the server runs
            (server,) = servers_of(home)
            assert message(monkeypatch, home) == f"process {server['process']} with 2 clients"


def test_it_says_that_sharing_is_off() -> None:
    (finding,) = machine.check_shared_servers(Config(shared="off"))
    assert finding.message == "off; each client starts a server of its own"
