"""Each rule of a provider finds what breaks it, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.pairing import CHECKERS, RULES
from tests.support.pairing.rules import sign

Items = list[dict[str, Any]]
Case = tuple[str, Items, Items]
"""The beginning of a rule's name, a conversation that breaks it and no other rule, and one that obeys it."""


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content) if content else "Go."}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content) if content else "Done."}


def use(id: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "sh", "input": {}, **fields}


def result(id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "ok"}


TEXT = {"type": "text", "text": "Hm."}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
RAN = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {}}
THOUGHT = {"type": "thinking", "thinking": "a", "signature": sign("a")}
IMAGE = {"type": "image", "source": {}}
BY_PROGRAM = {"caller": {"type": "code_execution_20260120", "tool_id": "s"}}
SUMMARY = {"type": "compaction", "content": "x"}
ANTHROPIC: list[Case] = [
    ("first message", [assistant(), user()], [user(), assistant()]),
    ("`tool_use` ids were found", [user(), assistant(use("a")), user(), assistant()],
     [user(), assistant(use("a")), user(result("a")), assistant(use("b"))]),
    ("unexpected `tool_use_id`", [user(), assistant(), user(result("a"))],
     [user(), assistant(use("a")), user(result("a"))]),
    ("each `tool_use` must", [user(), assistant(use("a")), user(result("a"), result("a"))],
     [user(), assistant(use("a"), use("b")), user(result("b")), user(result("a"))]),
    ("`tool_use` ids must be unique", [user(), assistant(use("a"), use("a")), user(result("a"))],
     [user(), assistant(use("a"), use("b")), user(result("a"), result("b"))]),
    ("tool_result blocks come first", [user(), assistant(use("a")), user(TEXT, result("a"))],
     [user(), assistant(use("a")), user(result("a"), TEXT)]),
    ("messages must have non-empty", [user(), {"role": "assistant", "content": []}], [user(), assistant(TEXT)]),
    ("tool use was found without", [user(), assistant(SEARCH), user(), assistant()],
     [user(), assistant(SEARCH), assistant(FOUND), user(), assistant(SEARCH | {"id": "t"})]),
    ("`*_tool_result` block without", [user(), assistant(FOUND)],
     [user(), assistant(SEARCH, use("a")), user(result("a")), assistant(FOUND, TEXT)]),
    ("`*_tool_result` block without", [user(), assistant(SEARCH), user(), assistant(FOUND)][2:],
     [user(), assistant(SEARCH | {"type": "mcp_tool_use"}, FOUND | {"type": "mcp_tool_result"})]),
    ("blocks of server tools", [user(), assistant(SEARCH, FOUND), user(SEARCH)], [user(), assistant(SEARCH, FOUND)]),
    ("`caller.tool_id`", [user(), assistant(use("a", **BY_PROGRAM)), user(result("a"))],
     [user(), assistant(SEARCH, use("a", **BY_PROGRAM)), user(result("a")), assistant(use("b", **BY_PROGRAM)),
      user(result("b")), assistant(RAN)]),
    ("a response to programmatic", [user(), assistant(SEARCH, use("a", **BY_PROGRAM)), user(result("a"), TEXT)],
     [user(), assistant(SEARCH, use("a", caller={"type": "direct"})), user(result("a"), TEXT)]),
    ("Expected `thinking`", [user(), assistant(TEXT, THOUGHT, use("a")), user(result("a"))],
     [user(), assistant(THOUGHT, TEXT, use("a")), user(result("a")), assistant(use("b")), user(result("b"))]),
    ("`thinking` blocks", [user(), assistant(THOUGHT | {"thinking": "b"}, TEXT)],
     [user(), assistant(THOUGHT, TEXT), user(), assistant(THOUGHT | {"signature": "of the provider"}, TEXT)]),
    ("the final block", [user(), assistant(THOUGHT)], [user(), assistant(THOUGHT, TEXT)]),
    ("a system message", [user(), {"role": "system", "content": "x"}, user()],
     [user(), {"role": "system", "content": "x"}, assistant()]),
    ("too many images", [user(*[IMAGE] * 99), assistant(use("a")), user(result("a") | {"content": [IMAGE] * 2})],
     [user(*[IMAGE] * 100)]),
    ("compaction_block_ambiguous", [user(SUMMARY), assistant(SUMMARY)],
     [user(SUMMARY), assistant(SUMMARY | {"content": None})]),
]  # fmt: skip


