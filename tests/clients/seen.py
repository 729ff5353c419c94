"""What the model of a real agent is shown of Keyhole's results: all three tools called, compared with what was said."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keyhole.budget.clients import UNKNOWN, host_of
from keyhole.config.schema import MAX_BUDGET

from .agents import Agent, Scene
from .model_api import Step, serve_model
from .stage import QUESTION, Stage, set_stage
from .steps import Steps, run_program
from .tap import STRANGER, UNNAMED, client_infos
from .tour import next_call

PATIENCE = 90.0
"""Seconds for a whole turn, which takes 2 to 5."""
WRAPPING = 200
"""Characters that a client may put around a result, such as Gemini's mark of untrusted text and Codex's wall time."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said in one turn of an agent, by both sides."""

    shown: tuple[str, ...]
    """Each result as the model got it."""
    said: tuple[str, ...]
    """Each result as the server gave it."""
    client: dict[str, Any]
    """How the client announced itself."""
    revision: str
    """Of the protocol, as it was agreed."""


def check(agent: Agent, steps: Steps, stage: Stage, programs: Path) -> None:
    """All three tools are called, and nothing of any result is lost or doubled on its way to the model."""
    turn = steps.run(f"{agent.name}: its model calls all three tools", lambda: _tour(agent, stage, programs))
    if turn is not None:
        steps.run(f"{agent.name}: announces itself as {agent.client}", lambda: _check_name(agent, turn))
        steps.run(f"{agent.name}: the model gets each result whole, once, to its last line", lambda: _check_whole(turn))
    if agent.fitted and host_of(agent.client) is not UNKNOWN:
        name = f"{agent.name}: the largest result that Keyhole gives it arrives whole"
        steps.run(name, lambda: check_largest(agent, programs))


def _tour(agent: Agent, stage: Stage, programs: Path) -> Turn:
    script: list[Step] = [
        ("web_fetch", {"url": stage.page, "query": QUESTION}),
        lambda shown: next_call(shown[0]),
        ("search", {"query": QUESTION, "scope": "stored"}),
    ]
    turn = play(agent, stage, programs, script)
    assert len(turn.said) == len(turn.shown) == len(script), f"{len(turn.shown)} shown: {turn.shown}"
    return turn


def play(agent: Agent, stage: Stage, programs: Path, script: Sequence[Step], unnamed: bool = False) -> Turn:
    """One turn of the agent, whose model follows the script. `unnamed`: the server is not told who it is."""
    record = stage.scratch / "record"
    tap = [sys.executable, str(Path(__file__).with_name("tap.py")), str(record), *([UNNAMED] if unnamed else []), "--"]
    with serve_model(script) as model:
        scene = Scene(stage, model.url, (*tap, *stage.command), stage.client_env(programs))
        words, more = agent.set_up(scene)
        command = [str(programs / words[0]), *words[1:]]
        done = run_program(command, {**scene.env, **more}, scene.work, PATIENCE)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-500:]}"
    return read_turn(record, tuple(model.shown))


def read_turn(record: Path, shown: tuple[str, ...]) -> Turn:
    """The turn that a tap wrote down."""
    lines = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    messages = {
        who: [json.loads(each["line"]) for each in lines if each["from"] == who] for who in ("client", "server")
    }
    infos = [info for message in messages["client"] for info in client_infos(message)]
    results = [message["result"] for message in messages["server"] if "result" in message]
    said = tuple(result["content"][0]["text"] for result in results if "content" in result)
    legacy = [result["protocolVersion"] for result in results if "protocolVersion" in result]
    return Turn(shown, said, infos[0] if infos else {}, legacy[0] if legacy else "2026-07-28")


def check_largest(agent: Agent, programs: Path) -> None:
    """A window over any client's cap is asked for: Keyhole fits what it gives to the client, so all is shown."""
    with tempfile.TemporaryDirectory(prefix="keyhole-clients-") as scratch, set_stage(Path(scratch)) as stage:
        script = window_script(stage.long_page, [MAX_BUDGET])
        turn = play(agent, stage, programs, script)
    assert len(turn.said) == len(script), f"{len(turn.shown)} shown: {turn.shown}"
    _check_whole(turn)


def window_script(page: str, sizes: Iterable[int]) -> list[Step]:
    """Fetch the page, then read it from its start in windows of each size."""

    def window(size: int) -> Step:
        def step(shown: Sequence[str]) -> tuple[str, dict[str, Any]]:
            _, arguments = next_call(shown[0])
            return "read_artifact", {"id": arguments["id"], "offset": 0, "limit": size}

        return step

    return [("web_fetch", {"url": page}), *(window(size) for size in sizes)]


def _check_name(agent: Agent, turn: Turn) -> None:
    assert turn.client.get("name") == agent.client != STRANGER, turn.client
    assert turn.client.get("version"), turn.client


def _check_whole(turn: Turn) -> None:
    for shown, said in zip(turn.shown, turn.said, strict=True):
        assert said in shown, f"{len(said)} characters were said and {len(shown)} shown, which end: {shown[-300:]}"
        assert len(shown) <= len(said) + WRAPPING, f"{len(said)} characters were said and {len(shown)} shown"
