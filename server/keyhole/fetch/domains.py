"""Apply the operator's allow and deny lists of domains.

`example.com` matches only that host, and `*.example.com` matches all its subdomains, as in certificates and content
security policies. A deny entry takes precedence over an allow entry; an empty allow list allows every host.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyhole.errors import Code, KeyholeError
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
    return not matching & deny and (not allow or bool(matching & allow))


def _matching_patterns(host: str) -> Iterator[str]:
    """Yield the patterns that match a host: the host itself, and `*.` with each parent domain of a name."""
    yield host
    if ":" in host or host.replace(".", "").isdigit():
        return
    _, dot, parent = host.partition(".")
    while dot:
        yield f"*.{parent}"
        _, dot, parent = parent.partition(".")
