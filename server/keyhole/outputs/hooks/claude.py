"""Claude Code's events and answers. Pure.

`PostToolUse` gives `tool_response` and takes `updatedToolOutput` of the same shape. A command that failed fires another
event, whose text cannot be replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from keyhole.outputs.hooks.event import (
    Result,
    block_texts,
    describe_call,
    is_own_tool,
    read_result,
    replace_text,
    shell_result,
    table_at,
    text_at,
)
from keyhole.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.outputs.hooks.event import Json

SHELLS: Final = frozenset({"Bash", "PowerShell"})
BACKGROUND: Final = "TaskOutput"
"""The tool that returns the output of a command in the background, or of an agent."""
SEARCHES: Final = frozenset({"Grep", "Glob"})
"""The tools whose result has lines in `content`, or names of files in `filenames`."""
SAVED_AT: Final = lazy_pattern(
    r"Error: result \([^)]*\) exceeds maximum allowed tokens\. Output has been saved to (.+)\.\n"
)
"""The text that Claude Code gives in place of an MCP tool's result that exceeds its limit."""
READ_NOTE: Final = (
    "Lines are numbered as shown here, not as in the file. Read with offset and limit returns exact lines of the file."
)
"""Note before a file that was read: Claude Code numbers the lines of the text that the hook returns."""


def find(event: Json, _environment: Mapping[str, str]) -> Result | None:
    """Return the result of an event, None if it is to be left alone."""
    tool, arguments, response = text_at(event, "tool_name"), table_at(event, "tool_input"), event.get("tool_response")
    if event.get("hook_event_name") != "PostToolUse" or is_own_tool(tool):
        return None
    if tool.startswith("mcp__"):
        return _mcp(event, tool, arguments, response)
    if not isinstance(response, dict):
        return None
    if tool in SHELLS and isinstance(response.get("stdout"), str) and _is_plain(response):
        text = "\n".join(filter(None, (response["stdout"], text_at(response, "stderr"))))
        saved = text_at(response, "persistedOutputPath")
        return shell_result(text, arguments)._replace(saved=saved, saved_in=_folder(event))
    if tool == BACKGROUND and (task := table_at(response, "task")).get("task_type") == "local_bash":
        status = task.get("exitCode")
        exit_status = status if isinstance(status, int) else None
        return Result(text_at(task, "output"), about=text_at(task, "description"), exit_status=exit_status)
    if tool in SEARCHES:
        return Result(text_at(response, "content") or _file_names(response), describe_call(tool.lower(), arguments))
    if tool == "Read" and response.get("type") == "text" and isinstance(table_at(response, "file").get("content"), str):
        file = table_at(response, "file")
        return read_result(file["content"], text_at(arguments, "file_path"), arguments, READ_NOTE)
    return None


def answer(event: Json, text: str) -> Json:
    """Return the answer that replaces the result of an event by `text`."""
    replaced = _replace(text_at(event, "tool_name"), event["tool_response"], text)
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": replaced}}


def _mcp(event: Json, tool: str, arguments: Json, response: object) -> Result | None:
    call = describe_call(tool, arguments)
    if isinstance(response, str):
        saved = SAVED_AT.match(response)
        return Result(response, call, saved=saved[1] if saved else "", saved_in=_folder(event))
    if isinstance(response, list) and block_texts(response):
        return Result("\n".join(block_texts(response)), call)
    return None


def _replace(tool: str, response: Any, text: str) -> Any:
    if isinstance(response, str):
        return text
    if isinstance(response, list):
        return replace_text(response, text)
    if tool == "Read":
        return {**response, "file": {**response["file"], "content": text, "numLines": text.count("\n") + 1}}
    if tool == BACKGROUND:
        return {**response, "task": {**response["task"], "output": text}}
    if tool in SEARCHES and not text_at(response, "content"):
        return {**response, "filenames": [text]}
    if tool in SEARCHES:
        return {**response, "content": text, "numLines": text.count("\n") + 1}
    kept = {name: value for name, value in response.items() if not name.startswith("persistedOutput")}
    return {**kept, "stdout": text, "stderr": ""}


def _file_names(response: Json) -> str:
    """Return the names of files that a search found, one on each line, "" if it found none."""
    names = response.get("filenames")
    return "\n".join(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else ""


def _is_plain(response: Json) -> bool:
    """Return whether the result of a command is text alone."""
    return not (response.get("isImage") or response.get("structuredContent"))


def _folder(event: Json) -> str:
    """Return the folder in which Claude Code saves the results of a session, beside the session's transcript."""
    transcript = text_at(event, "transcript_path")
    return f"{transcript.removesuffix('.jsonl')}/tool-results" if transcript.endswith(".jsonl") else ""
