"""Merge the answers of several servers into one; their tools and prompts get a prefix only where names collide."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from keyhole._version import __version__

MAX_NAME: Final = 60
"""Characters of a prefixed name. Clients add their own prefix, and model APIs accept 64."""
_HASH: Final = 6
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")

LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tools/list": "tools",
        "prompts/list": "prompts",
        "resources/list": "resources",
        "resources/templates/list": "resourceTemplates",
    }
)
"""The field of the result of each method that lists something."""

Answers = Mapping[str, Mapping[str, Any]]
"""The results of the servers, by the name of the server."""


def well_formed(method: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's result without the fields and entries that have another type than the protocol gives them."""
    field = LISTS.get(method, "")
    types = {field: list, "capabilities": dict, "supportedVersions": list, "protocolVersion": str, "instructions": str}
    kept: dict[str, Any] = {name: value for name, value in result.items() if isinstance(value, types.get(name, object))}
    if field in kept:
        kept[field] = [item for item in kept[field] if isinstance(item, dict)]
    return kept


def merge_initialize(answers: Answers) -> dict[str, Any]:
    """Return the result of `initialize` for the client: the oldest version, all capabilities and instructions."""
    versions = [str(each["protocolVersion"]) for each in answers.values() if "protocolVersion" in each]
    merged = {"protocolVersion": min(versions, default=""), "capabilities": _merge_capabilities(answers)}
    return {**merged, "serverInfo": {"name": "keyhole-proxy", "version": __version__}, **_instructions(answers)}


def merge_discover(answers: Answers) -> dict[str, Any]:
    """Return the result of `server/discover`: the versions that all servers support."""
    first = next(iter(answers.values()), {})
    lists = [each.get("supportedVersions") or [] for each in answers.values()]
    common = [version for version in lists[0] if all(version in each for each in lists)] if lists else []
    merged = {**first, "supportedVersions": common, "capabilities": _merge_capabilities(answers)}
    return {**merged, **_instructions(answers)}


def _merge_capabilities(answers: Answers) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for answer in answers.values():
        for name, value in (answer.get("capabilities") or {}).items():
            known = merged.get(name)
            merged[name] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


def _instructions(answers: Answers) -> dict[str, str]:
    lines = [f"{name}: {each['instructions']}" for name, each in answers.items() if each.get("instructions")]
    return {"instructions": "\n".join(lines)} if lines else {}


def merge_lists(field: str, answers: Answers) -> dict[str, Any]:
    """Return the lists of the servers as one, in the order of the servers. Other fields are those of the first."""
    first = next(iter(answers.values()), {})
    rest = {name: value for name, value in first.items() if name not in (field, "nextCursor")}
    return {**rest, field: [item for answer in answers.values() for item in answer.get(field) or []]}


def public_names(names: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], str]:
    """Return the name that the client sees for each server and name. Names that two servers have get a prefix."""
    counts = Counter(name for own in names.values() for name in set(own))
    taken = {name for name, count in counts.items() if count == 1}
    public: dict[tuple[str, str], str] = {}
    for server, own in names.items():
        for name in dict.fromkeys(own):
            shown = name if counts[name] == 1 else _prefixed(server, name, taken)
            taken.add(shown)
            public[server, name] = shown
    return public


def _prefixed(server: str, name: str, taken: Iterable[str]) -> str:
    """Return a name with the server's name before it, shortened with a hash where it is too long or taken."""
    plain = f"{_UNSAFE.sub('_', server)}_{name}"
    if len(plain) <= MAX_NAME and plain not in taken:
        return plain
    digest = hashlib.sha256(f"{server}\n{name}".encode()).hexdigest()[:_HASH]
    return f"{plain[: MAX_NAME - _HASH - 1]}_{digest}"


def literal_prefix(template: str) -> str:
    """Return the part of a URI template before its first variable."""
    return template.partition("{")[0]
