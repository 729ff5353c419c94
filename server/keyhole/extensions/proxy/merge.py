"""Merge the answers of several servers into one, and gather the pages of their lists within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from keyhole.extensions.proxy.eras import (
    NOT_CACHED,
    PROXY_INFO,
    PROXY_META,
    Introduction,
    handshake_version,
    modern_versions,
)
from keyhole.extensions.proxy.messages import encode

MAX_PAGES: Final = 250
"""Pages of one server's list that are gathered, as many as FastMCP's client reads. Large servers send some ten."""
MAX_LIST_BYTES: Final = 8 * 1024**2
"""Bytes of one server's list that are gathered: some 4,000 tools. All servers' lists are one message."""

LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tools/list": "tools",
        "prompts/list": "prompts",
        "resources/list": "resources",
        "resources/templates/list": "resourceTemplates",
    }
)
"""The field of the result of each method that lists something."""
INCOMPLETE: Final = "keyhole/incomplete"
"""The key in a list's `_meta` for the servers whose entries are missing in part or whole, with the reasons."""

_LATE: Final = {
    "capabilities": {
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "completions": {},
    }
}
"""The capabilities that are assumed for a server that has not answered yet."""

Answers = Mapping[str, Mapping[str, Any]]
"""The results of the servers, by the name of the server."""


@dataclass(slots=True)
class Pages:
    """The pages of one server's list."""

    items: list[Any] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    """The other fields of the first page."""
    cut: str = ""
    """Why the rest of the list is missing, "" if it is complete."""
    _count: int = 0
    _size: int = 0
    _cursors: set[str] = field(default_factory=set)

    def add(self, name: str, page: Mapping[str, Any], size: int) -> str | None:
        """Take a page of `size` bytes, whose entries are in the field `name`. Return the cursor of the next page.

        Without a next page, or beyond the bounds, return None.
        """
        self._count += 1
        if self._count == 1:
            self.fields = {key: value for key, value in page.items() if key not in (name, "nextCursor")}
        self._take(page.get(name) or [], size)
        cursor = page.get("nextCursor")
        if self.cut or not isinstance(cursor, str):
            return None
        if self._count == MAX_PAGES:
            self.cut = f"it has more than {MAX_PAGES} pages"
        elif cursor in self._cursors:
            self.cut = f"its page {self._count} leads back to an earlier one"
        self._cursors.add(cursor)
        return None if self.cut else cursor

    def _take(self, items: list[Any], size: int) -> None:
        """Take the entries of a page, or those that fit."""
        self._size += size
        if self._size > MAX_LIST_BYTES:
            self.cut = f"it has more than {MAX_LIST_BYTES:,} bytes"
            room, kept = MAX_LIST_BYTES - (self._size - size), 0
            while kept < len(items) and (room := room - len(encode(items[kept]))) >= 0:
                kept += 1
            items = items[:kept]
        self.items.extend(items)


def well_formed(method: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's result without the fields and entries that have another type than the protocol gives them."""
    name = LISTS.get(method, "")
    types = {name: list, "capabilities": dict, "supportedVersions": list, "protocolVersion": str, "instructions": str}
    kept: dict[str, Any] = {key: value for key, value in result.items() if isinstance(value, types.get(key, object))}
    if name in kept:
        kept[name] = [item for item in kept[name] if isinstance(item, dict)]
    return kept


def merge_greetings(
    method: str, answers: Answers, incomplete: Mapping[str, str], client: Introduction
) -> dict[str, Any]:
    """Return the result of `initialize` or `server/discover` for the client, from what the servers answered to either.

    The versions are those of the servers of the client's era; requests for the others are translated. `incomplete`: why
    a server has not answered, by its name.
    """
    capabilities = _merge_capabilities({**answers, **({"": _LATE} if incomplete else {})})
    # A server may start again, and then its tools are new.
    capabilities["tools"] = {**_object(capabilities.get("tools")), "listChanged": True}
    common = {"capabilities": capabilities, **_instructions(answers, incomplete)}
    if method == "initialize":
        chosen = [str(each["protocolVersion"]) for each in answers.values() if "protocolVersion" in each]
        return {"protocolVersion": handshake_version(chosen, client), "serverInfo": PROXY_INFO, **common}
    capabilities.pop("tasks", None)  # an extension in later versions
    supported = [each["supportedVersions"] for each in answers.values() if "supportedVersions" in each]
    caching = _caching(answers, incomplete)
    return {"supportedVersions": modern_versions(supported), **common, "_meta": PROXY_META, **caching}


def _merge_capabilities(answers: Answers) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for answer in answers.values():
        for name, value in (answer.get("capabilities") or {}).items():
            known = merged.get(name)
            merged[name] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


def _instructions(answers: Answers, incomplete: Mapping[str, str]) -> dict[str, str]:
    lines = [f"{name}: {each['instructions']}" for name, each in answers.items() if each.get("instructions")]
    lines += [f"{name}: not available yet: {reason}." for name, reason in incomplete.items()]
    return {"instructions": "\n".join(lines)} if lines else {}


def merge_lists(name: str, answers: Answers, incomplete: Mapping[str, str], *, is_cacheable: bool) -> dict[str, Any]:
    """Return the lists of the servers as one, in the order of the servers. Other fields are those of the first.

    `incomplete`: why entries of a server are missing, by its name. `is_cacheable`: the client wants to know how long
    the list may be cached.
    """
    first = next(iter(answers.values()), {})
    items = [item for answer in answers.values() for item in answer.get(name) or []]
    rest = {key: value for key, value in first.items() if key not in (name, "nextCursor", "_meta")}
    meta = {**_object(first.get("_meta")), **({INCOMPLETE: dict(incomplete)} if incomplete else {})}
    caching = _caching(answers, incomplete) if is_cacheable else {}
    return {**rest, **caching, name: items, **({"_meta": meta} if meta else {})}


def _caching(answers: Answers, incomplete: Mapping[str, str]) -> dict[str, Any]:
    """Return how long a merged result may be cached: the shortest time of all servers, 0 if one is missing."""
    times = [each.get("ttlMs") for each in answers.values()]
    known = [time for time in times if type(time) is int and time >= 0]
    if incomplete or not times or len(known) < len(times):
        return {**NOT_CACHED, "resultType": "complete"}
    is_public = all(each.get("cacheScope") == "public" for each in answers.values())
    return {"ttlMs": min(known), "cacheScope": "public" if is_public else "private", "resultType": "complete"}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
