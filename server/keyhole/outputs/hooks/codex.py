"""Codex's events and answers. Pure.

`PostToolUse` takes a reason to stop. Codex gives it to the model instead of the result, and does not stop. A shell's
output is cut by Codex before the hook gets it, and its exit status is missing; the transcript has the status and more
of the output. `PreToolUse` can run a command through `keyhole shell`, which bounds the whole output; Codex ties this to
an approval of the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keyhole.outputs.hooks.event import (
    Result,
    block_texts,
    describe_call,
    is_own_tool,
    shell_result,
    table_at,
    text_at,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from keyhole.outputs.hooks.event import Json

SHELL: Final = "Bash"
SHELL_NOTE: Final = "Codex tells hooks no exit status, and cut this output if it has a line about truncation."
STOP: Final = "Keyhole shows this result within its budget."

ENVIRONMENT: Final = "KEYHOLE_SHELL_ENVIRONMENT"
"""The variable that passes the environment of Codex's shell to `keyhole shell`. Other users can read the arguments of a
process, but not its variables."""
MAX_ENVIRONMENT: Final = 90_000
"""Greatest environment in bytes that is passed on: in Base64, it must fit into a variable, 131,072 bytes on Linux."""
STARTED_IN: Final = f"$({{ head -c {MAX_ENVIRONMENT} /proc/$$/environ | base64; }} 2>/dev/null)"
"""A shell's expansion of its first environment, "" without a proc file system."""
STATE: Final = r"$- $({ shopt login_shell || tr '\0' '\n' </proc/$$/cmdline | sed -n 2p; } 2>/dev/null)"
"""A shell's expansion to `$-` and to a sign of a login shell: bash's `login_shell` line, or the first argument."""
MAX_COMMAND: Final = 120_000
"""Greatest rewritten command in bytes. Linux allows 131,072 for an argument. A longer command is left alone."""


def find(event: Json, _environment: Mapping[str, str]) -> Result | None:
    """Return the result of an event, None if it is to be left alone."""
    tool, arguments, response = text_at(event, "tool_name"), table_at(event, "tool_input"), event.get("tool_response")
    if event.get("hook_event_name") != "PostToolUse" or is_own_tool(tool):
        return None
    if tool == SHELL and isinstance(response, str):
        transcript, call_id = text_at(event, "transcript_path"), text_at(event, "tool_use_id")
        return shell_result(response, arguments)._replace(note=SHELL_NOTE, transcript=transcript, call_id=call_id)
    if tool.startswith("mcp__") and isinstance(response, dict):
        return _mcp(response, describe_call(tool, arguments))
    return None


def _mcp(response: Json, call: str) -> Result | None:
    """Return the text of a result, None if it has more than text: a hook cannot answer with images or an error mark.

    Codex shows the model `structuredContent` instead of `content` if a result has both.
    """
    blocks = response.get("content")
    if response.get("isError") or not isinstance(blocks, list):
        return None
    if (structured := response.get("structuredContent")) is not None:
        from json import dumps

        return Result(dumps(structured, ensure_ascii=False), call)
    texts = block_texts(blocks)
    return Result("\n".join(texts), call) if len(texts) == len(blocks) else None


def answer(_event: Json, text: str) -> Json:
    """Return the answer that replaces the result of an event by `text`."""
    return {"continue": False, "stopReason": STOP, "reason": text}


def rewrite(event: Json, program: Sequence[str]) -> Json | None:
    """Return the answer that approves a command and runs it through `keyhole shell`, None for any other event.

    `program`: the words of the command line that start Keyhole.
    """
    from shlex import join, quote

    command = text_at(table_at(event, "tool_input"), "command")
    is_shell = event.get("hook_event_name") == "PreToolUse" and event.get("tool_name") == SHELL
    beginning = f'{ENVIRONMENT}="{STARTED_IN}" exec {join(program)} shell -- "$0" "{STATE}" '
    if not is_shell or not command.strip() or command.startswith(beginning):
        return None
    rewritten = beginning + quote(command)
    if len(rewritten.encode("utf-8", "surrogatepass")) > MAX_COMMAND:
        return None
    allowed = {"permissionDecision": "allow", "updatedInput": {**event["tool_input"], "command": rewritten}}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **allowed}}
