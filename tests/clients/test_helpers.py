"""Tests of the helpers for real clients: the recorders, the fake model, the measured caps and the hooked agents."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from keyhole.extensions.install.hooks import HOOK_CLIENTS, add_hook
from keyhole.serve.tools import tool_list
from tests.clients.agent_turns import Turn, read_turn
from tests.clients.caps import Cap, cap_of
from tests.clients.fake_model import serve_model
from tests.clients.hooked_agents import HOOKED_AGENTS, use_program
from tests.clients.model_apis import MODEL_APIS, ModelApi
from tests.clients.record_hooks import HEAD, MAX_TEXT, TAIL, shorten
from tests.clients.stdio_recorder import UNKNOWN_NAME, UNNAMED, client_infos
from tests.support.documentation import ROOT
from tests.support.loopback import PATIENCE

RECORDER = Path(__file__).parent / "stdio_recorder.py"
ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
LEGACY = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "one", "version": "2"}}}
MODERN = {"jsonrpc": "2.0", "id": 1, "params": {"_meta": {"io.modelcontextprotocol/clientInfo": {"name": "one"}}}}


def run_recorder(record: Path, lines: list[str], *options: str) -> list[str]:
    command = [sys.executable, str(RECORDER), str(record), *options, "--", sys.executable, "-c", ECHO]
    sent = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return done.stdout.splitlines()


def test_the_recorder_forwards_every_line_unchanged_and_records_both_sides(tmp_path: Path) -> None:
    lines = [json.dumps(LEGACY), "no JSON — at all", '{"a":  1}', json.dumps(MODERN)]
    assert run_recorder(tmp_path / "record", lines) == lines
    record = [json.loads(line) for line in (tmp_path / "record").read_text("utf-8").splitlines()]
    assert [each["line"].rstrip("\n") for each in record if each["from"] == "client"] == lines
    assert [each["line"].rstrip("\n") for each in record if each["from"] == "server"] == lines


def test_the_recorder_replaces_the_client_s_name_in_both_eras_and_records_it(tmp_path: Path) -> None:
    out = [
        json.loads(line)
        for line in run_recorder(tmp_path / "record", [json.dumps(LEGACY), json.dumps(MODERN)], UNNAMED)
    ]
    assert [info["name"] for message in out for info in client_infos(message)] == [UNKNOWN_NAME, UNKNOWN_NAME]
    assert read_turn(tmp_path / "record", ()).client["name"] == "one"


REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/responses": {
        "input": [],
        "tools": [{"type": "namespace", "name": "mcp__keyhole", "tools": [{"name": "web_fetch"}]}],
    },
    "/v1/messages": {"messages": [], "tools": [{"name": "mcp__keyhole__web_fetch"}]},
    "/v1/chat/completions": {"messages": [], "tools": [{"function": {"name": "keyhole_web_fetch"}}]},
    "/v1beta/models/m:streamGenerateContent": {
        "contents": [],
        "tools": [{"functionDeclarations": [{"name": "mcp_keyhole_web_fetch"}]}],
    },
}


@pytest.mark.parametrize("path", REQUESTS)
def test_the_model_makes_the_calls_of_its_script_in_every_api(path: str) -> None:
    with serve_model([("web_fetch", {"url": "http://127.0.0.1/"})]) as model:
        port = int(model.url.rpartition(":")[2])
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("POST", path, json.dumps(REQUESTS[path]), {"Content-Type": "application/json"})
        answer = connection.getresponse().read().decode()
        connection.close()
    assert "web_fetch" in answer and "http://127.0.0.1/" in answer
    assert model.requests == [REQUESTS[path]]


@pytest.mark.parametrize("api", MODEL_APIS, ids=lambda api: type(api).__name__)
def test_every_line_of_a_response_is_part_of_an_event(api: ModelApi) -> None:
    for answer in (api.call("a", {}, 0), api.finish(), api.search_tools("b") or b""):
        fields = {line.partition(":")[0] for line in answer.decode().splitlines()}
        assert fields <= {"", "event", "data"}


def test_a_cap_is_between_the_last_whole_result_and_the_first_truncated_one() -> None:
    page, two, three = "p" * 10, "t" * 20, "b" * 300 + "e" * 300
    turn = Turn((page, f"seen: {two}", three[:250]), (page, two, three), {}, "")
    assert cap_of(turn, (20, 600)) == Cap(20, 20, 600, 250, "head")
    assert cap_of(Turn((page, two), (page, two), {}, ""), (20,)) == Cap(20, 20)


def test_the_package_has_no_fixtures_of_the_conformance_suite() -> None:
    assert not [tool.name for tool in tool_list() if tool.name.startswith("test_")]
    sources = (path.read_text("utf-8") for path in (ROOT / "server").rglob("*.py"))
    assert not any("test://" in source or "test_simple_text" in source for source in sources)
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["packages"] == ["server/keyhole"] and "tests" not in targets["sdist"]["include"]


@pytest.mark.parametrize("name", [hooked.name for hooked in HOOKED_AGENTS])
def test_a_hook_is_given_another_program_and_less_time(name: str, tmp_path: Path) -> None:
    installed = add_hook(HOOK_CLIENTS[name], "", ("/opt/keyhole",), "linux", force=False)
    file = tmp_path / "settings"
    file.write_text(installed, "utf-8")
    use_program(Path("/broken/keyhole"))(file)
    changed = file.read_text("utf-8")
    assert "/broken/keyhole" in changed and "/opt/keyhole" not in changed
    added = {line for line in changed.splitlines() if line not in installed.splitlines()}
    assert len(added) == 2, added


def test_a_recorded_event_has_no_private_folder_and_no_long_text() -> None:
    text = "a" * MAX_TEXT + "b"
    event = {"cwd": "/private/keyhole-clients-x1/work", "parts": [text, "short", 3]}
    kept = f"{'a' * HEAD}\n[{MAX_TEXT + 1 - HEAD - TAIL} characters removed]\n{'a' * (TAIL - 1)}b"
    assert shorten(event) == {"cwd": "/home/user/project", "parts": [kept, "short", 3]}
