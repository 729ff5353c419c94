"""A home folder and a working folder for each test, without the clients of the real machine."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder. The current folder is `work` beside it, and Keyhole's home folder is `keyhole`."""
    folder, work = tmp_path / "home", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CLINE_MCP_SETTINGS_PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("KEYHOLE_HOME", str(tmp_path / "keyhole"))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    monkeypatch.chdir(work)
    return folder
