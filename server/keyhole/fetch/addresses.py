"""Decide which IP addresses may be connected to. Every row of the tables cites its source.

`ipaddress.is_global` is not enough: its answer differs between Python releases, and it accepts several addresses of
private services (192.0.0.192, 168.63.129.16, 192.88.99.0/24). For IPv6 the default is reversed: everything outside
2000::/3, the only block assigned as global unicast, is refused, and the table below lists exceptions inside it.
"""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

# Cloud metadata services, which hand out credentials to the machines of a cloud. Except for Azure's, the ranges below
# refuse them too. They are listed so that no change of those ranges can allow them, and so that the refusal names them.
_METADATA_V4: tuple[tuple[str, str], ...] = (
    ("100.100.100.200/32", "metadata of Alibaba Cloud, its ECS manual"),
    ("168.63.129.16/32", "Azure platform address, its virtual network manual; in no registry"),
    ("169.254.169.254/32", "metadata of most clouds, such as the AWS EC2 manual"),
    ("192.0.0.192/32", "metadata of Oracle Cloud Classic, its manual"),
)
_METADATA_V6: tuple[tuple[str, str], ...] = (
    ("fd00:42::42/128", "metadata of Scaleway, its instance manual"),
    ("fd00:ec2::254/128", "metadata of AWS over IPv6, the EC2 manual"),
    ("fd20:ce::254/128", "metadata of Google Cloud over IPv6, its Compute Engine manual"),
)

_REFUSED_V4: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "this network, RFC 791"),
    ("10.0.0.0/8", "private, RFC 1918"),
    ("100.64.0.0/10", "shared address space, RFC 6598"),
    ("127.0.0.0/8", "loopback, RFC 1122"),
    ("169.254.0.0/16", "link-local and cloud metadata, RFC 3927"),
    ("172.16.0.0/12", "private, RFC 1918"),
    ("192.0.0.0/24", "IETF protocol assignments, RFC 6890"),
    ("192.0.2.0/24", "documentation, RFC 5737"),
    # Anycast: the nearest machine answers, often a machine in the local network. No web site has such an address.
    ("192.31.196.0/24", "AS112 anycast, RFC 7535"),
    ("192.52.193.0/24", "multicast tunnel anycast, RFC 7450"),
    ("192.88.99.0/24", "deprecated 6to4 relay, RFC 7526"),
    ("192.168.0.0/16", "private, RFC 1918"),
    ("192.175.48.0/24", "AS112 anycast, RFC 7534"),
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
    ("2620:4f:8000::/48", "AS112 anycast, RFC 7534"),
    ("3fff::/20", "documentation, RFC 9637"),
)

# A NAT64 gateway forwards these to the IPv4 address in their last 32 bits, so that IPv4 address is checked.
# The local-use prefix 64:ff9b:1::/48 (RFC 8215) is not global unicast, so it is refused.
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
# An ISATAP router does the same if the last 64 bits are 0000:5efe or 0200:5efe followed by an IPv4 address.
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})  # RFC 5214, section 6.1

_V4 = tuple((IPv4Network(network), reason) for network, reason in _METADATA_V4 + _REFUSED_V4)
_V6 = tuple((IPv6Network(network), reason) for network, reason in _REFUSED_V6)
_METADATA = {IPv6Network(network).network_address: reason for network, reason in _METADATA_V6}


def address_refusal(address: str) -> str | None:
    """Return the reason why an address is refused, or None if it may be connected to.

    `address` is an IPv4 or IPv6 address as a resolver returns it or a URL contains it. Any other text is refused.
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
        return _METADATA.get(ip, "not global unicast, RFC 4291")
    if reason := next((reason for network, reason in _V6 if ip in network), None):
        return reason
    embedded = (int(ip) >> 32) & 0xFFFF_FFFF in _ISATAP
    return _refusal_v4(IPv4Address(int(ip) & 0xFFFF_FFFF)) if embedded else None
