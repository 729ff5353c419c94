"""Tools of the conformance suite with several rounds: they request input and are called again with it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from .fixture_tools import Context, Json, Tool, text_result

_KEY: Final = b"fixture"
Rounds = Json | types.InputRequiredResult


def elicit(message: str, name: str, kind: str = "string") -> Json:
    """Return a request for a form with one field."""
    form = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": form}}


def sample(text: str, max_tokens: int) -> Json:
    """Return a request to the client's model."""
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": max_tokens}}


ROOTS: Final[Json] = {"method": "roots/list", "params": {}}
NAME: Final = elicit("What is your name?", "name")


def request_input(requests: Json, state: str | None = None) -> types.InputRequiredResult:
    """Return a result that requests input, with a signed state."""
    signed = None if state is None else f"{state}.{_sign(state)}"
    return types.InputRequiredResult.model_validate({"inputRequests": requests, "requestState": signed})


def verify_state(params: types.InputResponseRequestParams) -> str:
    """Return the state in a request. Raises MCPError if its signature is wrong."""
    state, _, signature = (params.request_state or "").rpartition(".")
    if not hmac.compare_digest(signature.encode(), _sign(state).encode()):
        raise MCPError(types.INVALID_PARAMS, "requestState was not issued by this server")
    return state


def _sign(state: str) -> str:
    return hmac.new(_KEY, state.encode(), hashlib.sha256).hexdigest()


def _request_tool(requests: Json, answer: str, state: str | None = None) -> Tool:
    """Return a tool that requests input until every request is answered, then returns `answer` and the input."""

    async def tool(_ctx: Context, params: types.CallToolRequestParams) -> Rounds:
        responses = params.input_responses or {}
        if any(name not in responses for name in requests):
            return request_input(requests, state)
        if state is not None:
            verify_state(params)
        return text_result(f"{answer} {_format_answers(responses, requests)}")

    return tool


def _format_answers(responses: dict[str, Any], requests: Json) -> str:
    return ", ".join(responses[name].model_dump_json(by_alias=True) for name in requests)


async def _many_rounds(_ctx: Context, params: types.CallToolRequestParams) -> Rounds:
    if not params.input_responses:
        return request_input({"step1": elicit("Step 1: What is your name?", "name")}, "1")
    if verify_state(params) == "1":
        return request_input({"step2": elicit("Step 2: What is your favorite color?", "color")}, "2")
    return text_result("Both rounds are complete.")


async def _request_supported(ctx: Context, _params: types.CallToolRequestParams) -> Rounds:
    capabilities = ctx.session.client_capabilities or types.ClientCapabilities()
    requests = {}
    if capabilities.elicitation is not None:
        requests["user_name"] = NAME
    if capabilities.sampling is not None:
        requests["greeting"] = sample("Generate a greeting", 50)
    return request_input(requests, "able")


async def _needs_sampling(ctx: Context, _params: types.CallToolRequestParams) -> Rounds:
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The client declared no sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return text_result("The client can sample.")


CONFIRM: Final = {"confirm": elicit("Please confirm", "ok", "boolean")}
EVERYTHING: Final = {"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
QUESTION: Final = {"capital_question": sample("What is the capital of France?", 100)}

ROUNDS: Final[dict[str, Tool]] = {
    "test_input_required_result_elicitation": _request_tool({"user_name": NAME}, "Hello,"),
    "test_input_required_result_sampling": _request_tool(QUESTION, "The model said"),
    "test_input_required_result_list_roots": _request_tool({"client_roots": ROOTS}, "The roots are"),
    "test_input_required_result_request_state": _request_tool(CONFIRM, "state-ok", "confirm"),
    "test_input_required_result_tampered_state": _request_tool(CONFIRM, "state-ok", "confirm"),
    "test_input_required_result_multiple_inputs": _request_tool(EVERYTHING, "All were given:", "everything"),
    "test_input_required_result_multi_round": _many_rounds,
    "test_input_required_result_capabilities": _request_supported,
    "test_missing_capability": _needs_sampling,
}

PROMPT: Final = "test_input_required_result_prompt"


def prompt_rounds(params: types.GetPromptRequestParams) -> Rounds:
    """Return a prompt, or a request for its context if that is missing."""
    if "user_context" not in (params.input_responses or {}):
        return request_input({"user_context": elicit("What context should the prompt use?", "context")})
    return {"messages": [{"role": "user", "content": {"type": "text", "text": "Use the context that was given."}}]}
