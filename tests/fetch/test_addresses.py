"""Every refused range is tested at its first and last address and just outside. IPv6 prefixes are those of RFC 6052."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.parsers import WEB_PORTS
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.addresses import (
    PREFIX_LENGTHS,
    address_refusal,
    check_domain,
    declared_ipv4,
    ipv4_after,
    is_domain_allowed,
    is_private,
    is_url_allowed,
    likely_ipv4,
    name_refusal,
    nat64_prefixes,
    port_refusal,
    possible_ipv4,
)
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


# Embedded IPv4 addresses

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


# Host names and ports


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("localhost", "RFC 6761"),
        ("app.localhost", "RFC 6761"),
        ("a.b.localhost", "RFC 6761"),
        ("printer.local", "RFC 6762"),
        ("api.default.svc.cluster.local", "RFC 6762"),
        ("abcdef.onion", "RFC 7686"),
        ("name.gns.alt", "RFC 9476"),
        ("nas.home.arpa", "RFC 8375"),
        ("metadata.google.internal", "metadata of Google"),
        ("metadata.goog", "metadata of Google"),
        ("metadata.packet.net", "metadata of Packet"),
        ("metadata.platformequinix.com", "metadata of Equinix"),
        ("metadata.tencentyun.com", "metadata of Tencent"),
        ("api.metadata.cloud.ibm.com", "metadata of IBM"),
        ("metadata.exoscale.com", "metadata of Exoscale"),
        ("instance-data.ec2.internal", "metadata of AWS"),
        ("x.metadata.packet.net", "metadata of Packet"),
        ("host.docker.internal", "ICANN"),
        ("wiki.corp", "RFC 6762"),
        ("nas.home", "RFC 6762"),
        ("db.intranet", "RFC 6762"),
        ("router.lan", "RFC 6762"),
        ("x.private", "RFC 6762"),
        ("metadata", "RFC 1535"),
        ("ip6-loopback", "RFC 1535"),
        ("redis", "RFC 1535"),
    ],
)
def test_a_private_name_is_refused_with_its_source(name: str, source: str) -> None:
    assert source in str(name_refusal(name))


@pytest.mark.parametrize(
    "name",
    [
        "example.org", "metadata.example.com", "packet.net", "cloud.ibm.com", "deploy.platformequinix.com",
        "metadata.packet.net.example.org", "mymetadata.goog",
        "localhost.example.org", "localhost-docs.example.org", "notlocalhost.org", "mylocal.org",
        "internal.example.org", "corp.example.org", "home.example", "arpa.example", "4.4.8.8.in-addr.arpa", "site.test",
        "nowhere.invalid", "xn--mnchen-3ya.de", "sub_domain.example.org", "9.9.9.9", "127.0.0.1", "::1", "2620:fe::fe",
    ],
)  # fmt: skip
def test_other_names_and_literal_addresses_are_accepted(name: str) -> None:
    assert name_refusal(name) is None


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8008, 8080, 8443, 8888, 2053, 8880])
def test_the_ports_of_public_sites_are_open(port: int) -> None:
    assert port_refusal(port, WEB_PORTS) is None


@pytest.mark.parametrize(
    "port", [22, 25, 53, 110, 143, 445, 993, 2375, 2379, 3306, 5432, 6379, 9000, 9200, 10080, 10250, 11211, 27017]
)
def test_the_ports_of_other_services_are_refused(port: int) -> None:
    assert "KEYHOLE_PORTS" in str(port_refusal(port, WEB_PORTS))


@pytest.mark.parametrize("host", ["localhost", "nas", "printer.local", "intranet.corp", "192.168.0.1", "::1"])
def test_a_private_name_or_address_is_private(host: str) -> None:
    assert is_private(host)


@pytest.mark.parametrize("host", ["example.org", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_a_public_name_or_address_is_not_private(host: str) -> None:
    assert not is_private(host)


@given(st.text(max_size=30))
def test_any_name_is_checked_without_an_exception(name: str) -> None:
    reason = name_refusal(name)
    assert reason is None or reason


# Domains

NONE: frozenset[str] = frozenset()


def is_allowed(host: str, allow: str = "", deny: str = "") -> bool:
    return is_domain_allowed(host, frozenset(allow.split()), frozenset(deny.split()))


def test_without_lists_every_host_is_allowed() -> None:
    assert is_allowed("example.com")


def test_a_name_matches_only_that_host() -> None:
    assert is_allowed("example.com", "example.com")
    for other in ("www.example.com", "example.com.evil.example", "notexample.com", "com", "example.co"):
        assert not is_allowed(other, "example.com")


def test_a_star_matches_every_subdomain_and_not_the_host_itself() -> None:
    for below in ("www.example.com", "a.b.example.com"):
        assert is_allowed(below, "*.example.com")
    for other in ("example.com", "badexample.com", "example.com.evil.example"):
        assert not is_allowed(other, "*.example.com")


def test_a_deny_entry_takes_precedence_over_an_allow_entry() -> None:
    assert not is_allowed("a.example.com", "*.example.com a.example.com", "a.example.com")
    assert not is_allowed("a.b.example.com", "a.b.example.com", "*.example.com")
    assert is_allowed("example.com", "", "*.example.com")


@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8::7"])
def test_an_address_matches_itself_and_no_star(address: str) -> None:
    assert is_allowed(address, address)
    assert not is_allowed("203.0.113.7", "*.113.7 *.0.113.7 *.7")


FORMS = [
    "203.0.113.7",
    "::203.0.113.7",
    "::ffff:203.0.113.7",
    "::ffff:0:203.0.113.7",
    "64:ff9b::203.0.113.7",
    "2002:cb00:7107::1",
    "2001:0:4136:e378:8000:63bf:34ff:8ef8",
    "2620:fe::5efe:203.0.113.7",
    "2620:fe::100:5efe:203.0.113.7",
    "2620:fe:12:34:5678:9abc:203.0.113.7",
    *(embed("64:ff9b:1::", length, "203.0.113.7") for length in (48, 56, 64, 96)),
    *(embed("2620:fe::", length, "203.0.113.7") for length in (32, 40, 48, 56, 64, 96)),
]
"""An IPv4 address as itself, compatible, mapped, translated, NAT64, 6to4, Teredo, ISATAP and in layouts of NAT64."""


@pytest.mark.parametrize("form", FORMS)
def test_a_denied_ipv4_address_is_denied_in_every_form(form: str) -> None:
    host = str(ip_address(form))
    assert not is_allowed(host, "", "203.0.113.7 example.com")
    assert not is_allowed(host, host, "203.0.113.7"), "denying takes precedence"
    assert is_allowed(host, "", "203.0.113.8 example.com")


@pytest.mark.parametrize(
    "entry", ["::ffff:203.0.113.7", "64:ff9b::203.0.113.7", "2002:cb00:7107::", "2620::5efe:cb00:7107"]
)
@pytest.mark.parametrize("form", FORMS)
def test_an_entry_that_embeds_an_address_denies_each_form_of_it(entry: str, form: str) -> None:
    assert not is_allowed(str(ip_address(form)), "", str(ip_address(entry)))


def test_a_denied_ipv6_address_denies_no_address_that_its_bits_happen_to_contain() -> None:
    assert is_allowed("0.0.0.254", "", "2620:fe::fe")
    assert is_allowed("2620:fe::9", "", "2620:fe::fe")


def test_an_allowed_address_is_allowed_only_as_it_is_written() -> None:
    assert not is_allowed("::ffff:cb00:7107", "203.0.113.7")


@pytest.mark.parametrize(
    "url",
    [
        "http://203.0.113.7./",
        "http://203.0.113.7:8080/",
        "http://２０３.0.113。7/",
        "http://[::FFFF:203.0.113.7]/",
        "http://[0:0:0:0:0:ffff:cb00:7107]:8080/",
        "https://EXAMPLE.com./",
        "https://ｅｘａｍｐｌｅ.com/",
        "https://www.Example.COM:8443/",
        "https://exam\u00adple.com/",
    ],
)
def test_a_url_is_denied_in_every_spelling_of_its_host(url: str) -> None:
    assert not is_url_allowed(url, NONE, frozenset({"203.0.113.7", "example.com", "*.example.com"}))


def test_a_refusal_names_the_host_and_the_settings() -> None:
    with pytest.raises(KeyholeError) as caught:
        check_domain("evil.example", NONE, frozenset({"evil.example"}))
    assert caught.value.code is Code.DOMAIN_NOT_ALLOWED
    assert "evil.example" in caught.value.message


def test_a_url_is_checked_by_its_normalized_host() -> None:
    deny = frozenset({"xn--bcher-kva.example"})
    assert not is_url_allowed("https://BÜCHER.example./x", NONE, deny)
    assert not is_url_allowed("https://xn--bcher-kva.example:8443/x", NONE, deny)
    for url in ("no url", "https://b%C3%BCcher.example/", "https://ok.example\\@xn--bcher-kva.example/"):
        assert not is_url_allowed(url, NONE, deny), "a browser may ask what we refuse to"
