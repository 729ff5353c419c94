"""Refuse a client's built-in web fetch once for each address, with the call of Keyhole to make instead.

A hook asks the running shared server, and only its answer refuses: where no server answers, or none of its clients
works in the folder of the event, the client's own tool runs. A second call for the same address runs too, so that an
agent for which Keyhole does not help is never locked out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from keyhole.errors import KeyholeError
from keyhole.fetch.addresses import is_private
from keyhole.fetch.urls import parse_target
from keyhole.outputs.hooks.answer import PREFER_KEY
from keyhole.outputs.hooks.event import read_source, table_at, text_at

if TYPE_CHECKING:
    from keyhole.outputs.hooks.event import Json

MAX_REFUSED: Final = 1_000
"""Refusals that a server remembers, some 200 bytes each. A forgotten one costs an agent one more call."""
MAX_SHOWN: Final = 500
"""Characters of one argument in the call that is named."""
_BUILT_IN: Final[Mapping[str, Mapping[str, tuple[str, Mapping[str, str]]]]] = MappingProxyType(
    {
        "claude": {
            "WebFetch": ("web_fetch", {"url": "url", "prompt": "query"}),
            "WebSearch": ("search", {"query": "query", "allowed_domains": "sites"}),
        },
        "copilot": {"web_fetch": ("web_fetch", {"url": "url"})},
        "opencode": {
            "webfetch": ("web_fetch", {"url": "url"}),
            "websearch": ("search", {"query": "query"}),
        },
    }
)
"""The built-in tools of each client, the tool of Keyhole for each, and its arguments by the names of theirs."""
_NAMES: Final = MappingProxyType({"claude": "mcp__{}__{}", "copilot": "{}-{}", "opencode": "{}_{}"})
"""How each client names the tool of a server."""


class Wanted(NamedTuple):
    """A request for the web that a client's own tool received."""

    built_in: str
    tool: str
    arguments: Mapping[str, Any]
    """The arguments of Keyhole's tool."""


def find_wanted(event: Json, client: str) -> Wanted | None:
    """Return the request in an event before a call, None for any other event and for a local address."""
    call = table_at(event, "input") if client == "opencode" else event
    name = text_at(call, "tool_name") or text_at(call, "toolName") or text_at(call, "tool")
    known = _BUILT_IN.get(client, {}).get(name)
    if known is None:
        return None
    tool, names = known
    given = _arguments(call)
    arguments = {ours: given[theirs] for theirs, ours in names.items() if given.get(theirs)}
    is_usable = is_public(text_at(arguments, "url")) if tool == "web_fetch" else bool(arguments.get("query"))
    return Wanted(name, tool, arguments) if is_usable else None


def _arguments(call: Json) -> Json:
    """Return the arguments of a call. Early versions of Copilot CLI give them as JSON in a text."""
    text = text_at(call, "toolArgs")
    if text:
        return table_at({"found": json.loads(text)}, "found")
    return table_at(call, "tool_input") or table_at(call, "toolArgs") or table_at(call, "args")


def is_public(url: str) -> bool:
    """Return whether a URL names a host of the public web. Keyhole fetches no other by default."""
    try:
        return not is_private(parse_target(url).host)
    except KeyholeError:
        return False


def refusal(wanted: Wanted, client: str, server: str) -> str:
    """Return the text that refuses a call, with the call to make instead."""
    tool = _NAMES[client].format(server, wanted.tool)
    call = ", ".join(f"{name}={_shown(value)}" for name, value in wanted.arguments.items())
    missing = ', query="what you look for"' if wanted.tool == "web_fetch" and "query" not in wanted.arguments else ""
    return (
        f"Use {tool}({call}{missing}): it returns the passages that answer, and keeps the whole text. "
        f"If it does not help, call {wanted.built_in} again: the same call is refused only once."
    )


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else json.dumps(str(value)[:MAX_SHOWN], ensure_ascii=False)


def answer(client: str, text: str) -> Json:
    """Return the answer of a client's hook that refuses a call."""
    if client == "opencode":
        return {"refusal": text}
    decision = {"permissionDecision": "deny", "permissionDecisionReason": text}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}} if client == "claude" else decision


class Preferences:
    """Decides in the server whether a built-in call is refused, and remembers the refused calls. Thread-safe."""

    def __init__(self) -> None:
        self._refused: dict[tuple[str, str], object] = {}

    def answer(self, event: Json, client: str, folders: Collection[str]) -> Json | None:
        """Return the answer to an event before a call, None to let it run.

        `folders`: the working folders of the server's clients. Without one of them around the event's folder, the
        agent may not have Keyhole's tools.
        """
        source, wanted, server = read_source(event, client), find_wanted(event, client), text_at(event, PREFER_KEY)
        if wanted is None or not server or not any(_contains(folder, source.folder) for folder in folders):
            return None
        if not self._is_first(source.session, json.dumps([wanted.tool, wanted.arguments], sort_keys=True)):
            return None
        return answer(client, refusal(wanted, client, server))

    def _is_first(self, session: str, call: str) -> bool:
        if len(self._refused) >= MAX_REFUSED:
            self._refused.clear()
        mark = object()
        return self._refused.setdefault((session, call), mark) is mark


def _contains(folder: str, inner: str) -> bool:
    """Return whether a folder is another one or around it. The root is around every one, and says nothing."""
    return len(folder) > 1 and (inner == folder or inner.startswith(f"{folder.rstrip('/')}/"))
