"""Let real clients use servers of other projects through `keyhole proxy`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from . import flood_server
from .agent_turns import Turn, check_complete, run_turn
from .agents import Agent
from .inspector import REVISIONS, TOOL_ERROR, run_method
from .proxied_servers import READER
from .real_servers import RealServer, ToolCall, filesystem_server, git_server, write_files
from .setup import PROXY, Setup, serve_http, write_servers
from .steps import Steps
from .tool_calls import Reply, body, next_call, read_reply

Run = Callable[..., tuple[int, dict[str, Any]]]
"""Runs a method with the Inspector; returns its exit code and the result."""


def check_agent(agent: Agent, steps: Steps, setup: Setup, programs: Path) -> None:
    """Let the agent's model read a large file and make the call that the bounded result names."""
    # An agent that tells servers its roots, as Claude Code does, gives the server access to its working folder only.
    folder = setup.scratch / "work"
    write_files(folder)
    server = filesystem_server(folder)
    assert server.large is not None
    proxied = replace(setup, command=(*PROXY, "--", *server.command()))
    turn = partial(run_turn, agent, proxied, programs, [server.large, _read_on])
    steps.run(f"{agent.name}: its model gets a bounded result whole, and reads on", lambda: _check_turn(turn()))


def _read_on(shown: Sequence[str]) -> ToolCall:
    """Return the call that the first result names."""
    assert "Next: " in shown[0], shown[0]
    return next_call(shown[0])


def _check_turn(turn: Turn) -> None:
    assert len(turn.sent) == len(turn.shown) == 2, f"{len(turn.shown)} shown: {turn.shown}"
    check_complete(turn)
    bounded, window = (body(Reply(text, {}, False)) for text in turn.sent)
    assert flood_server.IMPORTANT in bounded, bounded[:500]
    _, arguments = next_call(turn.sent[0])
    start = arguments["offset"]
    assert window == flood_server.TEXT[start : start + arguments["limit"]], window[:300]


def check_inspector(steps: Steps, setup: Setup, programs: Path) -> None:
    """List and call with the Inspector over both transports, in both eras, which the server of Git speaks."""
    folder = setup.scratch / "data"
    write_files(folder)
    server = git_server(folder)
    proxy = write_servers(setup.scratch / "proxy.json", [*PROXY, "--", *server.command()], setup.settings)
    _check_transport(steps, setup, programs, "stdio", ["--config", proxy, "--server", "real"], server)
    with serve_http(setup, (*PROXY, "--http"), behind=server.command()) as url:
        _check_transport(steps, setup, programs, "http", [url, "--transport", "http"], server)


def _check_transport(
    steps: Steps, setup: Setup, programs: Path, transport: str, target: list[str], server: RealServer
) -> None:
    for era, revision in REVISIONS.items():
        where = f"inspector proxy {transport} {era}"
        run = partial(run_method, setup, programs, target, era)
        steps.run(f"{where}: speaks revision {revision}, lists without errors", partial(_check_list, run, revision))
        steps.run(f"{where}: a large result is bounded and read on", partial(_check_large, run, server))
        steps.run(f"{where}: an error of the server stays an error", partial(_check_error, run, server))


def _check_list(run: Run, revision: str) -> None:
    code, greeting = run("initialize")
    assert (code, greeting["protocolVersion"]) == (0, revision), greeting
    code, listed = run("tools/list", "--strict")
    names = [tool["name"] for tool in listed["tools"]]
    assert code == 0 and names[-1] == READER and "git_show" in names, f"exit {code}: {names}"


def _call(run: Run, call: ToolCall) -> tuple[int, Reply]:
    tool, arguments = call
    code, result = run("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
    return code, read_reply(result)


def _check_large(run: Run, server: RealServer) -> None:
    assert server.large is not None
    code, reply = _call(run, server.large)
    assert code == 0 and "+row 0: " in body(reply), reply.text[:500]
    following = next_call(reply.text)
    code, reply = _call(run, following)
    assert code == 0 and len(body(reply)) == following[1]["limit"], reply.text[:500]


def _check_error(run: Run, server: RealServer) -> None:
    code, reply = _call(run, server.small[-1])
    assert code == TOOL_ERROR and reply.is_error, f"exit {code}: {reply.text}"