def calls(*ids: str, kind: str = "function") -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": kind, kind: {}} for id in ids]}


def tool(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


LEGACY = {"role": "assistant", "content": None, "function_call": {"name": "sh", "arguments": "{}"}}
NAMED = {"role": "function", "name": "sh", "content": "ok"}
NAMELESS = {"role": "assistant", "tool_calls": [{"type": "function", "function": {}}]}
CHAT: list[Case] = [
    ("An assistant message", [user(), calls("a", "b"), tool("a"), user()],
     [user(), calls("a", "b"), tool("b"), {"role": "critic"}, tool("a"), user(), calls("c")]),
    ("An assistant message", [user(), LEGACY, user()], [user(), LEGACY, NAMED, user(), LEGACY]),
    ("Messages with role 'tool'", [user(), tool("a")], [user(), calls("a", kind="custom"), tool("a")]),
    ("Messages with role 'tool'", [user(), LEGACY, NAMED, NAMED],
     [user(), NAMELESS, {"role": "tool", "content": "ok"}, user()]),
    ("[] is too short", [user(), calls()], [user(), assistant()]),
]  # fmt: skip


def item(kind: str, call_id: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": kind, **({"call_id": call_id} if call_id else {}), **fields}


def reasoning(id: str) -> dict[str, Any]:
    return item("reasoning", id=id, summary=[])


CALL, OUTPUT = item("function_call", "a"), item("function_call_output", "a", output="ok")
LOCAL = [item("local_shell_call", "a", id="lsh"), item("local_shell_call_output", id="a", output="ok")]
ASKED = item("mcp_approval_request", id="r")
APPROVED = item("mcp_approval_response", approval_request_id="r", approve=True)
PROGRAM, RAN_PROGRAM = item("program", "p", id="x"), item("program_output", "p", id="y")
CALLER = {"caller": {"type": "program", "caller_id": "p"}}
CLIENT, SERVER = {"execution": "client"}, {"execution": "server"}
SEARCHED = [item("tool_search_call", **SERVER), item("tool_search_output", **SERVER)]
SHOT = item("computer_call_output", "a", output={"type": "computer_screenshot", "image_url": "data:"})
SHELL = item("shell_call_output", "a", output=[{"stdout": "", "stderr": "", "outcome": {}}])
RESPONSES: list[Case] = [
    ("No tool output found", [CALL, user()], [CALL, OUTPUT, user(), item("custom_tool_call", "b")]),
    ("No tool call found", [user(), OUTPUT], [user(), *LOCAL, item("note_of_a_client")]),
    ("No tool call found", [item("custom_tool_call", "a"), OUTPUT], [CALL, item("item_reference", id="m"), OUTPUT]),
    ("'reasoning' was provided", [reasoning("r"), user()], [reasoning("r"), reasoning("s"), CALL, OUTPUT]),
    ("'reasoning' was provided", [reasoning("r"), reasoning("s"), CALL | {"reasoning_id": "s"}, OUTPUT][:1],
     [reasoning("r"), item("image_generation_call", id="i", reasoning_id="r")]),
    ("'reasoning' was provided", [reasoning("s"), CALL | {"reasoning_id": "s"}, reasoning("r"),
                                  item("web_search_call", id="w", reasoning_id="s")],
     [reasoning("r"), item("code_interpreter_call"), item("file_search_call", reasoning_id="r")]),
    ("was provided without its required 'reasoning'", [CALL | {"reasoning_id": "r"}],
     [reasoning("r"), CALL | {"reasoning_id": "r"}, OUTPUT]),
    ("Duplicate item", [assistant() | {"id": "m"}, assistant() | {"id": "m"}],
     [assistant() | {"id": "m"}, item("item_reference", id="m")]),
    ("approval_request_id", [user(), APPROVED], [ASKED, APPROVED, item("mcp_call", id="c", approval_request_id="r")]),
    ("approval_request_id", [item("mcp_call", id="c", approval_request_id="r")],
     [item("mcp_list_tools", id="l"), item("mcp_call", id="c", approval_request_id=None)]),
    ("a client's tool_search_output", [item("tool_search_output", "a", **CLIENT)],
     [item("tool_search_call", "a", **CLIENT), item("tool_search_output", "a", **CLIENT)]),
    ("a client's tool_search_output", [item("tool_search_call", "a", **CLIENT), user()],
     [user(), item("tool_search_call", "a", **CLIENT)]),
    ("a server's tool_search_output", SEARCHED[1:], [*SEARCHED, item("additional_tools"), *SEARCHED]),
    ("a server's tool_search_output", SEARCHED[:1], SEARCHED),
    ("program has its program_output", [PROGRAM, user()], [PROGRAM, RAN_PROGRAM, user(), item("program", "q")]),
    ("program_output has its program", [RAN_PROGRAM], [PROGRAM, CALL | CALLER, OUTPUT | CALLER, RAN_PROGRAM]),
    ("caller_id names a program", [CALL | CALLER, OUTPUT], [PROGRAM, CALL | CALLER, OUTPUT]),
    ("an output has the caller", [PROGRAM, CALL, OUTPUT | CALLER], [PROGRAM, CALL | CALLER, OUTPUT | CALLER]),
    ("computer_call_output.output", [item("computer_call", "a"), SHOT | {"output": "[Left out]"}],
     [item("computer_call", "a"), SHOT]),
    ("shell_call_output.output", [item("shell_call", "a"), SHELL | {"output": "[Left out]"}],
     [item("shell_call", "a"), SHELL]),
    ("compaction_trigger", [item("compaction_trigger"), user()],
     [item("compaction", id="c", encrypted_content="x"), user(), item("compaction_trigger")]),
]  # fmt: skip


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def person(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts) or [{"text": "Go."}]}


def function(name: str, **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **fields}}


