"""Call Keyhole's tools through Codex's app server, over JSON-RPC on stdio."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from .setup import Setup
from .steps import PATIENCE, Steps, end_group, run_program
from .tool_calls import TOOLS, Call, Reply, body, check_tools, read_reply

PACKAGES = ("@openai/codex",)


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Check that Codex accepts the configuration, lists the tools and returns results untruncated."""
    env = _environment(setup, programs)
    steps.run("codex: accepts the configuration, strictly", partial(_check_config, setup, programs, env))
    with app_server(programs, env, setup.scratch) as server:
        steps.run("codex: mcpServerStatus/list shows the three tools", partial(_check_status, server))
        thread = steps.run("codex: starts a thread", partial(_start_thread, server, setup))
        if thread is None:
            return
        call = partial(_call, server, thread)
        fetched = check_tools(steps, "codex", call, setup.page)
        if fetched is not None:
            steps.run("codex: the largest result is not truncated", partial(_check_untruncated, call, fetched))


class AppServer:
    """A JSON-RPC connection to `codex app-server`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self._requests = 0

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request; return its result. Notifications are ignored."""
        self._requests += 1
        self.send({"id": self._requests, "method": method, "params": params})
        for line in self._out:
            message = json.loads(line)
            if message.get("id") == self._requests and "method" not in message:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
        raise OSError(f"{method}: the app server ended or took more than {PATIENCE:.0f} s")

    def send(self, message: dict[str, Any]) -> None:
        """Send a message without waiting for a response."""
        self._in.write(json.dumps(message) + "\n")
        self._in.flush()


def _environment(setup: Setup, programs: Path) -> dict[str, str]:
    home = setup.scratch / "codex"
    home.mkdir()
    # JSON strings and lists of strings are valid TOML.
    lines = ["[mcp_servers.keyhole]", f"command = {json.dumps(setup.command[0])}"]
    lines += [f"args = {json.dumps(setup.command[1:])}", "[mcp_servers.keyhole.env]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in setup.settings.items()]
    (home / "config.toml").write_text("\n".join(lines) + "\n", "utf-8")
    return {**setup.client_env(programs), "CODEX_HOME": str(home)}


def _check_config(setup: Setup, programs: Path, env: dict[str, str]) -> None:
    command = [str(programs / "codex"), "app-server", "--strict-config", "--print-startup-config"]
    done = run_program(command, env, setup.scratch)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]


@contextmanager
def app_server(programs: Path, env: dict[str, str], folder: Path) -> Iterator[AppServer]:
    command = [str(programs / "codex"), "app-server"]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        command, env=env, cwd=folder, text=True, stdin=pipe, stdout=pipe, stderr=nothing, start_new_session=True
    ) as process:
        # Reading its output has no timeout, so a timer kills the process.
        watchdog = threading.Timer(PATIENCE, end_group, [process])
        watchdog.start()
        try:
            server = AppServer(process)
            server.request("initialize", {"clientInfo": {"name": "keyhole-tests", "version": "1"}})
            server.send({"method": "initialized"})
            yield server
        finally:
            watchdog.cancel()
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    """Close its input first: Codex starts MCP servers in separate process groups and stops them itself."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        end_group(process)


def _check_status(server: AppServer) -> None:
    (status,) = server.request("mcpServerStatus/list", {})["data"]
    assert status["name"] == "keyhole" and not status.get("toolsError"), status
    assert set(status["tools"]) == TOOLS, list(status["tools"])


def _start_thread(server: AppServer, setup: Setup) -> str:
    # An ephemeral thread writes nothing and calls no model.
    started = server.request("thread/start", {"cwd": str(setup.scratch), "ephemeral": True})
    return str(started["thread"]["id"])


def _call(server: AppServer, thread: str, tool: str, arguments: dict[str, Any]) -> Reply:
    params = {"threadId": thread, "server": "keyhole", "tool": tool, "arguments": arguments}
    return read_reply(server.request("mcpServer/tool/call", params))


def _check_untruncated(call: Call, fetched: Reply) -> None:
    # Keyhole limits each window to Codex's limit; the windows together must be the complete main part.
    arguments: dict[str, Any] = {"id": fetched.facts["artifact_id"], "limit": 200_000}
    length = 0
    for _ in range(8):
        reply = call("read_artifact", arguments)
        length += len(body(reply))
        if not (following := reply.facts["next"]):
            break
        arguments = {**arguments, "offset": following["offset"]}
    end = re.search(r"Characters \d+:(\d+) of .*End of ", reply.text)
    assert end and length == int(end[1]), reply.text[-200:]
