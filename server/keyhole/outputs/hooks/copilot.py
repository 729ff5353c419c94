"""Copilot CLI's events and answers. Pure.

`postToolUse` gives `toolResult` and takes `modifiedResult`. Over 20 KiB, the result is a message with the name of the
file that has the whole text and the first 500 characters.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from keyhole.outputs.hooks.event import (
    Result,
    describe_call,
    is_own_tool,
    read_result,
    shell_result,
    table_at,
    text_at,
)
from keyhole.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.outputs.hooks.event import Json

SHELLS: Final = frozenset({"bash", "read_bash", "powershell", "read_powershell"})
SEARCHES: Final = frozenset({"grep", "glob"})
VIEW_NOTE: Final = "View with view_range returns exact lines of the file."
ENDING: Final = lazy_pattern(
    r"\n<(?:shellId: \S+ completed with exit code (-?\d+)"
    r"|command with shellId: \S+ is still running after [\d.]+ seconds\.[\w ,.;]*)>\Z"
)
"""The last line of a command's result, which Copilot CLI adds."""
SAVED: Final = lazy_pattern(
    r"Output too large to read at once \([\d.]+ [KMG]?B\)\. Saved to: "
    r"(\S.*[/\\]\d+-copilot-tool-output-[\w-]+\.txt)\n[^\n]*\n\nPreview \(first \d+ chars\):\n(.{20,})",
    re.DOTALL,
)
"""The message, its file and the beginning of the text. A tool can write such a message too."""


def find(event: Json, environment: Mapping[str, str]) -> Result | None:
    """Return the result of an event, None if it is to be left alone."""
    tool, text = text_at(event, "toolName"), text_at(table_at(event, "toolResult"), "textResultForLlm")
    if is_own_tool(tool) or not text:
        return None
    found, arguments = None, _arguments(event)
    if tool in SHELLS:
        found = _without_ending(shell_result(text, arguments))
    elif tool in SEARCHES or "-" in tool:  # an MCP tool has a hyphen after its server's name, and no other tool has one
        found = Result(text, describe_call(tool, arguments))
    elif tool == "view":
        return read_result(text, text_at(arguments, "path"), arguments, VIEW_NOTE)
    if found and (saved := SAVED.fullmatch(found.text)):
        beginning = saved[2].removesuffix("\ufffd")  # half of a character, which the preview's end can cut
        return found._replace(saved=saved[1], beginning=beginning, saved_in=_folder(environment))
    return found


def answer(event: Json, text: str) -> Json:
    """Return the answer that replaces the result of an event by `text`."""
    return {"modifiedResult": {**table_at(event, "toolResult"), "textResultForLlm": text}}


def _arguments(event: Json) -> Json:
    """Return the arguments of a call. Early versions of Copilot CLI give them as JSON in a text."""
    text = text_at(event, "toolArgs")
    return table_at({"toolArgs": json.loads(text)} if text else event, "toolArgs")


def _without_ending(found: Result) -> Result:
    """Return a command's result with Copilot CLI's last line as its `ending`, and the exit status that the line has."""
    ended = ENDING.search(found.text)
    if ended is None:
        return found
    exit_status = int(ended[1]) if ended[1] else None
    return found._replace(text=found.text[: ended.start()], ending=ended[0], exit_status=exit_status)


def _folder(environment: Mapping[str, str]) -> str:
    """Return the folder for temporary files, as Node's `os.tmpdir` does."""
    folder = next((environment[name] for name in ("TMPDIR", "TMP", "TEMP") if environment.get(name)), "/tmp")  # noqa: S108
    return folder if len(folder) == 1 else folder.rstrip("/\\")
