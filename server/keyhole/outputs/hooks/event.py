"""Read the event that a client gives to its hook, as far as all clients are alike. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from keyhole.text.output_facts import WHOLE_FILE_CHARS

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = Mapping[str, Any]

MAX_ARGUMENT: Final = 200
"""Characters of one argument in the line that describes a call."""
OWN_TOOLS: Final = ("web_fetch", "search", "read_artifact")


class Result(NamedTuple):
    """A tool's result, which is bounded if it is over the budget."""

    text: str
    """What the client gave to the hook, which may be a part of the whole."""
    command: str = ""
    """The command line, or the tool's name with the texts among its arguments."""
    name: str = ""
    """The name of the file that was read."""
    about: str = ""
    """What the call is for, in the words of the model that made it."""
    saved: str = ""
    """The file in which the client saved the whole text, "" if there is none."""
    saved_in: str = ""
    """The only folder in which the client saves such files. A file elsewhere is not read."""
    beginning: str = ""
    """The beginning that the saved text must have, if the tool itself could have written the name of the file."""
    saved_end: str = ""
    """The end of the whole text, if the client may still be writing the file."""
    transcript: str = ""
    """Codex's transcript, which has the exit status and more of the output of the call `call_id`."""
    call_id: str = ""
    exit_status: int | None = None
    least: int = 0
    """The result is left alone up to this many characters, also if the budget is smaller."""
    note: str = ""
    """A line to put before the bounded text."""
    ending: str = ""
    """A line of the client after the result, which stays as it is."""


class Source(NamedTuple):
    """The place from which an event comes."""

    client: str
    """The name of the client, as in the command `keyhole hook CLIENT`."""
    session: str
    """The client's id of its session, "" if the event has none."""
    folder: str
    """The folder in which the client works."""


def read_source(event: Json, client: str) -> Source:
    """Return where an event comes from."""
    session = (
        text_at(event, "session_id") or text_at(event, "sessionId") or text_at(table_at(event, "input"), "sessionID")
    )
    return Source(client, session, text_at(event, "cwd") or text_at(event, "directory"))


def is_own_tool(name: str) -> bool:
    """Return whether a tool is one of Keyhole's, whose results are within a budget.

    Clients put the server's name before the tool's: `mcp__keyhole__search`, `keyhole-search`, `keyhole_search`.
    """
    return name.endswith("read_artifact") or (name.endswith(OWN_TOOLS) and "keyhole" in name.lower())


def table_at(event: Json, name: str) -> Json:
    """Return the object of a key, an empty one if there is none."""
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def text_at(event: Json, name: str) -> str:
    """Return the text of a key, "" if there is none."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def describe_call(tool: str, arguments: Json) -> str:
    """Return a tool call in the form of a shell's command line: the tool's name and its short text arguments."""
    from shlex import join

    texts = [value for value in arguments.values() if isinstance(value, str) and 0 < len(value) <= MAX_ARGUMENT]
    return join([tool, *texts])


def shell_result(text: str, arguments: Json) -> Result:
    """Return the result of a command."""
    return Result(text, text_at(arguments, "command"), about=text_at(arguments, "description"))


def read_result(text: str, path: str, arguments: Json, note: str = "") -> Result | None:
    """Return the result of reading a file, None if the call names the part to read."""
    if any(arguments.get(name) is not None for name in ("offset", "limit", "pages", "view_range")):
        return None
    return Result(text, name=path.replace("\\", "/").rpartition("/")[2], least=WHOLE_FILE_CHARS, note=note)


def block_texts(blocks: list[Any]) -> list[str]:
    """Return the texts of the blocks of an MCP result."""
    return [text for block in blocks if (text := _block_text(block)) is not None]


def replace_text(blocks: list[Any], text: str) -> list[Any]:
    """Return the blocks with `text` in place of the first text; the other texts are removed, and other blocks stay."""
    first = next(number for number, block in enumerate(blocks) if _block_text(block) is not None)
    replaced = {**blocks[first], "text": text} if blocks[first]["type"] == "text" else {"type": "text", "text": text}
    after = [block for block in blocks[first + 1 :] if _block_text(block) is None]
    return [*blocks[:first], replaced, *after]


def _block_text(block: object) -> str | None:
    """Return the text of a block, or of the resource in it; None if it has none, such as an image."""
    if not isinstance(block, dict) or block.get("type") not in ("text", "resource"):
        return None
    text = (table_at(block, "resource") if block["type"] == "resource" else block).get("text")
    return text if isinstance(text, str) else None
