"""Parse the hosts and origins of headers and settings strictly, so that they can be compared completely."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

# A value that two parsers could read differently is rejected: user names, spaces, trailing dots, zone ids, ports that
# are not numbers. For example, `127.0.0.1:80.evil.example` is not a host.

WEB_PORTS: Final = {"http": 80, "https": 443}
"""Default ports of URLs, RFC 9110 section 4.2."""

LOOPBACK_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})

_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9](?:[a-z0-9_.-]{0,251}[a-z0-9])?))(?::(?P<port>[0-9]{1,5}|\*))?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Authority:
    """A host in lower case, an IPv6 address in its shortest form, and a port if there is one."""

    host: str
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a web page."""

    scheme: str
    host: str
    port: int


def parse_authority(text: str) -> Authority | None:
    """Parse the value of a Host header; return None if it is not a host with an optional port."""
    match = _AUTHORITY.fullmatch(text)
    if match is None or match["port"] == "*":
        return None
    host = _normalize_host(match)
    port = int(match["port"]) if match["port"] else None
    return None if host is None or (port is not None and not 0 < port < 65_536) else Authority(host, port)


def parse_origin(text: str) -> Origin | None:
    """Parse the value of an Origin header; return None unless it is a valid http or https origin."""
    scheme, separator, rest = text.partition("://")
    scheme, authority = scheme.lower(), parse_authority(rest)
    if not separator or scheme not in WEB_PORTS or authority is None:
        return None
    return Origin(scheme, authority.host, authority.port or WEB_PORTS[scheme])


def _normalize_host(match: re.Match[str]) -> str | None:
    if not match["six"]:
        return match["name"].lower()
    try:
        return str(ipaddress.IPv6Address(match["six"]))
    except ValueError:
        return None


def is_secure_url(url: str) -> bool:
    """Return whether a URL is https, or http on loopback, so that nobody can change the content in transit."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)
