"""Every refused range is tested at its first and last address and just outside. IPv6 prefixes are those of RFC 6052."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.fetch.addresses import address_refusal
from tests.support.nat64 import embed

# The first and the last address of each range, and what its reason must name.
RANGES_V4 = [
    ("0.0.0.0", "0.255.255.255", "RFC 791"),
    ("10.0.0.0", "10.255.255.255", "RFC 1918"),
    ("100.64.0.0", "100.127.255.255", "RFC 6598"),
    ("127.0.0.0", "127.255.255.255", "RFC 1122"),
    ("168.63.129.16", "168.63.129.16", "Azure"),
    ("169.254.0.0", "169.254.255.255", "RFC 3927"),
    ("172.16.0.0", "172.31.255.255", "RFC 1918"),
    ("192.0.0.0", "192.0.0.255", "RFC 6890"),
    ("192.0.2.0", "192.0.2.255", "RFC 5737"),
    ("192.31.196.0", "192.31.196.255", "RFC 7535"),
    ("192.52.193.0", "192.52.193.255", "RFC 7450"),
    ("192.88.99.0", "192.88.99.255", "RFC 7526"),
    ("192.168.0.0", "192.168.255.255", "RFC 1918"),
    ("192.175.48.0", "192.175.48.255", "RFC 7534"),
    ("198.18.0.0", "198.19.255.255", "RFC 2544"),
    ("198.51.100.0", "198.51.100.255", "RFC 5737"),
    ("199.36.153.4", "199.36.153.7", "restricted.googleapis.com"),
    ("199.36.153.8", "199.36.153.11", "private.googleapis.com"),
    ("203.0.113.0", "203.0.113.255", "RFC 5737"),
    ("224.0.0.0", "239.255.255.255", "RFC 5771"),
    ("240.0.0.0", "255.255.255.255", "RFC 1112"),
]
RANGES_V6 = [
    ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4291"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 2928"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 3849"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 3056"),
    ("2600:2d00:2:1000::", "2600:2d00:2:1000:ffff:ffff:ffff:ffff", "restricted.googleapis.com"),
    ("2600:2d00:2:2000::", "2600:2d00:2:2000:ffff:ffff:ffff:ffff", "private.googleapis.com"),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "RFC 7534"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 9637"),
    ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "RFC 4291"),
]
JUST_OUTSIDE = [
    "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255",
    "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "199.36.153.3", "199.36.153.12",
    "203.0.112.255", "203.0.114.0",
    "223.255.255.255", "2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
]  # fmt: skip


@pytest.mark.parametrize(("first", "last", "source"), RANGES_V4 + RANGES_V6)
def test_a_refused_range_is_refused_from_its_first_to_its_last_address(first: str, last: str, source: str) -> None:
    for address in (first, last):
        reason = address_refusal(address)
        assert reason is not None
        assert source in reason


@pytest.mark.parametrize("address", JUST_OUTSIDE)
def test_the_addresses_next_to_a_refused_range_are_allowed(address: str) -> None:
    assert address_refusal(address) is None


@pytest.mark.parametrize(
    ("address", "owner"),
    [
        ("169.254.169.254", "most clouds"),
        ("169.254.170.2", "AWS containers"),
        ("169.254.170.23", "AWS pods"),
        ("169.254.0.23", "Tencent"),
        ("169.254.42.42", "Scaleway"),
        ("100.96.0.96", "Volcano"),
        ("100.100.100.200", "Alibaba"),
        ("192.0.0.192", "Oracle"),
        ("168.63.129.16", "Azure"),
        ("fd00:ec2::254", "AWS"),
        ("fd00:ec2::23", "AWS pods"),
        ("fd00:a9fe:a9fe::1", "Linode"),
        ("fd00:c1::a9fe:a9fe", "Oracle"),
        ("fd00:42::42", "Scaleway"),
        ("fd20:ce::254", "Google"),
    ],
)
def test_the_metadata_services_of_clouds_are_refused_with_their_name(address: str, owner: str) -> None:
    assert owner in str(address_refusal(address))
    if ":" not in address:
        assert (
            address_refusal(f"::ffff:{address}") == address_refusal(f"64:ff9b::{address}") == address_refusal(address)
        )


@pytest.mark.parametrize(
    "address",
    [
        "::1",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "5f00::1",
        "64:ff9b:1::1",
        "2001:0:4136::",
    ],
)
def test_special_ipv6_addresses_are_refused(address: str) -> None:
    assert address_refusal(address) is not None


EMBEDDINGS = [
    "::ffff:{v4}",
    "64:ff9b::{v4}",
    "2620:fe::5efe:{v4}",
    "2620:fe:0:1:100:5efe:{v4}",
    "2620:fe:0:1:200:5efe:{v4}",
    "2620:fe:0:1:300:5efe:{v4}",
]
"""IPv4-mapped, NAT64, and ISATAP behind a public prefix with each value of its u and g bits."""


@pytest.mark.parametrize("form", EMBEDDINGS)
@pytest.mark.parametrize("v4", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "0.0.0.0"])
def test_an_ipv4_address_embedded_in_an_ipv6_address_is_checked(form: str, v4: str) -> None:
    assert address_refusal(form.format(v4=v4)) == address_refusal(v4)
    assert address_refusal(form.format(v4=v4)) is not None


@pytest.mark.parametrize("form", EMBEDDINGS)
def test_a_public_ipv4_address_embedded_in_an_ipv6_address_is_allowed(form: str) -> None:
    assert address_refusal(form.format(v4="9.9.9.9")) is None


@pytest.mark.parametrize(
    "form",
    [
        "::{v4}",  # IPv4-compatible, deprecated by RFC 4291
        "::ffff:0:{v4}",  # IPv4-translated, RFC 2765
        "64:ff9b:1::{v4}",  # local NAT64, RFC 8215
        "64:ff9b:1:909:0:909::",  # the same in the form of a /48, RFC 6052
        "fe80::5efe:{v4}",  # ISATAP on the link
        "2002:909:909::",  # 6to4 of 9.9.9.9
        "2001:0:909:909::",  # Teredo by way of 9.9.9.9
    ],
)
def test_other_ways_to_embed_an_ipv4_address_are_refused_even_for_a_public_one(form: str) -> None:
    assert address_refusal(form.format(v4="9.9.9.9")) is not None


TARGETS = ["10.1.2.3", "100.64.1.2", "127.0.0.1", "169.254.1.2", "169.254.169.254", "172.16.1.2", "192.168.1.1"]


@pytest.mark.parametrize("length", [32, 40, 48, 56, 64, 96])
@pytest.mark.parametrize("prefix", ["64:ff9b::", "64:ff9b:1::"])
@pytest.mark.parametrize("v4", TARGETS)
def test_the_nat64_prefixes_of_rfcs_lead_to_no_refused_address_at_any_length(prefix: str, length: int, v4: str) -> None:
    assert address_refusal(embed(prefix, length, v4)) is not None


@pytest.mark.parametrize("length", [48, 56, 64, 96])
@pytest.mark.parametrize("prefix", ["2620:fe:12::", "2001:67c:2b0::", "2a00:1098::"])
@pytest.mark.parametrize("v4", TARGETS)
def test_a_target_embedded_under_any_public_prefix_is_refused_by_its_name(prefix: str, length: int, v4: str) -> None:
    reason = address_refusal(embed(prefix, length, v4))
    assert reason == f"it may lead to {v4}: {address_refusal(v4)}"


@pytest.mark.parametrize(
    "prefix",
    ["2001:67c:2b0:db32:0:1::", "2a01:4f9:c010:3f02:64::", "2a00:1098:2b::", "2a01:4f8:c2c:123f:64:5::"],
)
@pytest.mark.parametrize("v4", TARGETS)
def test_a_target_behind_the_prefix_of_a_known_public_gateway_is_refused(prefix: str, v4: str) -> None:
    assert address_refusal(embed(prefix, 96, v4)) is not None


@pytest.mark.parametrize("length", [32, 40, 48, 56, 64, 96])
@pytest.mark.parametrize("v4", ["169.254.169.254", "100.100.100.200", "168.63.129.16", "169.254.170.2"])
@pytest.mark.parametrize("prefix", ["2620:fe::", "2606:4700::", "2a00:1450::"])
def test_a_metadata_service_is_refused_under_any_prefix_and_with_any_suffix(prefix: str, length: int, v4: str) -> None:
    assert address_refusal(embed(prefix, length, v4, suffix=0 if length == 96 else 0x17)) is not None


@pytest.mark.parametrize("length", [32, 40, 48, 56, 64, 96])
def test_a_public_ipv4_address_embedded_under_a_public_prefix_is_allowed(length: int) -> None:
    assert address_refusal(embed("2620:fe::", length, "9.9.9.9")) is None


@pytest.mark.parametrize(
    "address",
    [
        "2620:fe:0:a00::",  # the first address of a subnet, not 10.0.0.0 after 48 bits
        "2620:fe:0:a::",  # nor after 56 bits
        "2620:fe:0:c0a8:1:100::1",  # something follows the IPv4 address
        "2620:fe:0:1:8000:0:a00:1",  # the u octet is not zero
        "2620:fe::1234:5678:a00:1",  # nor is it here, in random bits
        "2606:4700::c0a8:101",  # Cloudflare and Google translate nothing in their own networks
        "2a00:1450:4001:82b::7f00:1",
    ],
)
def test_an_address_without_the_layout_of_nat64_is_allowed(address: str) -> None:
    assert address_refusal(address) is None


@pytest.mark.parametrize("length", [32, 40, 48, 56, 64, 96])
@pytest.mark.parametrize("v4", ["10.1.2.3", "0.0.0.1", "192.0.2.1", "199.36.153.8", "224.0.0.1"])
def test_every_refused_ipv4_address_is_refused_under_a_known_nat64_prefix(length: int, v4: str) -> None:
    prefixes = [ipaddress.IPv6Network(("2606:4700::", length), strict=False)]
    assert str(address_refusal(v4)) in str(address_refusal(embed("2606:4700::", length, v4, suffix=0), prefixes))
    assert address_refusal(embed("2606:4700::", length, "9.9.9.9"), prefixes) is None
    assert address_refusal(embed("2606:4701::", length, "0.0.0.1"), prefixes) is None, "another prefix"


def test_a_known_nat64_prefix_allows_no_address_that_was_refused() -> None:
    assert address_refusal("fd00:64::9.9.9.9", [ipaddress.IPv6Network("fd00:64::/96")]) is not None
    assert address_refusal("64:ff9b:1::9.9.9.9", [ipaddress.IPv6Network("64:ff9b:1::/96")]) is not None


@pytest.mark.parametrize("address", ["fe80::1%eth0", "fe80::1%1", "2606:4700::1111%eth0", "::1%lo", "9.9.9.9%eth0"])
def test_an_address_with_a_zone_is_refused(address: str) -> None:
    assert address_refusal(address) == "scoped address, RFC 4007"


@pytest.mark.parametrize(
    "text",
    ["", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "9.9.9.9 ", " 9.9.9.9", "[::1]", "9.9.9.9:80"],
)
def test_text_that_is_not_an_address_is_refused(text: str) -> None:
    assert address_refusal(text) == "not an IP address"


@given(st.ip_addresses(v=4).map(str) | st.ip_addresses(v=6).map(str))
def test_every_address_that_the_standard_library_calls_special_is_refused(address: str) -> None:
    ip = ipaddress.ip_address(address)
    embedded = isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None
    special = ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast or ip.is_reserved
    if (special or ip.is_unspecified) and not embedded and ip not in ipaddress.ip_network("64:ff9b::/96"):
        assert address_refusal(address) is not None


@given(st.text(max_size=40))
def test_any_text_is_checked_without_an_exception(text: str) -> None:
    reason = address_refusal(text)
    assert reason is None or reason


@given(st.ip_addresses(v=6), st.sampled_from([32, 40, 48, 56, 64, 96]), st.ip_addresses(v=4).map(str))
def test_no_refused_address_is_reached_through_a_known_nat64_prefix(
    prefix: ipaddress.IPv6Address, length: int, v4: str
) -> None:
    network = ipaddress.IPv6Network((prefix, length), strict=False)
    address = embed(str(network.network_address), length, v4)
    refusal = address_refusal(address, [network])
    assert refusal is not None or address_refusal(v4) is None
    assert refusal is not None or address_refusal(address) is None, "a known prefix allows nothing"
