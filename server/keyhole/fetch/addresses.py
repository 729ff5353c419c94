"""Which IP addresses may be reached: a table, each row with its source. No lookups, no I/O.

`ipaddress.is_global` alone will not do: its answer differs between Python releases, and it passes several
addresses that lead inside (192.0.0.192, 168.63.129.16, 192.88.99.0/24). IPv6 is the other way round: only
2000::/3 is given out as global unicast, so all else is refused and the rows below cut holes into it.
"""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_REFUSED_V4: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "this network, RFC 791"),
    ("10.0.0.0/8", "private, RFC 1918"),
    ("100.64.0.0/10", "shared address space, RFC 6598"),
    ("127.0.0.0/8", "loopback, RFC 1122"),
    ("168.63.129.16/32", "Azure platform address, not in any registry"),
    ("169.254.0.0/16", "link-local and cloud metadata, RFC 3927"),
    ("172.16.0.0/12", "private, RFC 1918"),
    ("192.0.0.0/24", "IETF protocol assignments, RFC 6890"),
    ("192.0.2.0/24", "documentation, RFC 5737"),
    ("192.88.99.0/24", "deprecated 6to4 relay, RFC 7526"),
    ("192.168.0.0/16", "private, RFC 1918"),
    ("198.18.0.0/15", "benchmarking, RFC 2544"),
    ("198.51.100.0/24", "documentation, RFC 5737"),
    ("203.0.113.0/24", "documentation, RFC 5737"),
    ("224.0.0.0/4", "multicast, RFC 5771"),
    ("240.0.0.0/4", "reserved and broadcast, RFC 1112"),
)

_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")  # RFC 4291, section 2.4
_REFUSED_V6: tuple[tuple[str, str], ...] = (
    ("2001::/23", "IETF protocol assignments with Teredo and ORCHID, RFC 2928"),
    ("2001:db8::/32", "documentation, RFC 3849"),
    ("2002::/16", "6to4: hides an IPv4 address, RFC 3056"),
    ("3fff::/20", "documentation, RFC 9637"),
)

# A NAT64 gateway forwards these to the IPv4 address in their last 32 bits, so that one is judged.
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052

_V4 = tuple((IPv4Network(network), reason) for network, reason in _REFUSED_V4)
_V6 = tuple((IPv6Network(network), reason) for network, reason in _REFUSED_V6)


def refusal(address: str) -> str | None:
    """Why an address must not be connected to, or None when it may be.

    `address` is one resolver answer or a literal: dotted IPv4, or IPv6 with or without a zone.
    Whatever is not an address is refused.
    """
    if "%" in address:
        return "scoped address, RFC 4007"
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "not an IP address"
    return _refusal_v4(ip) if isinstance(ip, IPv4Address) else _refusal_v6(ip)


def _refusal_v4(ip: IPv4Address) -> str | None:
    return next((reason for network, reason in _V4 if ip in network), None)


def _refusal_v6(ip: IPv6Address) -> str | None:
    if ip.ipv4_mapped is not None:
        return _refusal_v4(ip.ipv4_mapped)
    if ip in _NAT64:
        return _refusal_v4(IPv4Address(int(ip) & 0xFFFF_FFFF))
    if ip not in _GLOBAL_UNICAST_V6:
        return "not global unicast, RFC 4291"
    return next((reason for network, reason in _V6 if ip in network), None)
