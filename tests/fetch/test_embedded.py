"""IPv4 addresses are found where the RFCs embed them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest

from keyhole.fetch.embedded import PREFIX_LENGTHS, declared_ipv4, ipv4_after, likely_ipv4, nat64_prefixes, possible_ipv4
from tests.support.nat64 import embed

EXAMPLES = {
    32: "2001:db8:c000:221::",
    40: "2001:db8:1c0:2:21::",
    48: "2001:db8:122:c000:2:2100::",
    56: "2001:db8:122:3c0:0:221::",
    64: "2001:db8:122:344:c0:2:2100::",
    96: "2001:db8:122:344::192.0.2.33",
}
"""Section 2.4 of RFC 6052: 192.0.2.33 behind prefixes of each length."""


@pytest.mark.parametrize("length", PREFIX_LENGTHS)
def test_the_examples_of_rfc_6052_embed_its_address(length: int) -> None:
    address = IPv6Address(EXAMPLES[length])
    assert ipv4_after(address, length) == IPv4Address("192.0.2.33")
    assert IPv4Address("192.0.2.33") in possible_ipv4(address)
    if length >= 48:
        assert IPv4Address("192.0.2.33") in set(likely_ipv4(address))


@pytest.mark.parametrize(
    "address",
    [
        "::192.0.2.33",
        "::ffff:192.0.2.33",
        "::ffff:0:192.0.2.33",
        "64:ff9b::192.0.2.33",
        "2002:c000:221::1",
        "2620:fe::5efe:192.0.2.33",
        "2620:fe::100:5efe:192.0.2.33",
        "2620:fe::200:5efe:192.0.2.33",
        "2620:fe::300:5efe:192.0.2.33",
        "fe80::5efe:192.0.2.33",
    ],
)
def test_a_declared_form_names_its_address(address: str) -> None:
    assert declared_ipv4(IPv6Address(address)) == IPv4Address("192.0.2.33")
    assert IPv4Address("192.0.2.33") in possible_ipv4(IPv6Address(address))


def test_an_ordinary_address_declares_none() -> None:
    assert declared_ipv4(IPv6Address("2620:fe::fe")) is None


def test_the_client_of_a_teredo_address_is_found_behind_its_inverted_bits() -> None:
    assert IPv4Address("192.0.2.45") in possible_ipv4(IPv6Address("2001:0:4136:e378:8000:63bf:3fff:fdd2"))


@pytest.mark.parametrize("length", PREFIX_LENGTHS)
@pytest.mark.parametrize("known", ["192.0.0.170", "192.0.0.171"])
def test_a_prefix_is_discovered_at_each_length(length: int, known: str) -> None:
    prefix = IPv6Network(("2a00:1098:2b:3c4d::", length), strict=False)
    assert nat64_prefixes([IPv6Address(embed(str(prefix.network_address), length, known))]) == {prefix}


def test_addresses_without_the_known_ones_disclose_no_prefix() -> None:
    assert nat64_prefixes([IPv6Address("2620:fe::fe"), IPv6Address("2a00:1098:2b::192.0.0.172")]) == frozenset()
