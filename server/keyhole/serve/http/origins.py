"""Parse the hosts and origins of headers and settings strictly, and compare them completely.

A value that two parsers could read differently is rejected: user names, spaces, trailing dots, zone ids, ports that
are not numbers. For example, `127.0.0.1:80.evil.example` is not a host.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

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


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry of KEYHOLE_ALLOWED_HOSTS: `host`, `host:port` or `host:*`."""

    host: str
    port: int | None = None
    any_port: bool = False

    def allows(self, authority: Authority, own_port: int) -> bool:
        """Return whether the rule allows a host and port.

        A rule without a port allows the server's own port, and 80 and 443, which a proxy may listen on.
        """
        if authority.host != self.host:
            return False
        ports = {self.port} if self.port else {None, own_port, *WEB_PORTS.values()}
        return self.any_port or authority.port in ports


@dataclass(frozen=True, slots=True)
class OriginRule:
    """One entry of KEYHOLE_ALLOWED_ORIGINS: `scheme://host`, `scheme://host:port` or `scheme://host:*`."""

    scheme: str
    host: str
    port: int
    any_port: bool = False

    def allows(self, origin: Origin) -> bool:
        """Return whether the rule allows an origin: scheme, host and port must be equal."""
        is_host = (origin.scheme, origin.host) == (self.scheme, self.host)
        return is_host and (self.any_port or origin.port == self.port)


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


def parse_host_rule(text: str) -> HostRule:
    """Parse an entry of KEYHOLE_ALLOWED_HOSTS. Raises ValueError, which states the valid forms."""
    bare, any_port = _split_star(text)
    authority = parse_authority(_encode_host(bare))
    if authority is None:
        raise ValueError(f"{text!r} is not host, host:port or host:*")
    return HostRule(authority.host, authority.port, any_port)


def parse_origin_rule(text: str) -> OriginRule:
    """Parse an entry of KEYHOLE_ALLOWED_ORIGINS. Raises ValueError, which states the valid forms."""
    bare, any_port = _split_star(text.removesuffix("/"))
    scheme, separator, rest = bare.partition("://")
    origin = parse_origin(scheme + separator + _encode_host(rest))
    if origin is None:
        raise ValueError(f"{text!r} is not an origin, such as https://app.example or http://localhost:*")
    return OriginRule(origin.scheme, origin.host, origin.port, any_port)


def _normalize_host(match: re.Match[str]) -> str | None:
    if not match["six"]:
        return match["name"].lower()
    try:
        return str(ipaddress.IPv6Address(match["six"]))
    except ValueError:
        return None


def _split_star(text: str) -> tuple[str, bool]:
    return text.removesuffix(":*"), text.endswith(":*")


def _encode_host(text: str) -> str:
    """Return a host as headers spell it: international names in ASCII, and without the final dot of the DNS root."""
    host, separator, port = text.partition(":") if not text.startswith("[") else (text, "", "")
    host = host.removesuffix(".")
    if not host.isascii():
        import idna

        host = idna.encode(host, uts46=True).decode("ascii")  # its error is a ValueError
    return host + separator + port


def is_secure_url(url: str) -> bool:
    """Return whether a URL is https, or http on loopback, so that nobody can change the content in transit."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)
