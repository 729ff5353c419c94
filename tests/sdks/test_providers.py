"""The model on loopback refuses what the providers refuse."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.sdks.providers import APIS, CALLS, STEPS, Anthropic, Api, Chat, Gemini, Json, Model, Responses, output

BUDGET = 1_000_000


def results_of(api: Api, calls: list[str]) -> list[Json]:
    """Return the items with the results of calls."""
    if isinstance(api, Chat):
        return [{"role": "tool", "tool_call_id": call, "content": output(call)} for call in calls]
    if isinstance(api, Responses):
        return [{"type": "function_call_output", "call_id": call, "output": output(call)} for call in calls]
    if isinstance(api, Anthropic):
        blocks = [{"type": "tool_result", "tool_use_id": call, "content": output(call)} for call in calls]
        return [{"role": "user", "content": blocks}]
    responses = [{"id": call, "name": "make", "response": {"output": output(call)}} for call in calls]
    return [{"role": "user", "parts": [{"functionResponse": each} for each in responses]}]


def request(api: Api, items: list[Json]) -> Json:
    """Return a request with a conversation."""
    return {"input" if isinstance(api, Responses) else "contents" if isinstance(api, Gemini) else "messages": items}


def converse(api: Api, model: Model) -> list[Json]:
    """Return the conversation of a client that leaves nothing out, until the model is done or refuses it."""
    first = {"role": "user", "parts": [{"text": "Build it."}]} if isinstance(api, Gemini) else None
    items: list[Json] = [first or {"role": "user", "content": "Build it."}]
    for number in range(STEPS + 1):
        before = len(model.written)
        status, _ = model.reply(api, request(api, items))
        if status != 200 or number == STEPS:
            break
        items += copy.deepcopy(model.written[before:])
        items += results_of(api, [f"call_{number}_{each}" for each in range(2 if number % 4 == 3 else 1)])
    return items


@pytest.fixture(params=APIS, ids=lambda api: type(api).__name__)
def api(request: Any) -> Any:
    return request.param


def test_a_conversation_that_is_sent_whole_is_taken(api: Api) -> None:
    model = Model(BUDGET)
    items = converse(api, model)
    assert (model.refusals, len(model.sent)) == ([], STEPS + 1)
    assert sum(str(item).count("error: disk full") for item in items) == CALLS


def test_a_conversation_over_the_budget_is_refused(api: Api) -> None:
    model = Model(100_000)
    converse(api, model)
    assert [text[:18] for text in model.refusals] == ["prompt is too long"]


def test_a_conversation_without_one_of_its_items_is_refused(api: Api) -> None:
    model = Model(BUDGET)
    items = converse(api, model)
    for index, item in enumerate(items):
        if isinstance(api, Responses) and item.get("role") == "assistant":
            continue  # the only item of a turn that no other item needs
        if isinstance(api, Chat | Responses) and item.get("role") == "user":
            continue
        assert model.reply(api, request(api, items[:index] + items[index + 1 :]))[0] == 400, item


def test_a_changed_message_of_the_model_is_refused(api: Api) -> None:
    model = Model(BUDGET)
    items = converse(api, model)
    changed = copy.deepcopy(api.written(items)[3])
    changed["future_field"] = "changed"
    items[items.index(api.written(items)[3])] = changed
    status, _ = model.reply(api, request(api, items))
    assert (status, model.refusals[0][:25]) == (400, "not as the model wrote it")
