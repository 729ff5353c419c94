"""Events as clients give them to hooks after a shell command, and the texts in the answers. Pure.

The forms are those of the recorded events in `tests/outputs/hooks/payloads`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

COMMAND: Final = "make test"
ERROR: Final = "main.c:218:9: error: unknown type name lamp_t"
LARGE: Final = 100_000
"""Characters of a large output: more than what clients show of one."""
_ANSWERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "claude": ("hookSpecificOutput", "updatedToolOutput", "stdout"),
    "codex": ("reason",),
    "copilot": ("modifiedResult", "textResultForLlm"),
    "opencode": ("output", "output"),
})  # fmt: skip
"""The keys that lead to the text in each client's answer."""


def large_output() -> str:
    """Return the output of a build with one error in its middle."""
    lines = [f"[{number:5}] cc -c part{number}.c -o part{number}.o" for number in range(LARGE // 40)]
    lines[len(lines) // 2] = ERROR
    return "\n".join(lines)


def make_event(client: str, output: str) -> bytes:
    """Return the event of a shell command with this output. `client`: as in `keyhole hook CLIENT`."""
    call = {"command": COMMAND}
    events: Mapping[str, Mapping[str, Any]] = {
        "claude": {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": call,
            "tool_response": {"stdout": output, "stderr": "", "interrupted": False, "isImage": False},
        },
        "codex": {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": call, "tool_response": output,
        },
        "copilot": {
            "toolName": "bash", "toolArgs": call,
            "toolResult": {"resultType": "success", "textResultForLlm": output},
        },
        "opencode": {
            "input": {"tool": "bash", "args": call},
            "output": {"title": COMMAND, "output": output, "metadata": {"exit": 0}},
        },
    }  # fmt: skip
    return json.dumps(events[client]).encode()


def answer_fault(client: str, answer: bytes) -> str:
    """Return the fault of an answer to the event of `large_output`, or "" if it is a bounded text with the error."""
    if not answer.strip():
        return f"it does not answer to {LARGE:,} characters of output"
    try:
        text = json.loads(answer)
        for key in _ANSWERS[client]:
            text = text[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return "its answer has not the form that the client reads"
    if not isinstance(text, str) or len(text) >= LARGE // 2 or ERROR not in text:
        return "its answer is not a bounded text"
    return ""