def response(name: str, **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"result": "ok"}, **fields}}


SNAKE = [model({"function_call": {"name": "a"}}), {"role": "function", "parts": [{"function_response": {"name": "a"}}]}]
SIGNED = function("a") | {"thoughtSignature": sign("a")}
CODE, CODE_RESULT = {"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "1"}}
TOOL, TOOL_RESPONSE = {"toolCall": {"id": "t"}}, {"toolResponse": {"id": "t"}}
GEMINI: list[Case] = [
    ("Please ensure that single turn", [model({"text": "x"}), person()],
     [{"parts": [{"text": "x"}]}, model(function("a"))]),
    ("the number of function response",
     [person(), model(function("a"), function("b")), person(response("a")), model({"text": "x"})],
     [person(), model(function("a"), function("b")), person(response("b"), response("a")),
      model(function("a"), function("b")), person(response("a"))]),
    ("the number of function response", [person(), model(function("a")), person()], [person(), *SNAKE, person()]),
    ("a function response names", [person(), model(function("a", id="1")), person(response("a", id="2"))],
     [person(), model(function("a", id="1")), person(response("a")), model(function("a")),
      person(response("a", id="1"))]),
    ("function response turn", [person(response("a"))], [person(), *SNAKE]),
    ("function call turn", [person(), model({"text": "x"}), model(function("a"))],
     [person(), *SNAKE, model({"text": "x"}, function("a"))]),
    ("a thought signature", [person(), model(SIGNED | function("b"))], [person(), model(SIGNED)]),
    ("codeExecutionResult", [person(), model(CODE_RESULT)], [person(), model(CODE), model(CODE_RESULT, {"text": "x"})]),
    ("toolResponse", [person(), model(TOOL_RESPONSE)], [person(), model(TOOL, function("a")), person(response("a")),
                                                        model(TOOL_RESPONSE)]),
    ("toolResponse", [person(), model(TOOL), person()], [person(), model(TOOL)]),
    ("contents.parts", [person(), {"role": "model", "parts": []}], [person(), model({"text": "x"})]),
]  # fmt: skip
CASES = [
    (format, *case)
    for format, cases in {"chat": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC, "gemini": GEMINI}.items()
    for case in cases
]


@pytest.mark.parametrize(("format", "name", "violating", "obeying"), CASES)
def test_a_rule_finds_what_breaks_it(format: str, name: str, violating: Items, obeying: Items) -> None:
    assert CHECKERS[format](obeying) == []
    assert [fault[: len(name)] for fault in CHECKERS[format](violating)] == [name]


def test_each_rule_has_an_example() -> None:
    names = {(format, rule.name) for format, rules in RULES.items() for rule in rules}
    assert {(format, each) for format, each in names for _, name, _, _ in CASES if each.startswith(name)} == names
