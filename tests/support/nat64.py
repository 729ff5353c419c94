"""Build IPv6 addresses that embed an IPv4 address."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address


def embed(prefix: str, length: int, v4: str, *, suffix: int = 0) -> str:
    """Return the address that RFC 6052, section 2.2, builds after the first `length` bits of `prefix`."""
    octets = bytearray(IPv6Address(prefix).packed)
    places = [place for place in range(length // 8, 16) if place != 8][:4]
    for place, octet in zip(places, IPv4Address(v4).packed, strict=True):
        octets[place] = octet
    return str(IPv6Address(int.from_bytes(octets, "big") | suffix))
