"""Apply the operator's allow and deny lists of domains.

`example.com` matches only that host, and `*.example.com` matches all its subdomains, as in certificates and content
security policies. A deny entry takes precedence over an allow entry; an empty allow list allows every host.

A denied IP address is denied in every form: as the host of a URL, as an answer to a lookup, and embedded in an IPv6
address. An allowed IP address is allowed only as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.embedded import declared_ipv4, possible_ipv4
from keyhole.fetch.urls import parse_target


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
