"""Find the IPv4 addresses that IPv6 addresses embed, and the NAT64 prefixes that a resolver's answer discloses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Final

PREFIX_LENGTHS: Final = (32, 40, 48, 56, 64, 96)
"""Bits before the embedded IPv4 address: the lengths that RFC 6052, section 2.2, allows."""

DISCOVERY_NAME: Final = "ipv4only.arpa"
"""A name with IPv4 addresses only. A DNS64 resolver adds IPv6 addresses that embed them. RFC 7050, section 2.2."""
_DISCOVERY_ADDRESSES: Final = frozenset({IPv4Address("192.0.0.170"), IPv4Address("192.0.0.171")})
"""The addresses of `DISCOVERY_NAME`. RFC 7050, section 8.2."""

_ISATAP: Final = frozenset({0x0000_5EFE, 0x0100_5EFE, 0x0200_5EFE, 0x0300_5EFE})
"""Bits 64 to 95 of an ISATAP address, with each value of the u and g bits. RFC 5214, section 6.1."""

_LAST_32_BITS: Final = tuple(
    IPv6Network(network)
    for network in (
        "::/96",  # IPv4-compatible, RFC 4291, section 2.5.5.1
        "::ffff:0:0/96",  # IPv4-mapped, RFC 4291, section 2.5.5.2
        "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
        "64:ff9b::/96",  # the well-known prefix of NAT64, RFC 6052
    )
)


def ipv4_after(ip: IPv6Address, length: int) -> IPv4Address:
    """Return the IPv4 address that follows a prefix of `length` bits: one of `PREFIX_LENGTHS`.

    Byte 8 (bits 64 to 71, the u octet) is not part of the address.
    """
    packed = ip.packed if length == 96 else ip.packed[:8] + ip.packed[9:]
    return IPv4Address(packed[length // 8 : length // 8 + 4])


def likely_ipv4(ip: IPv6Address) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses that a NAT64 gateway with an unknown prefix would read from an IPv6 address.

    The layout decides, so that few addresses of ordinary servers are taken for translated ones: RFC 6052, section 2.2,
    sets byte 8 to zero and the bits after the IPv4 address too. An identifier of zero embeds only the beginning of a
    network.
    """
    identifier = ip.packed[8:]
    if identifier[0] or not any(identifier):
        return
    yield ipv4_after(ip, 96)
    yield from (ipv4_after(ip, length) for length in (48, 56, 64) if not any(ip.packed[length // 8 + 5 :]))


def possible_ipv4(ip: IPv6Address) -> frozenset[IPv4Address]:
    """Return each IPv4 address that some form would embed in an IPv6 address, whether or not it has that form."""
    teredo_client = IPv4Address(~int(ip) & 0xFFFF_FFFF)  # RFC 4380, section 4
    six_to_four = IPv4Address(ip.packed[2:6])  # RFC 3056, section 2
    return frozenset({teredo_client, six_to_four, *(ipv4_after(ip, length) for length in PREFIX_LENGTHS)})


def declared_ipv4(ip: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address of an IPv6 address whose prefix or interface identifier says that it embeds one."""
    is_isatap = (int(ip) >> 32) & 0xFFFF_FFFF in _ISATAP
    if is_isatap or any(ip in network for network in _LAST_32_BITS):
        return ipv4_after(ip, 96)
    return ip.sixtofour


def nat64_prefixes(addresses: Iterable[IPv6Address]) -> frozenset[IPv6Network]:
    """Return the NAT64 prefixes that IPv6 addresses of `DISCOVERY_NAME` disclose, as RFC 7050, section 3, says."""
    return frozenset(
        IPv6Network((ip, length), strict=False)
        for ip in addresses
        for length in PREFIX_LENGTHS
        if ipv4_after(ip, length) in _DISCOVERY_ADDRESSES
    )
