"""Which hosts the operator's lists let us ask. Pure: patterns and a name in, a verdict out; nothing is looked up.

`example.com` is that host alone and `*.example.com` every host under it, as in certificates and content security
policies. A deny entry wins over an allow entry; an empty allow list allows every host.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import parse_target


def check_domain(host: str, allow: frozenset[str], deny: frozenset[str]) -> None:
    """Refuse a host that the lists do not let us ask.

    `host` is as urls.py writes it: ASCII, lower case, IPv6 without brackets; the patterns are as config.py reads
    them. Raises KeyholeError(domain_not_allowed).
    """
    if not domain_allowed(host, allow, deny):
        raise KeyholeError(Code.DOMAIN_NOT_ALLOWED, f"the operator's settings do not let {host} be fetched")


def url_allowed(url: str, allow: frozenset[str], deny: frozenset[str]) -> bool:
    """Whether the lists let a URL's host be asked; what is no URL is never asked for, whatever another reader of URLs
    may take its host for."""
    try:
        return domain_allowed(parse_target(url).host, allow, deny)
    except KeyholeError:
        return False


def domain_allowed(host: str, allow: frozenset[str], deny: frozenset[str]) -> bool:
    """Whether the lists let a host be asked."""
    covering = frozenset(_patterns(host))
    return not covering & deny and (not allow or bool(covering & allow))


def _patterns(host: str) -> Iterator[str]:
    """Every pattern that covers a host: itself, and a star under each of its parents. An address has none above it."""
    yield host
    if ":" in host or host.replace(".", "").isdigit():
        return
    _, dot, parent = host.partition(".")
    while dot:
        yield f"*.{parent}"
        _, dot, parent = parent.partition(".")
