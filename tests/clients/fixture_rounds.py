"""Tools of the conformance suite that need more than one round: they ask for input and are called again with it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from .fixture_tools import Context, Json, Tool, said

_KEY: Final = b"fixture"
Rounds = Json | types.InputRequiredResult


def elicit(message: str, name: str, kind: str = "string") -> Json:
    """A question to the user, with one field."""
    form = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": form}}


def sample(text: str, most: int) -> Json:
    """A question to the client's model."""
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


ROOTS: Final[Json] = {"method": "roots/list", "params": {}}
NAME: Final = elicit("What is your name?", "name")


def ask(requests: Json, state: str | None = None) -> types.InputRequiredResult:
    """The result that asks; its state is signed."""
    signed = None if state is None else f"{state}.{_mark(state)}"
    return types.InputRequiredResult.model_validate({"inputRequests": requests, "requestState": signed})


def state_of(params: types.InputResponseRequestParams) -> str:
    """The state that a caller gave back. Raises MCPError where it is not one of ours."""
    state, _, mark = (params.request_state or "").rpartition(".")
    if not hmac.compare_digest(mark.encode(), _mark(state).encode()):
        raise MCPError(types.INVALID_PARAMS, "requestState is not what this server gave")
    return state


def _mark(state: str) -> str:
    return hmac.new(_KEY, state.encode(), hashlib.sha256).hexdigest()


def _asking(requests: Json, answer: str, state: str | None = None) -> Tool:
    """A tool that asks until every request is answered, then says so."""

    async def tool(_ctx: Context, params: types.CallToolRequestParams) -> Rounds:
        given = params.input_responses or {}
        if any(name not in given for name in requests):
            return ask(requests, state)
        if state is not None:
            state_of(params)
        return said(f"{answer} {_told(given, requests)}")

    return tool


def _told(given: dict[str, Any], requests: Json) -> str:
    return ", ".join(given[name].model_dump_json(by_alias=True) for name in requests)


async def _many_rounds(_ctx: Context, params: types.CallToolRequestParams) -> Rounds:
    if not params.input_responses:
        return ask({"step1": elicit("Step 1: What is your name?", "name")}, "1")
    if state_of(params) == "1":
        return ask({"step2": elicit("Step 2: What is your favorite color?", "color")}, "2")
    return said("Two rounds were made.")


async def _what_it_can(ctx: Context, _params: types.CallToolRequestParams) -> Rounds:
    able = ctx.session.client_capabilities or types.ClientCapabilities()
    requests = {}
    if able.elicitation is not None:
        requests["user_name"] = NAME
    if able.sampling is not None:
        requests["greeting"] = sample("Generate a greeting", 50)
    return ask(requests, "able")


async def _needs_sampling(ctx: Context, _params: types.CallToolRequestParams) -> Rounds:
    able = ctx.session.client_capabilities
    if able is None or able.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The client declared no sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return said("The client can sample.")


CONFIRM: Final = {"confirm": elicit("Please confirm", "ok", "boolean")}
EVERYTHING: Final = {"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
QUESTION: Final = {"capital_question": sample("What is the capital of France?", 100)}

ROUNDS: Final[dict[str, Tool]] = {
    "test_input_required_result_elicitation": _asking({"user_name": NAME}, "Hello,"),
    "test_input_required_result_sampling": _asking(QUESTION, "The model said"),
    "test_input_required_result_list_roots": _asking({"client_roots": ROOTS}, "The roots are"),
    "test_input_required_result_request_state": _asking(CONFIRM, "state-ok", "confirm"),
    "test_input_required_result_tampered_state": _asking(CONFIRM, "state-ok", "confirm"),
    "test_input_required_result_multiple_inputs": _asking(EVERYTHING, "All were given:", "everything"),
    "test_input_required_result_multi_round": _many_rounds,
    "test_input_required_result_capabilities": _what_it_can,
    "test_missing_capability": _needs_sampling,
}

PROMPT: Final = "test_input_required_result_prompt"


def prompt_rounds(params: types.GetPromptRequestParams) -> Rounds:
    """A prompt that asks for its context first."""
    if "user_context" not in (params.input_responses or {}):
        return ask({"user_context": elicit("What context should the prompt use?", "context")})
    return {"messages": [{"role": "user", "content": {"type": "text", "text": "Use the context that was given."}}]}
