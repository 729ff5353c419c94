"""A real Codex against Keyhole: its app server over JSON-RPC on stdio, with a CODEX_HOME of its own."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from .stage import Stage
from .steps import PATIENCE, Steps, end_group, run_program
from .tour import TOOLS, Call, Reply, body, read_reply, tour

PACKAGES = ("@openai/codex",)


def check(steps: Steps, stage: Stage, programs: Path) -> None:
    """The configuration is accepted, the tools are listed, calls come back uncut."""
    env = _environment(stage, programs)
    steps.run("codex: accepts the configuration, strictly", partial(_check_config, stage, programs, env))
    with _app_server(programs, env, stage.scratch) as server:
        steps.run("codex: mcpServerStatus/list shows the three tools", partial(_check_status, server))
        thread = steps.run("codex: starts a thread", partial(_start_thread, server, stage))
        if thread is None:
            return
        call = partial(_call, server, thread)
        fetched = tour(steps, "codex", call, stage.page)
        if fetched is not None:
            steps.run("codex: the largest result comes back uncut", partial(_check_uncut, call, fetched))


class _AppServer:
    """One conversation with `codex app-server`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self._asked = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """One request; its result. Notifications in between are passed over."""
        self._asked += 1
        self.send({"id": self._asked, "method": method, "params": params})
        for line in self._out:
            message = json.loads(line)
            if message.get("id") == self._asked and "method" not in message:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
        raise OSError(f"{method}: the app server ended or took more than {PATIENCE:.0f} s")

    def send(self, message: dict[str, Any]) -> None:
        self._in.write(json.dumps(message) + "\n")
        self._in.flush()


def _environment(stage: Stage, programs: Path) -> dict[str, str]:
    home = stage.scratch / "codex"
    home.mkdir()
    # JSON's strings, lists of strings and nothing else are TOML's as well.
    lines = ["[mcp_servers.keyhole]", f"command = {json.dumps(stage.command[0])}"]
    lines += [f"args = {json.dumps(stage.command[1:])}", "[mcp_servers.keyhole.env]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in stage.settings.items()]
    (home / "config.toml").write_text("\n".join(lines) + "\n", "utf-8")
    return {**stage.client_env(programs), "CODEX_HOME": str(home)}


def _check_config(stage: Stage, programs: Path, env: dict[str, str]) -> None:
    command = [str(programs / "codex"), "app-server", "--strict-config", "--print-startup-config"]
    done = run_program(command, env, stage.scratch)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]


@contextmanager
def _app_server(programs: Path, env: dict[str, str], folder: Path) -> Iterator[_AppServer]:
    command = [str(programs / "codex"), "app-server"]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, env=env, cwd=folder, text=True, stdin=pipe, stdout=pipe, stderr=nothing, start_new_session=True
    ) as process:
        # Reading its output has no timeout of its own; ending the process ends the reading.
        watchdog = threading.Timer(PATIENCE, end_group, [process])
        watchdog.start()
        try:
            server = _AppServer(process)
            server.ask("initialize", {"clientInfo": {"name": "keyhole-tests", "version": "1"}})
            server.send({"method": "initialized"})
            yield server
        finally:
            watchdog.cancel()
            _leave(process)


def _leave(process: subprocess.Popen[str]) -> None:
    """Close its input first: Codex starts servers in groups of their own and ends them itself."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        end_group(process)


def _check_status(server: _AppServer) -> None:
    (status,) = server.ask("mcpServerStatus/list", {})["data"]
    assert status["name"] == "keyhole" and not status.get("toolsError"), status
    assert set(status["tools"]) == TOOLS, list(status["tools"])


def _start_thread(server: _AppServer, stage: Stage) -> str:
    # Ephemeral: nothing is written, and no model is asked anything.
    started = server.ask("thread/start", {"cwd": str(stage.scratch), "ephemeral": True})
    return str(started["thread"]["id"])


def _call(server: _AppServer, thread: str, tool: str, arguments: dict[str, Any]) -> Reply:
    params = {"threadId": thread, "server": "keyhole", "tool": tool, "arguments": arguments}
    return read_reply(server.ask("mcpServer/tool/call", params))


def _check_uncut(call: Call, fetched: Reply) -> None:
    # At Codex's cap, and on from there: more than it shows is never sent.
    asked: dict[str, Any] = {"id": fetched.facts["artifact_id"], "limit": 200_000}
    length = 0
    for _ in range(8):
        reply = call("read_artifact", asked)
        length += len(body(reply))
        if not (following := reply.facts["next"]):
            break
        asked = {**asked, "offset": following["offset"]}
    assert length == fetched.facts["total_chars"], reply.text[-200:]
