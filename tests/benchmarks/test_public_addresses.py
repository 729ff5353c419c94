"""The table of public addresses is large and valid, and hardly any of them is refused."""

from __future__ import annotations

from ipaddress import IPv6Address

from benchmarks.fetch import public_addresses
from keyhole.fetch.addresses import address_refusal


def test_the_table_has_over_a_hundred_addresses_with_name_and_source() -> None:
    rows = public_addresses.read_table()
    assert len(rows) > 100
    assert len({IPv6Address(address) for address, _, _ in rows}) == len(rows)
    assert all(name and source for _, name, source in rows)


def test_the_only_refused_addresses_of_the_table_are_the_former_ones_of_a_resolver() -> None:
    refused = {address for address, _, _ in public_addresses.read_table() if address_refusal(address)}
    assert refused == {"2a00:5a60::ad1:ff", "2a00:5a60::ad2:ff"}


def test_addresses_are_drawn_with_the_bits_that_each_way_fixes() -> None:
    drawn = public_addresses.drawn()
    hardware = IPv6Address(drawn["of a hardware address, RFC 4291"][0])
    assert int(hardware) >> 24 & 0xFFFF == 0xFFFE
    assert all(IPv6Address(addresses[0]) > IPv6Address(public_addresses.PREFIX) for addresses in drawn.values())
