"""Real relays and real shared servers: what clients share, what they do not, and what happens when a process ends."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.setup import READER
from tests.support.loopback import PATIENCE, Responder, Site, response, serve
from tests.support.shared_clients import Client, reader_settings, servers_of, shared_home
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="runs relays and reads /proc")

_PAGE = "<!doctype html><title>Roads</title><main><h1>Roads</h1>" + "".join(
    f"<p>Station {n} notes the wind twice a day, and the mail is sorted by hand at mile {n * 7}.</p>"
    for n in range(900)
)
PAGE = response(_PAGE.encode(), Content_Type="text/html")
ROADS = {"/roads": PAGE, "/robots.txt": response()}
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
UNKNOWN = {"id": "aaaaaaaaaaaaaaaa"}


@pytest.fixture
def home() -> Iterator[Path]:
    with shared_home() as folder:
        yield folder


def test_clients_share_a_server_that_only_their_user_can_reach(home: Path) -> None:
    settings = reader_settings(home)
    with Client(settings, "one") as one, Client(settings, "two") as two:
        assert one.call("read_artifact", **UNKNOWN) == two.call("read_artifact", **UNKNOWN)
        (server,) = servers_of(home)
        relays = [client["relay"] for client in server["clients"]]
        assert sorted(relays) == sorted([one.process.pid, two.process.pid])
        assert {client["folder"] for client in server["clients"]} == {str(Path.cwd())}
    (socket,) = (home / "shared").glob("*.sock")
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "shared").stat().st_mode) == 0o700


def test_a_result_is_the_same_as_from_a_server_of_its_own(home: Path) -> None:
    with serve(ROADS) as site:
        allowed = {"KEYHOLE_ALLOW_PRIVATE": site.endpoint}
        arguments = {"url": site.url("/roads"), "query": "wind at station 77", "max_chars": 150_000}
        with Client(reader_settings(home, **allowed)) as shared:
            text = shared.call("web_fetch", **arguments)
            assert shared.call("web_fetch", **arguments, repeat=True) == text
        (home / "shared").chmod(0o777)  # other users could replace the socket: the relay uses no shared server
        with Client(reader_settings(home, **allowed)) as alone:
            assert alone.call("web_fetch", **arguments) == text
    assert "Station 77 " in text


def test_each_client_has_its_own_session_and_limits(home: Path) -> None:
    with serve(ROADS) as site:
        settings = reader_settings(home, KEYHOLE_ALLOW_PRIVATE=site.endpoint)
        page = {"url": site.url("/roads"), "query": "wind"}
        with Client(settings) as one, Client(settings) as two, Client(settings, "Visual Studio Code") as code:
            first = one.call("web_fetch", **page, max_chars=3_000)
            assert "shown in call 1" in one.call("web_fetch", **page, max_chars=9_000)
            assert two.call("web_fetch", **page, max_chars=3_000) == first
            lengths = [len(client.call("web_fetch", url=page["url"], max_chars=30_000)) for client in (two, code)]
            assert lengths[0] > 20_000 > 8_192 >= lengths[1]
            assert len(servers_of(home)) == 1


def test_clients_with_other_settings_have_another_server(home: Path) -> None:
    with Client(reader_settings(home)) as one, Client(reader_settings(home, KEYHOLE_MAX_CHARS="2000")) as two:
        for client in (one, two):
            client.call("read_artifact", **UNKNOWN)
        assert len(servers_of(home)) == 2


def test_a_call_during_which_the_server_is_killed_is_answered_by_the_next_server(home: Path) -> None:
    def hold_once(site: Site) -> Responder:
        return lambda call: site.hold(call) if len(site.calls) == 1 else call.send(PAGE)

    with serve(hold_once) as site:
        settings = reader_settings(home, KEYHOLE_ALLOW_PRIVATE=site.endpoint)
        with Client(settings) as client, Client(settings) as idle:
            id = client.request("tools/call", {"name": "web_fetch", "arguments": {"url": site.url("/roads")}})
            assert site.request_received.wait(PATIENCE)
            (server,) = servers_of(home)
            os.kill(server["process"], signal.SIGKILL)
            assert "Station 0 " in client.reply(id)["result"]["content"][0]["text"]
            assert idle.call("read_artifact", **UNKNOWN)
            (new,) = servers_of(home)
            assert new["process"] != server["process"]
            assert len(new["clients"]) == 2


def test_the_server_goes_on_without_a_client_whose_relay_is_killed_and_ends_its_call(home: Path) -> None:
    with serve(lambda site: site.hold) as site:
        settings = reader_settings(home, KEYHOLE_ALLOW_PRIVATE=site.endpoint)
        with Client(settings) as client, Client(settings) as other:
            client.request("tools/call", {"name": "web_fetch", "arguments": {"url": site.url("/roads")}})
            assert site.request_received.wait(PATIENCE)
            client.process.kill()
            assert client.process.wait(PATIENCE) == -signal.SIGKILL
            assert site.client_left.wait(PATIENCE)
            wait_for(lambda: len(servers_of(home)[0]["clients"]) == 1)
            assert other.call("read_artifact", **UNKNOWN)


def test_a_client_is_answered_before_the_server_runs(home: Path) -> None:
    settings = reader_settings(home)
    with Client({**settings, "KEYHOLE_SHARED": "off"}) as own, Client(settings) as client:
        assert not list((home / "shared").glob("*.sock")), "the server cannot have started already"
        listed = client.ask("tools/list", {})
        assert (client.handshake, listed) == (own.handshake, own.ask("tools/list", {}))
        assert client.lines[-1] == own.lines[-1]
        assert client.call("read_artifact", **UNKNOWN) == own.call("read_artifact", **UNKNOWN)


def test_after_a_stop_the_next_call_starts_a_server(home: Path) -> None:
    settings = reader_settings(home)
    with Client(settings) as client:
        client.call("read_artifact", **UNKNOWN)
        (server,) = servers_of(home)
        assert keyhole(settings, "server", "stop") == f"stopped the server of process {server['process']}\n"
        wait_for(lambda: not servers_of(home))
        client.call("read_artifact", **UNKNOWN)
        wait_for(lambda: [each for each in servers_of(home) if each["process"] != server["process"]])
        (new,) = servers_of(home)
        assert f"{new['process']}  " in keyhole(settings, "server", "status")


def test_a_server_starts_also_if_the_relay_that_started_it_ends(home: Path) -> None:
    command = [sys.executable, "-m", "keyhole", "server", "run"]
    with subprocess.Popen(command, env=reader_settings(home), stdout=subprocess.PIPE) as server:
        assert server.stdout
        server.stdout.close()
        wait_for(lambda: servers_of(home))
        server.kill()


def test_a_wrong_setting_is_reported_to_the_client(home: Path) -> None:
    relay = subprocess.run(
        READER, env=reader_settings(home, KEYHOLE_MAX_CHARS="many"), input=INITIALIZE,
        capture_output=True, timeout=3 * PATIENCE, check=False,
    )  # fmt: skip
    assert (relay.returncode, relay.stdout) == (2, b"")
    assert b"KEYHOLE_MAX_CHARS" in relay.stderr


def test_a_client_that_disconnects_ends_its_relay(home: Path) -> None:
    client = Client(reader_settings(home))
    assert client.close() == 0


def test_a_client_that_does_not_read_is_not_read_from_and_gets_all_replies_when_it_reads(home: Path) -> None:
    with Client(reader_settings(home)) as client:
        client.call("read_artifact", **UNKNOWN)
        assert client.process.stdin and client.process.stdout
        requests, sent, count = client.process.stdin.fileno(), 0, select.PIPE_BUF // len(LIST)
        while sent < 10_000 and select.select([], [requests], [], 1.0)[1]:  # a pipe that is ready takes PIPE_BUF bytes
            os.write(requests, LIST * count)
            sent += count
        assert sent < 10_000
        data = bytearray()
        while data.count(b"\n") < sent:
            data += os.read(client.process.stdout.fileno(), 1_000_000)
        assert len(set(bytes(data).splitlines())) == 1 and b"web_fetch" in data
        assert client.call("read_artifact", **UNKNOWN)


def test_closed_streams_start_no_shared_server(home: Path) -> None:
    command = 'exec "$0" "$@" <&- >&-'
    relay = subprocess.run(
        ["/bin/sh", "-c", command, *READER],
        env=reader_settings(home),
        capture_output=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert relay.stderr == b"" and not (home / "shared").exists()


def test_a_message_is_answered_also_if_it_is_no_json(home: Path) -> None:
    with Client(reader_settings(home)) as client:
        assert client.process.stdin and client.process.stdout
        client.process.stdin.write(b"{broken\n")
        assert b"-32700" in client.process.stdout.readline()


def keyhole(settings: dict[str, str], *words: str) -> str:
    """Run a command and return what it prints."""
    command = [sys.executable, "-m", "keyhole", *words]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=True, timeout=60).stdout
