"""Read and write the entries of servers with a URL, whose headers each client writes in its own way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keyhole.extensions.install.clients import McpClient
from keyhole.extensions.install.edit import refusal

COMMON_KEYS: Final = frozenset(
    {
        "enabled", "disabled", "timeout", "trust", "description", "required", "tools", "alwaysAllow", "autoApprove",
        "disabledTools", "includeTools", "excludeTools", "enabled_tools", "disabled_tools", "startup_timeout_sec",
        "tool_timeout_sec", "default_tools_approval_mode",
    }
)  # fmt: skip
"""Keys that mean the same for a program as for a URL. An entry with others is not wrapped, because they would be lost:
for instance those of a sign-in, which the client makes only for a URL."""
URL_KEYS: Final = ("url", "serverUrl", "httpUrl")
"""Keys of a URL that some clients accept beside their own."""
HTTP_TYPES: Final = frozenset({"http", "streamableHttp", "streamable-http", "streamable_http", "remote"})
BEARER: Final = "Bearer "
_VARIABLE: Final = re.compile(r"(Bearer )?\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Remote:
    """A server with a URL."""

    url: str
    headers: Mapping[str, str]
    """Headers with the values that the file has, which may be secrets."""
    templates: Mapping[str, str]
    """Headers whose values are in variables of the client, as `${NAME}` or `Bearer ${NAME}`."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """The keys that mean the same for a program."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the headers need."""
        return tuple(found[2] for value in self.templates.values() if (found := _VARIABLE.fullmatch(value)))


def read_remote(client: McpClient, name: str, entry: Mapping[str, Any]) -> Remote | None:
    """Return the server of an entry with a URL, None for a program. Raises KeyholeError if it cannot be wrapped."""
    shape = client.shape
    key = next((key for key in (shape.url, *URL_KEYS) if key and isinstance(entry.get(key), str)), "")
    if not key:
        return None
    if (kind := entry.get("type", "http")) not in HTTP_TYPES:
        raise refusal(client, f"the entry {name} has the type {str(kind)[:40]}; the proxy speaks streamable HTTP only")
    headers = _strings(entry.get(shape.headers))
    templates = {header: f"${{{variable}}}" for header, variable in _strings(entry.get(shape.header_variables)).items()}
    if isinstance(token := entry.get(shape.token_variable), str):
        templates["Authorization"] = f"{BEARER}${{{token}}}"
    known = {"type", key, shape.headers, shape.header_variables, shape.token_variable}
    others = {key: value for key, value in entry.items() if key not in known}
    if unknown := sorted(set(others) - COMMON_KEYS):
        keys = ", ".join(unknown)[:80]
        raise refusal(client, f"the entry {name} has {keys}: write its proxy by hand, with --url and --header")
    return Remote(entry[key], headers, templates, others)


def write_remote(client: McpClient, remote: Remote) -> dict[str, Any]:
    """Return the entry of a server with a URL. Raises KeyholeError if the client's format cannot hold its headers."""
    shape = client.shape
    entry: dict[str, Any] = {**({"type": shape.http} if shape.http else {}), **remote.others, shape.url: remote.url}
    named: dict[str, str] = {}
    for header, value in remote.templates.items():
        found = _VARIABLE.fullmatch(value)
        if found and found[1] and header == "Authorization" and shape.token_variable:
            entry[shape.token_variable] = found[2]
        elif found and not found[1] and shape.header_variables:
            named[header] = found[2]
        else:
            raise refusal(client, f"the header {header} has a value that its own entry cannot keep; edit it by hand")
    return {
        **entry,
        **({shape.headers: dict(remote.headers)} if remote.headers else {}),
        **({shape.header_variables: named} if named else {}),
    }


def _strings(value: object) -> dict[str, str]:
    return {str(key): str(each) for key, each in value.items()} if isinstance(value, Mapping) else {}
