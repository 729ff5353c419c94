"""Decide which IP addresses, host names, ports and domains may be connected to.

`ipaddress.is_global` is not enough: its answer differs between Python releases, and it accepts several addresses of
private services (192.0.0.192, 168.63.129.16, 192.88.99.0/24). For IPv6 the default is reversed: everything outside
2000::/3, the only block assigned as global unicast, is refused, and the table below lists exceptions inside it.

An IPv6 address may embed an IPv4 address, to which a router of the network forwards it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Container, Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import parse_target

# Embedded addresses: the IPv4 addresses in IPv6 addresses, and the NAT64 prefixes that an answer discloses.

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

    Only the layout of the address is checked, so that few addresses of ordinary servers are taken for translated
    addresses: RFC 6052, section 2.2, sets byte 8 to zero and the bits after the IPv4 address too. An identifier of zero
    embeds only the beginning of a network.
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


# IP addresses: every row of the tables cites its source.

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


# Host names and ports: decided before any lookup. Every row of the tables cites its source.

_METADATA_NAMES: Final[tuple[tuple[str, str], ...]] = (
    ("api.metadata.cloud.ibm.com", "metadata of IBM Cloud, its VPC metadata API reference"),
    ("instance-data.ec2.internal", "metadata of AWS, the resolver of its VPCs"),
    ("metadata.exoscale.com", "metadata of Exoscale, its manual of user data"),
    ("metadata.goog", "metadata of Google Cloud, its Compute Engine manual"),
    ("metadata.google.internal", "metadata of Google Cloud, its Compute Engine manual"),
    ("metadata.packet.net", "metadata of Packet, now Equinix Metal, its manual"),
    ("metadata.platformequinix.com", "metadata of Equinix Metal, its manual"),
    ("metadata.tencentyun.com", "metadata of Tencent Cloud, its CVM manual"),
)
"""Names of cloud metadata services, refused whatever they resolve to: inside its cloud, such a name may lead to an
address that looks public. `metadata` and `instance-data` are not listed, because every name without a dot is
refused."""

_REFUSED_NAMES: Final[tuple[tuple[str, str], ...]] = (
    ("localhost", "a loopback name, RFC 6761"),
    ("local", "a name of the local link, RFC 6762"),
    ("onion", "a Tor name, RFC 7686"),
    ("alt", "not a DNS name, RFC 9476"),
    ("home.arpa", "a name of the home network, RFC 8375"),
    ("internal", "a name for private use, ICANN resolution 2024.07.29.06"),
    # Not in the DNS, but in wide private use: RFC 6762 warns of each.
    ("corp", "a private name, RFC 6762 appendix G"),
    ("home", "a private name, RFC 6762 appendix G"),
    ("intranet", "a private name, RFC 6762 appendix G"),
    ("lan", "a private name, RFC 6762 appendix G"),
    ("private", "a private name, RFC 6762 appendix G"),
)
"""Names that no public web site uses. Names below them are refused too. A lookup could only lead into a private
network, or disclose private names to an outside resolver. `test`, `example` and `invalid` are left to the
resolver, as RFC 6761 requires of applications."""


def name_refusal(host: str) -> str | None:
    """Return the reason why a host name is refused before its lookup, or None. IP addresses are checked elsewhere."""
    if _is_address(host):
        return None
    names = _METADATA_NAMES + _REFUSED_NAMES
    if reason := next((reason for name, reason in names if f".{host}".endswith(f".{name}")), None):
        return reason
    if "." not in host:
        return "not a full name: a resolver may complete it with the local domain, RFC 1535"
    return None


def is_private(host: str) -> bool:
    """Return whether a host is a private address, or a name that no public site has."""
    return (address_refusal(host) if _is_address(host) else name_refusal(host)) is not None


def port_refusal(port: int, ports: Container[int]) -> str | None:
    """Return the reason why a port is refused, or None if it is among the allowed `ports`."""
    return None if port in ports else "not among the ports that KEYHOLE_PORTS allows"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


# Domains: the operator's allow and deny lists.
#
# `example.com` matches only that host, and `*.example.com` matches all its subdomains, as in certificates and content
# security policies. A deny entry takes precedence over an allow entry; an empty allow list allows every host.
#
# A denied IP address is denied in every form: as the host of a URL, as an answer to a lookup, and embedded in an IPv6
# address. An allowed IP address is allowed only as it is written.


def check_domain(host: str, allow: frozenset[str], deny: frozenset[str]) -> None:
    """Raise KeyholeError (domain_not_allowed) if the lists forbid a host.

    `host` is normalized as by urls.py: ASCII, lower case, IPv6 without brackets. The patterns are normalized as by
    config/parsers.py.
    """
    if not is_domain_allowed(host, allow, deny):
        raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, f"the operator's settings do not allow {host}")


def is_url_allowed(url: str, allow: frozenset[str], deny: frozenset[str]) -> bool:
    """Return True if the lists allow a URL's host, False for an invalid URL."""
    try:
        return is_domain_allowed(parse_target(url).host, allow, deny)
    except KeyholeError:
        return False


def is_domain_allowed(host: str, allow: frozenset[str], deny: frozenset[str]) -> bool:
    """Return True if the lists allow a host."""
    matching = frozenset(_matching_patterns(host))
    return not (matching & deny or is_address_denied(host, deny)) and (not allow or bool(matching & allow))


def is_address_denied(host: str, deny: frozenset[str]) -> bool:
    """Return True if a host is an IP address that the deny list contains in any form. False for a name."""
    denied = _addresses(deny)
    address = _parse_address(host) if denied else None
    if address is None:
        return False
    embedded = possible_ipv4(address) if isinstance(address, IPv6Address) else frozenset()
    return not denied.isdisjoint({address, *embedded})


@lru_cache(maxsize=16)
def _addresses(patterns: frozenset[str]) -> frozenset[IPv4Address | IPv6Address]:
    """Return the IP addresses among patterns, and the IPv4 addresses that those declare to embed."""
    addresses = {address for pattern in patterns if (address := _parse_address(pattern))}
    embedded = {declared_ipv4(address) for address in addresses if isinstance(address, IPv6Address)}
    return frozenset(addresses) | frozenset(address for address in embedded if address)


def _parse_address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _matching_patterns(host: str) -> Iterator[str]:
    """Yield the patterns that match a host: the host itself, and `*.` with each parent domain of a name."""
    yield host
    if _parse_address(host):
        return
    _, dot, parent = host.partition(".")
    while dot:
        yield f"*.{parent}"
        _, dot, parent = parent.partition(".")
