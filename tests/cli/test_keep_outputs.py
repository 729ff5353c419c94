"""`KEYHOLE_KEEP_OUTPUTS`: whether outputs are stored, on every way by which an output is bounded."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from keyhole.__main__ import main
from tests.support.hook_events import LONG, recorded

PRINT: Final = f"for n in range({len(LONG)}): print('line', n)"
WAYS: Final = {
    "bound": ["bound", "--of", "make"],
    "run": ["run", "--", sys.executable, "-c", PRINT],
    "hook": ["hook", "claude"],
    "hook with options": ["hook", "claude", "--budget", "2000"],
}


def standard_input(way: str) -> bytes:
    if not way.startswith("hook"):
        return LONG.encode()
    event = recorded("claude-shell-small")
    event["tool_response"]["stdout"] = LONG
    return json.dumps(event).encode()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("setting", "store"), [("on", ""), ("off", ""), ("on", "memory")])
def test_an_output_is_stored_and_can_be_read_on_unless_the_settings_keep_none(
    way: str,
    setting: str,
    store: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    if way == "run" and os.name != "posix":
        pytest.skip("keyhole run needs POSIX signals")
    home = tmp_path / "home"
    monkeypatch.setenv("KEYHOLE_HOME", str(home))
    monkeypatch.setenv("KEYHOLE_CONFIG", "off")
    monkeypatch.setenv("KEYHOLE_KEEP_OUTPUTS", setting)
    monkeypatch.setenv("KEYHOLE_STORE", store)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(standard_input(way))))
    monkeypatch.setattr("sys.argv", ["keyhole", *WAYS[way]])
    monkeypatch.setattr("gc.disable", lambda: None)  # the hook disables it for its short life
    assert main() == 0
    printed = capfdbinary.readouterr().out
    assert b"[end]" in printed
    is_kept = setting == "on" and not store
    assert (b"read_artifact" in printed) == is_kept
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert bool(kept) == is_kept, kept
