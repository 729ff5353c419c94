"""A hook refuses a built-in web fetch once for each address, and only while a shared server answers for the folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyhole.outputs.hooks.answer import PREFER_KEY
from keyhole.outputs.hooks.prefer import MAX_REFUSED, Preferences, find_wanted, is_public, refusal
from tests.support.shared_clients import Client, reader_settings, shared_home

URL = "https://docs.example.org/page"
FOLDER = str(Path.cwd())


def event(client: str, url: str = URL, session: str = "s1", folder: str = FOLDER) -> dict[str, Any]:
    """Return the event before a built-in fetch, as each client sends it."""
    claude = {"hook_event_name": "PreToolUse", "session_id": session, "cwd": folder, "tool_name": "WebFetch"}
    copilot = {"sessionId": session, "cwd": folder, "toolName": "web_fetch"}
    call = {"tool": "webfetch", "sessionID": session, "args": {"url": url, "format": "text"}}
    events: dict[str, dict[str, Any]] = {
        "claude": {**claude, "tool_input": {"url": url, "prompt": "the default port"}},
        "copilot": {**copilot, "toolArgs": json.dumps({"url": url, "raw": True})},
        "opencode": {"input": call, "directory": folder},
    }
    return events[client]


@pytest.mark.parametrize(
    ("client", "call"),
    [
        ("claude", f'mcp__keyhole__web_fetch(url="{URL}", query="the default port")'),
        ("copilot", f'keyhole-web_fetch(url="{URL}", query="what you look for")'),
        ("opencode", f'keyhole_web_fetch(url="{URL}", query="what you look for")'),
    ],
)
def test_the_call_to_make_instead_is_named_exactly(client: str, call: str) -> None:
    wanted = find_wanted(event(client), client)
    assert wanted is not None
    assert refusal(wanted, client, "keyhole").startswith(f"Use {call}: ")


def test_a_search_keeps_its_words_and_its_sites() -> None:
    asked = {"tool_name": "WebSearch", "tool_input": {"query": "größe 中", "allowed_domains": ["example.org"]}}
    wanted = find_wanted(asked, "claude")
    assert wanted is not None
    assert 'mcp__keyhole__search(query="größe 中", sites=["example.org"])' in refusal(wanted, "claude", "keyhole")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (URL, True), ("http://93.184.215.14/", True), ("http://localhost:3000/", False), ("http://nas/", False),
        ("http://192.168.0.1/", False), ("http://[::1]/", False), ("http://printer.local/", False),
        ("file:///etc/passwd", False), ("", False),
    ],
)  # fmt: skip
def test_an_address_of_the_local_network_is_left_to_the_client(url: str, expected: bool) -> None:
    assert is_public(url) is expected
    assert (find_wanted(event("claude", url), "claude") is not None) is expected


def asked(preferences: Preferences, folders: tuple[str, ...] = (FOLDER,), **changes: str) -> bool:
    return preferences.answer({**event("claude", **changes), PREFER_KEY: "keyhole"}, "claude", folders) is not None


def test_the_same_call_is_refused_once_in_a_session() -> None:
    preferences = Preferences()
    assert [asked(preferences) for _ in range(3)] == [True, False, False]
    assert asked(preferences, url=f"{URL}/2")
    assert asked(preferences, session="s2")


@pytest.mark.parametrize("folders", [(), ("/",), ("/elsewhere",), (f"{FOLDER}-2",)])
def test_nothing_is_refused_where_no_client_of_the_server_works(folders: tuple[str, ...]) -> None:
    assert not asked(Preferences(), folders)


def test_a_folder_inside_that_of_a_client_is_refused() -> None:
    assert asked(Preferences(), folder=f"{FOLDER}/server")


def test_what_was_refused_is_remembered_in_bounded_memory() -> None:
    preferences = Preferences()
    for number in range(2 * MAX_REFUSED + 1):
        assert asked(preferences, url=f"{URL}/{number}")
    assert len(preferences._refused) <= MAX_REFUSED


pytestmark_shared = pytest.mark.skipif(sys.platform != "linux", reason="runs shared servers")


@pytest.fixture
def settings() -> Iterator[dict[str, str]]:
    with shared_home() as home:
        yield reader_settings(home)


def hook(settings: dict[str, str], client: str, data: bytes) -> bytes:
    """Return what the registered hook prints for an event."""
    command = [sys.executable, "-m", "keyhole", "hook", client, "--prefer", "keyhole"]
    return subprocess.run(command, env=settings, input=data, capture_output=True, check=True, timeout=60).stdout


@pytestmark_shared
@pytest.mark.parametrize(
    ("client", "path"),
    [
        ("claude", ("hookSpecificOutput", "permissionDecisionReason")),
        ("copilot", ("permissionDecisionReason",)),
        ("opencode", ("refusal",)),
    ],
)
def test_only_a_server_that_answers_refuses(settings: dict[str, str], client: str, path: tuple[str, ...]) -> None:
    data = json.dumps(event(client)).encode()
    assert hook(settings, client, data) == b""
    with Client(settings) as reader:
        reader.call("read_artifact", id="a" * 16)
        answer: Any = json.loads(hook(settings, client, data))
        for step in path:
            answer = answer[step]
        assert "web_fetch(url=" in answer
        assert hook(settings, client, data) == b""
        assert hook(settings, client, json.dumps(event(client, session="s2", folder="/elsewhere")).encode()) == b""


@pytest.mark.parametrize("data", [b"", b"WebFetch", b'{"tool_name": "WebFetch"}', b'["WebFetch"]'])
def test_a_broken_event_refuses_nothing(tmp_path: Path, data: bytes) -> None:
    assert hook(reader_settings(tmp_path), "claude", data) == b""
