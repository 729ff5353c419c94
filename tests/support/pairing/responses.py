"""The rules of OpenAI's Responses API. Items of unknown types are passed over, and the last calls may be open.

An item that came with a reasoning item has its id as `reasoning_id` in the test conversations, because the API knows
this from the ids alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.support.pairing.rules import Item, Items, Rule

_GUIDES = "https://developers.openai.com/api/docs/guides"
_CALLS = f"{_GUIDES}/function-calling"
_REASONING = f"{_GUIDES}/reasoning"
_MCP = f"{_GUIDES}/tools-connectors-mcp"
_SEARCH = f"{_GUIDES}/tools-tool-search"
_PROGRAMS = f"{_GUIDES}/tools-programmatic-tool-calling"
_SHELL = f"{_GUIDES}/tools-shell"
_COMPUTER = f"{_GUIDES}/tools-computer-use"
_REFERENCE = "https://developers.openai.com/api/reference/resources/responses/methods/create"
CALLS = {
    "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call",
}  # fmt: skip
OUTPUTS = {f"{call}_output" for call in CALLS}
HOSTED = {
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
    "mcp_list_tools", "mcp_approval_request", "tool_search_call", "tool_search_output", "program", "program_output",
    "compaction",
}  # fmt: skip


def type_of(item: Item) -> str:
    """Return the type of an item. A message may have none."""
    return str(item.get("type") or ("message" if "role" in item else "item_reference"))


def is_of_model(item: Item) -> bool:
    """Return True for an item that the model or a tool of the provider made, beside reasoning."""
    kind = type_of(item)
    return kind in CALLS | HOSTED or (kind == "message" and item.get("role") == "assistant")


def is_of_others(item: Item) -> bool:
    """Return True for a result, or a message of another role than the assistant."""
    kind = type_of(item)
    roles = ("user", "system", "developer")
    return kind in OUTPUTS | {"mcp_approval_response"} or (kind == "message" and item.get("role") in roles)


def call_of(item: Item) -> str:
    """Return the type and the id of the call that an item makes or answers."""
    kind = type_of(item).removesuffix("_output")
    # The output of a local shell call has the id of the call as its own.
    is_local = type_of(item) == "local_shell_call_output"
    return f"{kind} {item.get('call_id') or (item.get('id') if is_local else '')}"


def _last_user(items: Items) -> int:
    return max((number for number, item in enumerate(items) if item.get("role") == "user"), default=-1)


def _pairs(items: Items, calls: set[str]) -> Iterator[tuple[str, str]]:
    """Yield "stray" and an output without a call, and "open" and a call without an output before the last user."""
    open_calls: list[tuple[int, str]] = []
    last = _last_user(items)
    for number, item in enumerate(items):
        kind = type_of(item)
        if kind in calls:
            open_calls.append((number, call_of(item)))
        elif kind.removesuffix("_output") in calls:
            found = next((each for each in open_calls if each[1] == call_of(item)), None)
            if found is None:
                yield "stray", call_of(item)
            else:
                open_calls.remove(found)
    yield from (("open", call) for number, call in open_calls if number < last)


def calls_without_outputs(items: Items) -> Iterator[str]:
    """Yield the calls without an output, although the user wrote after them."""
    return (call for fault, call in _pairs(items, CALLS) if fault == "open")


def outputs_without_calls(items: Items) -> Iterator[str]:
    """Yield the outputs without a call of their type before them."""
    return (call for fault, call in _pairs(items, CALLS) if fault == "stray")


def programs_without_outputs(items: Items) -> Iterator[str]:
    """Yield the programs without an output, although the user wrote after them."""
    return (call for fault, call in _pairs(items, {"program"}) if fault == "open")


def outputs_without_programs(items: Items) -> Iterator[str]:
    """Yield the outputs without a program before them."""
    return (call for fault, call in _pairs(items, {"program"}) if fault == "stray")


def _searches(items: Items, execution: str) -> list[Item]:
    kinds = ("tool_search_call", "tool_search_output")
    return [each for each in items if type_of(each) in kinds and (each.get("execution") or "server") == execution]


def unpaired_client_searches(items: Items) -> Iterator[str]:
    """Yield the searches of the client without an output, and the opposite. The last search may be open."""
    found = _searches(items, "client")
    calls = [each.get("call_id") for each in found if type_of(each) == "tool_search_call"]
    outputs = [each.get("call_id") for each in found if type_of(each) == "tool_search_output"]
    yield from (f"output {id}" for id in (Counter(outputs) - Counter(calls)).elements())
    last = items[_last_user(items) + 1 :]
    open_calls = [each.get("call_id") for each in last if type_of(each) == "tool_search_call"]
    yield from (f"call {id}" for id in (Counter(calls) - Counter(outputs) - Counter(open_calls)).elements())


def unpaired_server_searches(items: Items) -> Iterator[str]:
    """Yield the outputs of server searches that follow no call, and calls that no output follows."""
    kinds = [type_of(each) for each in _searches(items, "server")]
    expected = "tool_search_call"
    for kind in kinds:
        if kind != expected:
            yield kind
        expected = "tool_search_output" if kind == "tool_search_call" else "tool_search_call"
    if kinds and kinds[-1] == "tool_search_call":
        yield "the last one"


def reasoning_without_followers(items: Items) -> Iterator[str]:
    """Yield the reasoning items that are not followed by the item they came with."""
    known = [item for item in items if type_of(item) == "reasoning" or is_of_model(item) or is_of_others(item)]
    for number, item in enumerate(known):
        if type_of(item) == "reasoning":
            after = next((each for each in known[number + 1 :] if type_of(each) != "reasoning"), None)
            run = _reasoning_run(known, number)
            if after is None or is_of_others(after) or after.get("reasoning_id", item["id"]) not in run:
                yield str(item["id"])


def _reasoning_run(known: Sequence[Item], number: int) -> set[str]:
    """Return the ids of the reasoning items in a row from one."""
    ids = set()
    for item in known[number:]:
        if type_of(item) != "reasoning":
            break
        ids.add(str(item["id"]))
    return ids


def items_without_reasoning(items: Items) -> Iterator[str]:
    """Yield the items whose reasoning is not before them."""
    seen: set[str] = set()
    for item in items:
        if type_of(item) == "reasoning":
            seen.add(item["id"])
        elif item.get("reasoning_id") and item["reasoning_id"] not in seen:
            yield str(item.get("id") or item.get("call_id"))


def repeated_ids(items: Items) -> Iterator[str]:
    """Yield the ids that two items have."""
    types = ("item_reference", "local_shell_call_output")
    ids = [str(item["id"]) for item in items if item.get("id") and type_of(item) not in types]
    yield from (Counter(ids) - Counter(set(ids))).elements()


def approvals_without_requests(items: Items) -> Iterator[str]:
    """Yield the approvals, and the calls with one, whose request is not before them."""
    requests: set[str] = set()
    for item in items:
        if type_of(item) == "mcp_approval_request":
            requests.add(item["id"])
        elif item.get("approval_request_id") and item["approval_request_id"] not in requests:
            yield f"{type_of(item)} {item['approval_request_id']}"


def _program(item: Item) -> str:
    caller = item.get("caller")
    return str(caller.get("caller_id") or "") if isinstance(caller, dict) else ""


def callers_without_programs(items: Items) -> Iterator[str]:
    """Yield the programs that made a call and are not before it."""
    seen = {""}
    for item in items:
        if type_of(item) == "program":
            seen.add(item["call_id"])
        elif _program(item) not in seen:
            yield _program(item)


def other_callers(items: Items) -> Iterator[str]:
    """Yield the outputs that name another program than their call."""
    callers = {call_of(item): _program(item) for item in items if type_of(item) in CALLS}
    outputs = [item for item in items if type_of(item) in OUTPUTS and item.get("caller")]
    yield from (call_of(item) for item in outputs if callers.get(call_of(item)) not in (None, _program(item)))


def other_screenshots(items: Items) -> Iterator[str]:
    """Yield the outputs of computer calls that are no screenshot."""
    outputs = (item for item in items if type_of(item) == "computer_call_output")
    types = ((each, each["output"].get("type") if isinstance(each["output"], dict) else "") for each in outputs)
    return (str(each.get("call_id")) for each, kind in types if kind != "computer_screenshot")


def other_shell_outputs(items: Items) -> Iterator[str]:
    """Yield the outputs of shell calls that are no list of outputs with an outcome."""
    for item in items:
        if type_of(item) == "shell_call_output":
            output = item.get("output")
            if not isinstance(output, list) or not all(
                {"stdout", "stderr", "outcome"} <= each.keys() for each in output
            ):
                yield str(item.get("call_id"))


def misplaced_triggers(items: Items) -> Iterator[str]:
    """Yield the triggers of a compaction that are not the last item."""
    return ("compaction_trigger" for item in items[:-1] if type_of(item) == "compaction_trigger")


RULES = (
    Rule("No tool output found for function call", _CALLS, calls_without_outputs, is_repaired=True),
    Rule("No tool call found for function call output with call_id", _CALLS, outputs_without_calls, is_repaired=True),
    Rule("'reasoning' was provided without its required following item", _REASONING, reasoning_without_followers,
         is_repaired=True),
    Rule("was provided without its required 'reasoning' item", _REASONING, items_without_reasoning, is_repaired=True),
    Rule("Duplicate item found with id", _REFERENCE, repeated_ids),
    Rule("approval_request_id names an mcp_approval_request before it", _MCP, approvals_without_requests),
    Rule("a client's tool_search_output answers its tool_search_call", _SEARCH, unpaired_client_searches),
    Rule("a server's tool_search_output follows its tool_search_call", _SEARCH, unpaired_server_searches),
    Rule("program has its program_output", _PROGRAMS, programs_without_outputs),
    Rule("program_output has its program", _PROGRAMS, outputs_without_programs),
    Rule("caller_id names a program before it", _PROGRAMS, callers_without_programs),
    Rule("an output has the caller of its call", _PROGRAMS, other_callers),
    Rule("computer_call_output.output must be a computer_screenshot", _COMPUTER, other_screenshots),
    Rule("shell_call_output.output must be a list of stdout, stderr and outcome", _SHELL, other_shell_outputs),
    Rule("compaction_trigger must be the final input item", _REFERENCE, misplaced_triggers),
)  # fmt: skip
