"""The known replies are those of the server. `python -m tests.serve.shared.test_known_replies` writes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from keyhole._version import __version__
from keyhole.serve.shared.connection_state import FILE, INITIALIZE, METHODS, VERSION_MARK, KnownReplies, load_replies
from tests.support.shared_clients import reader_settings

CLIENT = {"name": "one", "version": "1"}


def initialize(version: str, **params: Any) -> dict[str, Any]:
    usual = {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": CLIENT}
    return {"method": INITIALIZE, "params": {**usual, **params}}


def modern(method: str, version: str, **capabilities: Any) -> dict[str, Any]:
    meta = {"protocolVersion": version, "clientInfo": CLIENT, "clientCapabilities": capabilities}
    return {"method": method, "params": {"_meta": {f"io.modelcontextprotocol/{key}": meta[key] for key in meta}}}


def requests(version: str) -> list[dict[str, Any]]:
    """Return the requests whose replies are known, in the order in which a server accepts them."""
    if version in MODERN_PROTOCOL_VERSIONS:
        return [modern(method, version) for method in METHODS]
    notification = {"method": "notifications/initialized"}
    return [initialize(version), notification, *({"method": method} for method in METHODS[1:])]


def ask_server(version: str, home: Path) -> dict[str, Any]:
    """Return the results that a real server gives, by method."""
    asked = [{"jsonrpc": "2.0", "id": id, **request} for id, request in enumerate(requests(version))]
    for message in asked:
        if message["method"].startswith("notifications/"):
            del message["id"]
    with subprocess.Popen(
        [sys.executable, "-m", "keyhole", "serve"], env=reader_settings(home), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdin and server.stdout
        replies = {}
        for message in asked:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            if "id" in message:
                replies[message["method"]] = json.loads(server.stdout.readline())["result"]
        server.stdin.close()
    return replies


def record(home: Path) -> str:
    """Return the content of the file."""
    results: list[Any] = []
    table: dict[str, dict[str, int]] = {}
    for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS):
        for method, result in ask_server(version, home).items():
            if result not in results:
                results.append(result)
            table.setdefault(version, {})[method] = results.index(result)
    lines = ",\n".join(json.dumps(result, ensure_ascii=False) for result in results)
    content = f'{{"replies": {json.dumps(table)},\n"results": [\n{lines}\n]}}'
    return content.replace(f'"{__version__}"', f'"{VERSION_MARK}"') + "\n"


def test_the_file_has_the_replies_of_the_server_in_every_revision(tmp_path: Path) -> None:
    assert json.loads(record(tmp_path)) == json.loads(Path(FILE).read_text("utf-8"))


@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS])
def test_every_request_with_which_a_client_starts_is_known(version: str) -> None:
    known = load_replies()
    for request in requests(version):
        if not request["method"].startswith("notifications/"):
            assert known.find({"jsonrpc": "2.0", "id": 1, **request}, version) is not None
    assert VERSION_MARK not in str(known._results)


V = HANDSHAKE_PROTOCOL_VERSIONS[-1]
M = MODERN_PROTOCOL_VERSIONS[-1]


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (initialize("1999-01-01"), ""),
        (initialize(V, capabilities={"extensions": {}}), ""),
        (initialize(V, clientInfo={"name": "one"}), ""),
        (initialize(V, capabilities=None), ""),
        (initialize(V, more=1), ""),
        ({"method": INITIALIZE, "params": {"protocolVersion": V}}, ""),
        ({"method": "tools/list"}, ""),
        ({"method": "tools/list", "params": {"cursor": "x"}}, V),
        ({"method": "tools/list", "params": {"_meta": {"progressToken": 1}}}, V),
        ({"method": "tools/list", "params": [1]}, V),
        ({"method": "tools/call", "params": {}}, V),
        (modern("tools/list", M, extensions={"io.modelcontextprotocol/ui": {}}), ""),
        (modern("tools/list", "1999-01-01"), ""),
    ],
)
def test_any_other_request_is_the_servers(request_: dict[str, Any], version: str) -> None:
    assert load_replies().find({"jsonrpc": "2.0", "id": 1, **request_}, version) is None


def test_a_missing_file_only_costs_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyhole.serve.shared.connection_state.FILE", "/nowhere.json")
    assert load_replies().find({"jsonrpc": "2.0", "id": 1, **initialize(V)}, "") is None
    assert KnownReplies({}).find({}, "") is None


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        Path(FILE).write_text(record(Path(folder)), "utf-8")
