"""Decide which IP addresses may be connected to. Every row of the tables cites its source.

`ipaddress.is_global` is not enough: its answer differs between Python releases, and it accepts several addresses of
private services (192.0.0.192, 168.63.129.16, 192.88.99.0/24). For IPv6 the default is reversed: everything outside
2000::/3, the only block assigned as global unicast, is refused, and the table below lists exceptions inside it.

An IPv6 address may embed an IPv4 address, to which a router of the network forwards it. embedded.py knows the forms.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from keyhole.fetch.embedded import declared_ipv4, ipv4_after, likely_ipv4, possible_ipv4

# Cloud metadata services, which hand out credentials to the machines of a cloud. Except for Azure's, the ranges below
# refuse them too. They are listed so that no change of those ranges can allow them, and so that the refusal names them.
_METADATA_V4: tuple[tuple[str, str], ...] = (
    ("100.96.0.96/32", "metadata of Volcano Engine, its ECS manual"),
    ("100.100.100.200/32", "metadata of Alibaba Cloud, its ECS manual"),
    ("168.63.129.16/32", "Azure platform address, its virtual network manual; in no registry"),
    ("169.254.0.23/32", "metadata of Tencent Cloud, its CVM manual"),
    ("169.254.42.42/32", "metadata of Scaleway, its instance manual"),
    ("169.254.169.254/32", "metadata of most clouds, such as the AWS EC2 manual"),
    ("169.254.170.2/32", "credentials of AWS containers, the ECS manual"),
    ("169.254.170.23/32", "credentials of AWS pods, the EKS manual"),
    ("192.0.0.192/32", "metadata of Oracle Cloud Classic, its manual"),
)
_METADATA_V6: tuple[tuple[str, str], ...] = (
    ("fd00:42::42/128", "metadata of Scaleway, its instance manual"),
    ("fd00:a9fe:a9fe::1/128", "metadata of Akamai's Linode over IPv6, its metadata manual"),
    ("fd00:c1::a9fe:a9fe/128", "metadata of Oracle Cloud over IPv6, its Compute manual"),
    ("fd00:ec2::23/128", "credentials of AWS pods over IPv6, the EKS manual"),
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
    # Addresses of Google's services that only networks inside Google Cloud reach, with the credentials of the caller.
    ("199.36.153.4/30", "restricted.googleapis.com, Google's Private Google Access manual"),
    ("199.36.153.8/30", "private.googleapis.com, Google's Private Google Access manual"),
    ("203.0.113.0/24", "documentation, RFC 5737"),
    ("224.0.0.0/4", "multicast, RFC 5771"),
    ("240.0.0.0/4", "reserved and broadcast, RFC 1112"),
)

_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")  # RFC 4291, section 2.4
_REFUSED_V6: tuple[tuple[str, str], ...] = (
    ("2001::/23", "IETF protocol assignments with Teredo and ORCHID, RFC 2928"),
    ("2001:db8::/32", "documentation, RFC 3849"),
    ("2002::/16", "6to4: hides an IPv4 address, RFC 3056"),
    ("2600:2d00:2:1000::/64", "restricted.googleapis.com, Google's Private Google Access manual"),
    ("2600:2d00:2:2000::/64", "private.googleapis.com, Google's Private Google Access manual"),
    ("2620:4f:8000::/48", "AS112 anycast, RFC 7534"),
    ("3fff::/20", "documentation, RFC 9637"),
)

# Their last 32 bits are an IPv4 address, which is checked. The local-use prefix 64:ff9b:1::/48 (RFC 8215) has no fixed
# layout and is outside 2000::/3, so it is refused as a whole, with each prefix length.
_CHECKED_AS_V4 = (
    IPv6Network("::ffff:0:0/96"),  # IPv4-mapped, RFC 4291
    IPv6Network("64:ff9b::/96"),  # the well-known prefix of NAT64, RFC 6052
)

# Any other prefix may be the NAT64 prefix of a network, so addresses with the layout of RFC 6052 are refused if they
# embed one of these: the targets of an attack. Other refused ranges lead nowhere.
_TARGETS_V4 = tuple(
    IPv4Network(network)
    for network in (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
    )
)
# A network takes its NAT64 prefix from its own addresses. These networks publish their ranges, serve a large part of
# the web, and translate with the well-known prefix at most. Only metadata services are looked for in their addresses.
_SERVICE_NETWORKS = tuple(
    IPv6Network(network)
    for network in (
        # Cloudflare, www.cloudflare.com/ips-v6
        "2400:cb00::/32",
        "2405:8100::/32",
        "2405:b500::/32",
        "2606:4700::/32",
        "2803:f800::/32",
        "2a06:98c0::/29",
        "2c0f:f248::/32",
        # Google, www.gstatic.com/ipranges/goog.json. In its cloud, 2600:1900::/28, customers choose identifiers, and
        # Cloud NAT translates with the well-known prefix only.
        "2001:4860::/32",
        "2404:6800::/32",
        "2404:f340::/32",
        "2600:1900::/28",
        "2607:f8b0::/32",
        "2800:3f0::/32",
        "2a00:1450::/32",
        "2c0f:fb50::/32",
        # AdGuard DNS, adguard-dns.io: its resolvers end in ad1:ff and ad2:ff, which reads like 10.209.0.255.
        "2a10:50c0::/32",
    )
)

_V4 = tuple((IPv4Network(network), reason) for network, reason in _METADATA_V4 + _REFUSED_V4)
_V6 = tuple((IPv6Network(network), reason) for network, reason in _REFUSED_V6)
_METADATA = {IPv6Network(network).network_address: reason for network, reason in _METADATA_V6}
_METADATA_TARGETS = frozenset(IPv4Network(network).network_address for network, _ in _METADATA_V4)


def address_refusal(address: str, nat64: Collection[IPv6Network] = ()) -> str | None:
    """Return the reason why an address is refused, or None if it may be connected to.

    `address` is an IPv4 or IPv6 address as a resolver returns it or a URL contains it. Any other text is refused.
    `nat64`: the NAT64 prefixes of the network, as far as they are known.
    """
    if "%" in address:
        return "scoped address, RFC 4007"
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "not an IP address"
    return _refusal_v4(ip) if isinstance(ip, IPv4Address) else _refusal_v6(ip, nat64)


def _refusal_v4(ip: IPv4Address) -> str | None:
    return next((reason for network, reason in _V4 if ip in network), None)


def _refusal_v6(ip: IPv6Address, nat64: Collection[IPv6Network]) -> str | None:
    if any(ip in network for network in _CHECKED_AS_V4):
        return _refusal_v4(ipv4_after(ip, 96))
    if ip not in _GLOBAL_UNICAST_V6:
        return _METADATA.get(ip, "not global unicast, RFC 4291")
    if reason := next((reason for network, reason in _V6 if ip in network), None):
        return reason
    isatap = declared_ipv4(ip)  # the only declared form that is left inside 2000::/3
    if isatap and (reason := _refusal_v4(isatap)):
        return reason
    translated = [ipv4_after(ip, network.prefixlen) for network in nat64 if ip in network]
    target = next((v4 for v4 in [*translated, *_likely_targets(ip)] if _refusal_v4(v4)), None)
    return f"it may lead to {target}: {_refusal_v4(target)}" if target else None


def _likely_targets(ip: IPv6Address) -> list[IPv4Address]:
    """Return the targets of an attack that an address embeds if its prefix is an unknown NAT64 prefix."""
    metadata = sorted(possible_ipv4(ip) & _METADATA_TARGETS)
    if any(ip in network for network in _SERVICE_NETWORKS):
        return metadata
    return metadata + [v4 for v4 in likely_ipv4(ip) if any(v4 in network for network in _TARGETS_V4)]
