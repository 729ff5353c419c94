"""The doctor's events have the form of recorded ones, and faults of answers are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keyhole.extensions.install.doctor.hook_runs import ERROR, LARGE, answer_fault, large_output, make_event
from keyhole.outputs.hooks.answer import CLIENTS, answer

PAYLOADS = Path(__file__).resolve().parents[3] / "outputs" / "hooks" / "payloads"


def has_form(event: Any, recorded: Any) -> bool:
    """Return True if every key of an event is in the recorded one, with a value of the same type."""
    if isinstance(event, dict) and isinstance(recorded, dict):
        return all(key in recorded and has_form(value, recorded[key]) for key, value in event.items())
    return type(event) is type(recorded)


@pytest.mark.parametrize("client", CLIENTS)
def test_an_event_has_the_form_of_a_recorded_one(client: str) -> None:
    recorded = json.loads((PAYLOADS / f"{client}-shell-small.json").read_text("utf-8"))
    assert has_form(json.loads(make_event(client, "done\n")), recorded)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_hook_answers_to_a_large_output_alone(client: str, tmp_path: Path) -> None:
    environment = {"KEYHOLE_HOME": str(tmp_path), "KEYHOLE_CONFIG": "off"}
    assert len(large_output()) >= LARGE * 0.8
    reply = answer(make_event(client, large_output()), client, 4_000, environment)
    assert answer_fault(client, reply) == ""
    assert answer(make_event(client, "done\n"), client, 4_000, environment) == b""


@pytest.mark.parametrize(("reply", "fault"), [
    (b"", "it does not answer"), (b" \n", "it does not answer"),
    (b"{", "has not the form"), (b"[]", "has not the form"),
    (b'{"reason": 3}', "is not a bounded text"), (b'{"reason": ""}', "is not a bounded text"),
    (json.dumps({"reason": large_output()}).encode(), "is not a bounded text"), (b"[" * 90_000, "has not the form"),
    (json.dumps({"reason": ERROR}).encode(), ""),
])  # fmt: skip
def test_a_fault_of_an_answer_is_found(reply: bytes, fault: str) -> None:
    found = answer_fault("codex", reply)
    assert (fault in found) if fault else not found
