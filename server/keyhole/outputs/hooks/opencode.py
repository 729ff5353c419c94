"""opencode's events and answers, in the form in which its plugin passes them on. Pure.

The plugin gives the two arguments of `tool.execute.after` and its folder: `{"input": …, "output": …, "directory": …}`.
The answer `{"output": …}` has the keys of `output` that change: `output`, or `content` for a tool of an MCP server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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

SHELL: Final = "bash"
ENDING: Final = lazy_pattern(
    r"\n\n<shell_metadata>\n"
    r"(?:shell tool terminated command after exceeding timeout \d+ ms\.[\w ,]*\.|User aborted the command)"
    r"\n</shell_metadata>\Z"
)
"""What opencode adds to the output of a command that it stopped."""
END_CHARS: Final = 200
"""Characters of the end of an output. A saved file that ends with them is complete."""
SEARCHES: Final = frozenset({"grep", "glob", "list"})


def find(event: Json, environment: Mapping[str, str]) -> Result | None:
    """Return the result of an event, None if it is to be left alone."""
    call, output = table_at(event, "input"), table_at(event, "output")
    tool, arguments = text_at(call, "tool"), table_at(call, "args")
    blocks, text = output.get("content"), text_at(output, "output")
    if is_own_tool(tool):
        return None
    if isinstance(blocks, list) and "output" not in output and block_texts(blocks):
        return Result("\n".join(block_texts(blocks)), describe_call(tool, arguments))
    if not text:
        return None
    if tool == SHELL:
        metadata = table_at(output, "metadata")
        status = metadata.get("exit")
        ended = ENDING.search(text)
        text = text[: ended.start()] if ended else text
        return shell_result(text, arguments)._replace(
            saved=text_at(metadata, "outputPath"),
            saved_in=_folder(environment),
            saved_end=text[-END_CHARS:],
            exit_status=status if isinstance(status, int) else None,
            ending=ended[0] if ended else "",
        )
    if tool == "read":
        return read_result(text, text_at(arguments, "filePath"), arguments)
    return Result(text, describe_call(tool, arguments)) if tool in SEARCHES else None


def answer(event: Json, text: str) -> Json:
    """Return the answer that replaces the result of an event by `text`."""
    output = event["output"]
    changed = {"output": text} if "output" in output else {"content": replace_text(output["content"], text)}
    return {"output": changed}


def _folder(environment: Mapping[str, str]) -> str:
    """Return the folder in which opencode saves long outputs."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    data = environment.get("XDG_DATA_HOME") or (f"{home}/.local/share" if home else "")
    return f"{data}/opencode/tool-output" if data else ""
