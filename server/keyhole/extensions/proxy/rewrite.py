"""Rewrite lists and calls of tools: add the tool that reads on and the argument for a question, and remove schemas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final

from keyhole.render.budget import DECLARED_CHARS

READER: Final = "read_artifact"
"""The tool that reads on in a stored result. Keyhole answers it, not the server."""
PREFIXED_READER: Final = "keyhole_read_artifact"
"""The name of this tool if the server has a tool with the name `READER`."""
QUERY_ARGUMENT: Final = "keyhole_query"
"""The optional argument with the question that a bounded result should answer."""
INSTRUCTION: Final = (
    "Keyhole bounds this server's long results: the parts that fit the call are shown verbatim, the whole result is "
    "stored, and its line 'Next:' is the exact {reader} call that reads on."
)
MAX_QUERY: Final = 500
"""The most characters of a call's arguments that rank the parts of its result: a question, not a file's content."""
MAX_VALUE: Final = 200
"""The longest argument that is used for ranking. Longer values are content to be written, not a question."""

QUERY_SCHEMA: Final = {
    "type": "string",
    "description": "What you want to know from the result, in its words. A long result then shows the parts about it.",
}
_READER_DESCRIPTION: Final = (
    "Read the stored full text of a result that was shortened: a range by `offset` and `limit` (characters), or the "
    "passages for a `query`, or the place of a quote (`find`). Use it to follow the 'Next:' line of an earlier result. "
    "Consecutive ranges join to the exact text."
)
_PATH_ARGUMENTS: Final = ("path", "file", "file_path", "filename", "filepath", "uri")
_COMMAND_ARGUMENTS: Final = ("command", "cmd")


@dataclass(frozen=True, slots=True)
class Policy:
    """The options of the command line: the tools whose results are bounded, and how."""

    only: tuple[str, ...] = ()
    """Patterns of the tools that are bounded, such as `get_*`; empty for all."""
    excluded: tuple[str, ...] = ()
    """Patterns of tools whose results are never changed."""
    tool_bytes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """The budget of single tools in bytes, by name."""
    asks_query: bool = True
    """True to add `QUERY_ARGUMENT` to the tools that have no argument of that name."""

    def bounds(self, tool: str) -> bool:
        """Return whether the results of a tool are bounded."""
        is_chosen = not self.only or _matches(tool, self.only)
        return is_chosen and not _matches(tool, self.excluded)


@dataclass(frozen=True, slots=True)
class Intent:
    """The facts of a call that are known before its result arrives."""

    tool: str
    query: str = ""
    """The words that rank the parts of the result."""
    command: str = ""
    """The command line that the tool runs, or the tool's name."""
    name: str = ""
    """The name of the file that the tool reads, which tells the kind of its content."""
    has_question: bool = False
    """True if the call says what its result should answer."""

    @property
    def is_whole_file(self) -> bool:
        """True if the call reads a file as a whole, as an agent does to edit it: a path, and no question."""
        return "." in self.name[1:] and not self.has_question


def rewrite_tools(tools: Sequence[Any], policy: Policy) -> list[Any]:
    """Return the tools of the server as the client sees them.

    A bounded tool has no `outputSchema`: a shortened result has no `structuredContent` that could match it.
    """
    return [_rewrite_tool(tool, policy) for tool in tools]


def _rewrite_tool(tool: Any, policy: Policy) -> Any:
    if not isinstance(tool, dict) or not policy.bounds(str(tool.get("name"))):
        return tool
    tool = {name: value for name, value in tool.items() if name != "outputSchema"}
    schema = tool.get("inputSchema")
    if policy.asks_query and isinstance(schema, dict):
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        if QUERY_ARGUMENT not in properties:
            tool["inputSchema"] = {**schema, "properties": {**properties, QUERY_ARGUMENT: QUERY_SCHEMA}}
    return tool


def with_own_query(tools: Iterable[Any]) -> frozenset[str]:
    """Return the names of the tools whose own schema has the argument `QUERY_ARGUMENT`. It stays in their calls."""
    schemas = ((tool.get("name"), tool.get("inputSchema")) for tool in tools if isinstance(tool, dict))
    return frozenset(
        str(name)
        for name, schema in schemas
        if isinstance(schema, dict) and QUERY_ARGUMENT in (schema.get("properties") or ())
    )


def reader_name(tools: Sequence[Any], known: str = READER) -> str:
    """Return the name of Keyhole's own tool, which differs from the names of `tools`.

    `known`: its name after earlier pages of the list.
    """
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)]
    return PREFIXED_READER if known in names else known


def reader_tool(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of Keyhole's own tool for a list of tools."""
    title = "Read on in a stored result"
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    return {
        "name": name,
        "title": title,
        "description": _READER_DESCRIPTION,
        "inputSchema": dict(schema),
        "annotations": {"title": title, **hints},
        "_meta": {"anthropic/maxResultSizeChars": DECLARED_CHARS},
    }


def rewrite_instructions(result: Mapping[str, Any], reader: str) -> dict[str, Any]:
    """Return the result of `initialize` or `server/discover` with one more line, and with the capability of tools."""
    given = result.get("instructions")
    lines = [*([given] if isinstance(given, str) and given else []), INSTRUCTION.format(reader=reader)]
    capabilities = capabilities_of(result)
    if "tools" not in capabilities:
        capabilities = {**capabilities, "tools": {}}
    return {**result, "capabilities": capabilities, "instructions": "\n".join(lines)}


def capabilities_of(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the capabilities in the result of `initialize` or `server/discover`."""
    capabilities = result.get("capabilities")
    return capabilities if isinstance(capabilities, dict) else {}


def split_query(params: Mapping[str, Any], *, is_own: bool = False) -> tuple[Mapping[str, Any], str]:
    """Return the parameters and the `QUERY_ARGUMENT` of a call. It is removed, unless it is the tool's own."""
    arguments = params.get("arguments")
    if not isinstance(arguments, dict) or QUERY_ARGUMENT not in arguments:
        return params, ""
    rest = {name: value for name, value in arguments.items() if name != QUERY_ARGUMENT}
    query = arguments[QUERY_ARGUMENT] if isinstance(arguments[QUERY_ARGUMENT], str) else ""
    return (params if is_own else {**params, "arguments": rest}), query


def _matches(tool: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in patterns)


def read_intent(tool: str, arguments: object, query: str = "") -> Intent:
    """Return the intent of a call. Without a `query`, its string arguments rank the result."""
    values = arguments if isinstance(arguments, dict) else {}
    texts = {name: value for name, value in values.items() if isinstance(value, str) and len(value) <= MAX_VALUE}
    command = next((texts[name] for name in _COMMAND_ARGUMENTS if name in texts), tool)
    path = next((texts[name] for name in _PATH_ARGUMENTS if name in texts), "")
    words = (query or " ".join(texts.values()))[:MAX_QUERY]
    name = path.replace("\\", "/").rpartition("/")[2]
    return Intent(tool, words, command, name, has_question=bool(query))
