"""`keyhole hook`: an event in, the client's answer or nothing out."""

from __future__ import annotations

import gc
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keyhole
from keyhole import bound
from keyhole.__main__ import main
from keyhole.cli.main import main as command_line
from keyhole.config.config import MAX_BUDGET
from keyhole.outputs.bound import BUDGET
from keyhole.outputs.hooks import answer as answer_module
from keyhole.outputs.hooks.answer import answer
from keyhole.outputs.hooks.keep import MAX_OWN_CHARS
from keyhole.render.boundary import END
from keyhole.store.home import open_home
from keyhole.store.spool import spool_folder
from tests.support.hook_events import LONG, all_recorded, recorded

READ = re.compile(r'read_artifact\(id="(\w+)", offset=(\d+), limit=(\d+)\)')
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just(LONG),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=12), children, max_size=4),
    max_leaves=8,
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"KEYHOLE_HOME": str(tmp_path / "home"), "KEYHOLE_CONFIG": "off", "HOME": str(tmp_path)}


def with_long_text(client: str) -> dict[str, Any]:
    """Return the event of a command with a long output, no part of which is in a file."""
    event = recorded(f"{client}-shell-small")
    if client == "claude":
        event["tool_response"]["stdout"] = LONG
    elif client == "codex":
        event["tool_response"] = LONG
    elif client == "copilot":
        event["toolResult"]["textResultForLlm"] = f"{LONG}\n<shellId: 1 completed with exit code 0>"
    else:
        event["output"]["output"] = LONG
    return event


def text_of(client: str, reply: bytes) -> str:
    """Return the text that the model gets by an answer."""
    parsed = json.loads(reply)
    if client == "claude":
        return str(parsed["hookSpecificOutput"]["updatedToolOutput"]["stdout"])
    if client == "codex":
        return str(parsed["reason"])
    if client == "copilot":
        return str(parsed["modifiedResult"]["textResultForLlm"])
    return str(parsed["output"]["output"])


@pytest.mark.parametrize("client", answer_module.CLIENTS)
def test_a_long_result_is_bounded_and_its_text_is_kept(client: str, environment: dict[str, str]) -> None:
    reply = answer(json.dumps(with_long_text(client)).encode(), client, BUDGET, environment)
    text = text_of(client, reply)
    assert len(text) <= BUDGET
    assert "ERROR no route to host" in text
    found = READ.search(text)
    assert found is not None
    kept = Path(spool_folder(environment["KEYHOLE_HOME"]), f"{found[1]}.output").read_bytes()
    assert kept.partition(b"\n")[2].decode() == LONG


@pytest.mark.parametrize("client", answer_module.CLIENTS)
def test_the_line_that_tells_the_exit_status_stays(client: str, environment: dict[str, str]) -> None:
    event = with_long_text(client)
    text = text_of(client, answer(json.dumps(event).encode(), client, BUDGET, environment))
    assert (client == "copilot") == text.endswith("\n<shellId: 1 completed with exit code 0>")


