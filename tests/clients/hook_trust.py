"""Check that the doctor tells what Codex tells: whether the user trusts the hooks that `keyhole install` wrote."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .codex import AppServer, app_server
from .setup import SERVER, Setup
from .steps import Steps, run_program


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Install both hooks, ask Codex and the doctor, trust the hooks as Codex's screen does, and ask again."""
    env, where = setup.client_env(programs), "codex trust: Codex and the doctor find"
    _keyhole(setup, env, "install", "codex", "--hooks-only", "--rewrite-commands")
    steps.run(f"{where} both hooks untrusted", lambda: _compare(setup, env, programs, False))
    with app_server(programs, env, setup.scratch) as server:
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in _list_hooks(server, setup)}
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        server.request("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
    steps.run(f"{where} both hooks trusted", partial(_compare, setup, env, programs, True))


def _compare(setup: Setup, env: dict[str, str], programs: Path, is_trusted: bool) -> None:
    with app_server(programs, env, setup.scratch) as server:
        states = [hook["trustStatus"] for hook in _list_hooks(server, setup)]
    assert states == ["trusted" if is_trusted else "untrusted"] * 2, states
    findings = json.loads(_keyhole(setup, env, "doctor", "--offline", "--json"))["findings"]
    (finding,) = [each for each in findings if each["name"] == "codex hook"]
    assert finding["level"] == ("ok" if is_trusted else "warn"), finding
    assert ("not trusted" in finding["message"]) is not is_trusted, finding


def _list_hooks(server: AppServer, setup: Setup) -> list[dict[str, Any]]:
    (listed,) = server.request("hooks/list", {"cwds": [str(setup.scratch)]})["data"]
    assert not listed["warnings"] and not listed["errors"], listed
    return list(listed["hooks"])


def _keyhole(setup: Setup, env: Mapping[str, str], *words: str) -> str:
    done = run_program([sys.executable, "-m", "keyhole", *words], {**env, "PYTHONPATH": str(SERVER)}, setup.scratch)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    return done.stdout
