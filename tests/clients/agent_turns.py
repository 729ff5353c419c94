"""Run turns of real agents with a fake model, and compare the results that the model receives with those sent."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keyhole.config.config import MAX_BUDGET
from keyhole.render.budget import UNKNOWN_CLIENT, limits_of

from .agents import Agent, AgentSetup
from .fake_model import Step, serve_model
from .setup import QUESTION, Setup, open_setup
from .stdio_recorder import UNKNOWN_NAME, UNNAMED, client_infos
from .steps import Steps, run_program
from .tool_calls import next_call

PATIENCE = 90.0
"""Seconds for a turn, which normally takes 2 to 5."""
MAX_WRAPPER = 200
"""Characters that a client may add to a result, such as Gemini's mark of untrusted text and Codex's wall time."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The tool results of one turn of an agent."""

    shown: tuple[str, ...]
    """Each result as the model received it."""
    sent: tuple[str, ...]
    """Each result as the server sent it."""
    client: dict[str, Any]
    """The client's `clientInfo`."""
    revision: str
    """The negotiated protocol revision."""


def check(agent: Agent, steps: Steps, setup: Setup, programs: Path) -> None:
    """Check that the model can call all three tools and receives each result once and complete."""
    turn = steps.run(f"{agent.name}: its model calls all three tools", lambda: _call_all_tools(agent, setup, programs))
    if turn is not None:
        steps.run(f"{agent.name}: announces itself as {agent.client}", lambda: _check_name(agent, turn))
        steps.run(f"{agent.name}: the model receives each result once and complete", lambda: check_complete(turn))
    if agent.has_known_limit and limits_of(agent.client) is not UNKNOWN_CLIENT:
        name = f"{agent.name}: the largest result that Keyhole sends it arrives complete"
        steps.run(name, lambda: check_largest(agent, programs))


def _call_all_tools(agent: Agent, setup: Setup, programs: Path) -> Turn:
    script: list[Step] = [
        ("web_fetch", {"url": setup.page, "query": QUESTION}),
        lambda shown: next_call(shown[0]),
        ("search", {"query": QUESTION, "scope": "stored"}),
    ]
    turn = run_turn(agent, setup, programs, script)
    assert len(turn.sent) == len(turn.shown) == len(script), f"{len(turn.shown)} shown: {turn.shown}"
    return turn


def run_turn(agent: Agent, setup: Setup, programs: Path, script: Sequence[Step], unnamed: bool = False) -> Turn:
    """Run a turn of the agent, whose model follows the script. `unnamed` hides the client's name from the server."""
    record = setup.scratch / "record"
    recorder = [
        sys.executable,
        str(Path(__file__).with_name("stdio_recorder.py")),
        str(record),
        *([UNNAMED] if unnamed else []),
        "--",
    ]
    with serve_model(script) as model:
        agent_setup = AgentSetup(setup, model.url, (*recorder, *setup.command), setup.client_env(programs))
        words, variables = agent.configure(agent_setup)
        command = [str(programs / words[0]), *words[1:]]
        done = run_program(command, {**agent_setup.env, **variables}, agent_setup.work, PATIENCE)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-500:]}"
    return read_turn(record, tuple(model.shown))


def read_turn(record: Path, shown: tuple[str, ...]) -> Turn:
    """Read the turn from the recorder's file."""
    lines = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    messages = {
        who: [json.loads(each["line"]) for each in lines if each["from"] == who] for who in ("client", "server")
    }
    infos = [info for message in messages["client"] for info in client_infos(message)]
    results = [message["result"] for message in messages["server"] if "result" in message]
    sent = tuple(result["content"][0]["text"] for result in results if "content" in result)
    legacy = [result["protocolVersion"] for result in results if "protocolVersion" in result]
    return Turn(shown, sent, infos[0] if infos else {}, legacy[0] if legacy else "2026-07-28")


def check_largest(agent: Agent, programs: Path) -> None:
    """Request a window above every client's limit; check that Keyhole fits the result to the client."""
    with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, open_setup(Path(scratch)) as setup:
        script = window_script(setup.long_page, [MAX_BUDGET])
        turn = run_turn(agent, setup, programs, script)
    assert len(turn.sent) == len(script), f"{len(turn.shown)} shown: {turn.shown}"
    check_complete(turn)


def window_script(page: str, sizes: Iterable[int]) -> list[Step]:
    """Return a script that fetches the page, then reads windows of each size from its start."""

    def window(size: int) -> Step:
        def step(shown: Sequence[str]) -> tuple[str, dict[str, Any]]:
            _, arguments = next_call(shown[0])
            return "read_artifact", {"id": arguments["id"], "offset": 0, "limit": size}

        return step

    return [("web_fetch", {"url": page}), *(window(size) for size in sizes)]


def _check_name(agent: Agent, turn: Turn) -> None:
    assert turn.client.get("name") == agent.client != UNKNOWN_NAME, turn.client
    assert turn.client.get("version"), turn.client


def check_complete(turn: Turn) -> None:
    """Raise AssertionError unless the model received each result once and complete."""
    for shown, sent in zip(turn.shown, turn.sent, strict=True):
        assert sent in shown, f"{len(sent)} characters were sent and {len(shown)} shown, which end: {shown[-300:]}"
        assert len(shown) <= len(sent) + MAX_WRAPPER, f"{len(sent)} characters were sent and {len(shown)} shown"
