"""Hosts and origins as headers and settings name them: read strictly, compared whole. No headers and no I/O.

What two readers could take apart in two ways is not repaired but refused: user names, spaces, trailing dots,
zone ids, ports that are no numbers. So `127.0.0.1:80.evil.example` is no host at all.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

WEB_PORTS: Final = {"http": 80, "https": 443}
"""What a URL without a port means, RFC 9110 section 4.2."""

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})

_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9](?:[a-z0-9_.-]{0,251}[a-z0-9])?))(?::(?P<port>[0-9]{1,5}|\*))?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Authority:
    """A host in lower case, IPv6 in its shortest form, and the port if one was named."""

    host: str
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """What a browser says of the page that asks."""

    scheme: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry of KEYHOLE_ALLOWED_HOSTS: `host`, `host:port` or `host:*`."""

    host: str
    port: int | None = None
    any_port: bool = False

    def allows(self, given: Authority, own_port: int) -> bool:
        """A bare host stands for the server's own port and the web's, which a proxy before it may listen on."""
        if given.host != self.host:
            return False
        ports = {self.port} if self.port else {None, own_port, *WEB_PORTS.values()}
        return self.any_port or given.port in ports


@dataclass(frozen=True, slots=True)
class OriginRule:
    """One entry of KEYHOLE_ALLOWED_ORIGINS: `scheme://host`, `scheme://host:port` or `scheme://host:*`."""

    scheme: str
    host: str
    port: int
    any_port: bool = False

    def allows(self, given: Origin) -> bool:
        """Whether all three are the same."""
        return (given.scheme, given.host) == (self.scheme, self.host) and (self.any_port or given.port == self.port)


def authority(text: str) -> Authority | None:
    """A Host header's value, or None for what is no host and port."""
    found = _AUTHORITY.fullmatch(text)
    if found is None or found["port"] == "*":
        return None
    host = _host(found)
    port = int(found["port"]) if found["port"] else None
    return None if host is None or (port is not None and not 0 < port < 65_536) else Authority(host, port)


def origin(text: str) -> Origin | None:
    """An Origin header's value, or None for `null` and whatever else no web page has."""
    scheme, separator, rest = text.partition("://")
    scheme, where = scheme.lower(), authority(rest)
    if not separator or scheme not in WEB_PORTS or where is None:
        return None
    return Origin(scheme, where.host, where.port or WEB_PORTS[scheme])


def host_rule(text: str) -> HostRule:
    """An entry of KEYHOLE_ALLOWED_HOSTS. Raises ValueError with what would be right."""
    bare, any_port = _without_star(text)
    where = authority(_ascii(bare))
    if where is None:
        raise ValueError(f"{text!r} is not host, host:port or host:*")
    return HostRule(where.host, where.port, any_port)


def origin_rule(text: str) -> OriginRule:
    """An entry of KEYHOLE_ALLOWED_ORIGINS. Raises ValueError with what would be right."""
    bare, any_port = _without_star(text.removesuffix("/"))
    scheme, separator, rest = bare.partition("://")
    where = origin(scheme + separator + _ascii(rest))
    if where is None:
        raise ValueError(f"{text!r} is not an origin, such as https://app.example or http://localhost:*")
    return OriginRule(where.scheme, where.host, where.port, any_port)


def _host(found: re.Match[str]) -> str | None:
    if not found["six"]:
        return found["name"].lower()
    try:
        return str(ipaddress.IPv6Address(found["six"]))
    except ValueError:
        return None


def _without_star(text: str) -> tuple[str, bool]:
    return text.removesuffix(":*"), text.endswith(":*")


def _ascii(text: str) -> str:
    """A name as it stands in a header: operators may write it in their own script, or with the DNS root's dot."""
    host, separator, port = text.partition(":") if not text.startswith("[") else (text, "", "")
    host = host.removesuffix(".")
    if not host.isascii():
        import idna

        host = idna.encode(host, uts46=True).decode("ascii")  # its error is a ValueError
    return host + separator + port
