"""Items of the Responses API."""

from __future__ import annotations

import pytest

from keyhole.extract.conversations.responses import CALLS, read_item
from keyhole.extract.conversations.values import ItemFacts, Result


@pytest.mark.parametrize("kind", sorted(CALLS))
def test_every_type_of_call_has_a_result_of_the_same_name(kind: str) -> None:
    assert read_item({"type": kind, "call_id": "a"}, 0) == ItemFacts("model", calls=("a",))
    result = read_item({"type": f"{kind}_output", "call_id": "a", "output": "done"}, 1)
    assert result == ItemFacts("result", results=(Result(1, None, "a", "done"),))


def test_a_call_with_an_id_is_tied_to_its_reasoning() -> None:
    assert read_item({"type": "function_call", "call_id": "a", "id": "fc_1"}, 0).is_tied


def test_the_texts_of_a_result_with_parts_are_read() -> None:
    parts = [{"type": "input_text", "text": "one"}, {"type": "input_image"}, {"type": "input_text", "text": "two"}]
    item = {"type": "function_call_output", "call_id": "a", "output": parts}
    assert read_item(item, 0).results[0].text == "one\ntwo"


def test_a_call_that_the_provider_runs_has_its_result_in_itself() -> None:
    facts = read_item({"type": "mcp_call", "id": "m", "output": "done"}, 3)
    assert (facts.kind, facts.calls, facts.results) == ("model", (), (Result(3, None, "m", "done"),))


def test_reasoning_is_of_the_model() -> None:
    assert read_item({"type": "reasoning", "encrypted_content": "x"}, 0) == ItemFacts("model", is_reasoning=True)


def test_messages_are_told_by_role_and_may_have_no_type() -> None:
    kinds = [read_item({"role": role, "content": ""}, 0).kind for role in ("developer", "user", "assistant", "critic")]
    assert kinds == ["system", "user", "model", "unknown"]


def test_an_item_of_an_unknown_type_is_unknown() -> None:
    assert read_item({"type": "compaction", "role": "user"}, 0) == ItemFacts("unknown")
