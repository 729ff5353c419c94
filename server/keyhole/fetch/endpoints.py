"""Decide which host names and ports may be connected to, before any lookup. Every row of the table cites its source."""

from __future__ import annotations

import ipaddress
from collections.abc import Container
from typing import Final

from keyhole.fetch.addresses import address_refusal

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
address that looks public. Names of one word, such as `metadata` and `instance-data`, are refused as all such names."""

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