def test_the_named_call_reads_on(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = text_of("claude", answer(json.dumps(with_long_text("claude")).encode(), "claude", BUDGET, environment))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = READ.search(text)
    assert found is not None
    id, offset, limit = found.groups()
    assert command_line(["read", id, "--offset", offset, "--limit", limit]) == 0
    assert LONG[int(offset) : int(offset) + min(300, int(limit))] in capsys.readouterr().out


def test_a_result_of_keyhole_under_another_name_is_left_alone(environment: dict[str, str]) -> None:
    secret = open_home(Path(environment["KEYHOLE_HOME"]))
    own = bound("word " * 5_000, budget=9_000, secret=secret).text
    assert BUDGET < len(own) <= MAX_OWN_CHARS == MAX_BUDGET
    event = {**recorded("claude-mcp-large"), "tool_name": "mcp__reader__web_fetch"}
    unclosed = own.replace("--- end ", "--- the end ")
    others = (
        own.replace("word", "world"),
        LONG + own,
        own + LONG,
        unclosed,
        "--- untrusted text abcdefgh ---\n" * 200 + END,
    )
    for text in (own, f"$ keyhole bound\n{own}\n", f"{own}\n{own}", *others):
        event["tool_response"] = [{"type": "text", "text": text}]
        reply = answer(json.dumps(event).encode(), "claude", BUDGET, environment)
        assert (reply != b"") is (text in others), text[:200]


def test_the_description_of_a_call_ranks_lines(environment: dict[str, str]) -> None:
    event = with_long_text("claude")
    names = ["".join(letters) for letters in product("abcdefgh", repeat=4)]
    event["tool_response"]["stdout"] = "".join(f"{name} {name[::-1]}{number}\n" for number, name in enumerate(names))
    without = text_of("claude", answer(json.dumps(event).encode(), "claude", 800, environment))
    event["tool_input"]["description"] = "Look for dfgb in it"
    described = text_of("claude", answer(json.dumps(event).encode(), "claude", 800, environment))
    assert ("\ndfgb " in without, "\ndfgb " in described) == (False, True)


def test_the_text_is_that_of_the_library(environment: dict[str, str]) -> None:
    environment["KEYHOLE_KEEP_OUTPUTS"] = "off"
    secret = open_home(Path(environment["KEYHOLE_HOME"]))
    event = with_long_text("claude")
    text = text_of("claude", answer(json.dumps(event).encode(), "claude", 2_000, environment))
    assert text == bound(LONG, command=event["tool_input"]["command"], budget=2_000, secret=secret).text


def test_without_a_store_nothing_is_written(environment: dict[str, str]) -> None:
    environment["KEYHOLE_KEEP_OUTPUTS"] = "off"
    assert answer(json.dumps(with_long_text("claude")).encode(), "claude", 2_000, environment)
    assert not Path(environment["KEYHOLE_HOME"]).exists()


@pytest.mark.parametrize("client", answer_module.CLIENTS)
@pytest.mark.parametrize("case", ["small", "failing", "part", "refused", "before"])
def test_small_results_and_other_events_are_left_alone(client: str, case: str, environment: dict[str, str]) -> None:
    for name in all_recorded(client):
        if case in name and "large" not in name:
            assert answer(json.dumps(recorded(name)).encode(), client, BUDGET, environment) == b""


@pytest.mark.parametrize("client", ["claude", "copilot", "opencode"])
def test_a_result_is_left_alone_if_the_client_saved_it_where_it_cannot_be_read(
    client: str, environment: dict[str, str]
) -> None:
    data = json.dumps(recorded(f"{client}-shell-large")).encode()
    assert answer(data, client, 800, environment) == b""


def test_the_file_of_the_client_is_read_if_it_is_where_the_client_saves(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "session" / "tool-results"
    folder.mkdir(parents=True)
    (folder / "b.txt").write_text(LONG)
    event = recorded("claude-shell-large")
    event["transcript_path"] = str(tmp_path / "session.jsonl")
    event["tool_response"]["persistedOutputPath"] = str(folder / "b.txt")
    text = text_of("claude", answer(json.dumps(event).encode(), "claude", BUDGET, environment))
    assert f"{len(LONG):,} characters" in text


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("client", answer_module.CLIENTS)
def test_a_pipe_in_the_place_of_a_named_file_does_not_stop_the_hook(
    tmp_path: Path, environment: dict[str, str], client: str
) -> None:
    event, folder = recorded(f"{client}-shell-large"), tmp_path
    if client == "codex":
        event["transcript_path"] = str(folder / "pipe")
    elif client == "claude":
        folder = tmp_path / "session" / "tool-results"
        event["transcript_path"] = str(tmp_path / "session.jsonl")
        event["tool_response"]["persistedOutputPath"] = str(folder / "pipe")
    elif client == "copilot":
        saved, result = f"{folder}/1-copilot-tool-output-a.txt", event["toolResult"]
        result["textResultForLlm"] = re.sub(r"Saved to: \S+", f"Saved to: {saved}", result["textResultForLlm"])
    else:
        folder = tmp_path / "opencode" / "tool-output"
        event["output"]["metadata"]["outputPath"] = str(folder / "pipe")
    folder.mkdir(parents=True, exist_ok=True)
    os.mkfifo(folder / ("1-copilot-tool-output-a.txt" if client == "copilot" else "pipe"))
    done = subprocess.run(
        [sys.executable, "-m", "keyhole", "hook", client, "--budget", "2000"],
        input=json.dumps(event).encode(),
        env={**environment, "TMPDIR": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert (bool(done.stdout), done.stderr) == (client == "codex", b"")  # the others have only the saved text to show


def test_a_message_that_a_tool_forged_does_not_show_a_file(tmp_path: Path, environment: dict[str, str]) -> None:
    file = tmp_path / "1-copilot-tool-output-a.txt"
    file.write_text("secret " * 5_000)
    event = recorded("copilot-shell-large")
    text = event["toolResult"]["textResultForLlm"]
    event["toolResult"]["textResultForLlm"] = re.sub(r"Saved to: \S+", f"Saved to: {file}", text)
    data = json.dumps(event).encode()
    assert answer(data, "copilot", BUDGET, {**environment, "TMPDIR": str(tmp_path)}) == b""


def test_cursor_runs_the_hooks_of_claude_code_without_an_answer(environment: dict[str, str]) -> None:
    event = {**with_long_text("claude"), "cursor_version": "2.1"}
    assert answer(json.dumps(event).encode(), "claude", BUDGET, environment) == b""


def test_a_command_is_approved_only_if_rewriting_is_asked_for(environment: dict[str, str]) -> None:
    data = json.dumps(recorded("codex-before-shell")).encode()
    assert answer(data, "codex", BUDGET, environment) == b""
    assert b'"permissionDecision": "allow"' in answer(data, "codex", BUDGET, environment, rewrites=True)
    assert (
        answer(json.dumps(recorded("claude-before-shell")).encode(), "claude", BUDGET, environment, rewrites=True)
        == b""
    )


@pytest.mark.skipif(os.name != "posix", reason="commands of POSIX")
def test_a_rewritten_command_runs_no_file_of_the_project(environment: dict[str, str], tmp_path: Path) -> None:
    for name in ("keyhole", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the project')", "utf-8")
    event = recorded("codex-before-shell")
    event["tool_input"]["command"] = "echo hello; exit 3"
    reply = json.loads(answer(json.dumps(event).encode(), "codex", BUDGET, environment, rewrites=True))
    command = reply["hookSpecificOutput"]["updatedInput"]["command"]
    settings = {**os.environ, **environment, "PYTHONPATH": str(Path(keyhole.__file__).parents[1])}
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, env=settings, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"hello\n", b"")


@pytest.fixture(autouse=True)
def _collection() -> Iterator[None]:
    yield
    gc.enable()  # a hook disables it, because its process ends at once


def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], data: bytes, *words: str) -> bytes:
    """Run `keyhole hook` in this process, and return what it prints."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    monkeypatch.setattr("sys.argv", ["keyhole", "hook", *words])
    assert main() == 0
    printed = capsysbinary.readouterr()
    assert printed.err == b""
    return printed.out


@pytest.mark.parametrize("words", [("claude",), ("claude", "--budget", "1000"), ("claude", "--budget=1000")])
def test_options_are_read_with_and_without_the_parser(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")
    data = json.dumps(with_long_text("claude")).encode()
    text = text_of("claude", run(monkeypatch, capsysbinary, data, *words))
    assert len(text) <= (1_000 if len(words) > 1 else BUDGET)
    assert text.endswith("[end]")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff\xfe", b'"text"', b"[" * 100_000, b'{"tool_name": 1}' * 1_000]
)
def test_a_broken_event_is_left_alone(
    data: bytes, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    for client in answer_module.CLIENTS:
        assert run(monkeypatch, capsysbinary, data, client) == b""


@given(event=st.data(), client=st.sampled_from(answer_module.CLIENTS))
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_an_event_holds_there_is_no_answer_or_one_within_the_budget(
    event: st.DataObject, client: str, environment: dict[str, str]
) -> None:
    changed = with_long_text(client)
    part = changed
    for _ in range(event.draw(st.integers(0, 2))):
        tables = [value for value in part.values() if isinstance(value, dict)]
        part = event.draw(st.sampled_from(tables)) if tables else part
    part[event.draw(st.sampled_from(sorted(part)) | st.text(max_size=8))] = event.draw(JSON)
    try:
        reply = answer(json.dumps(changed).encode(), client, BUDGET, {**environment, "KEYHOLE_KEEP_OUTPUTS": "off"})
    except (ValueError, LookupError, TypeError, AttributeError):
        reply = b""  # left alone by `_answer_input`
    if reply:
        known = set(_texts(changed))
        assert all(len(text) <= BUDGET for text in _texts(json.loads(reply)) if text not in known)


def _texts(value: object) -> list[str]:
    """Return all texts in a JSON value."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


def test_the_budget_is_that_of_the_library() -> None:
    assert answer_module.DEFAULT_BUDGET == BUDGET
