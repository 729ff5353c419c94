"""How values of settings are read. Raises ValueError with what would be right, and never echoes a key."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Final

MIN_KEY: Final = 8
"""Characters. Real keys have 30; what is shorter could not be told from words when it is taken out of an answer."""

_DOMAIN = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
_ENDPOINT = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):([0-9]{1,5})")
_URL = re.compile(r"https?://[^\s/?#]+[^\s]*", re.IGNORECASE)


def between(low: float, high: float, kind: type[int] | type[float]) -> Callable[[str], float]:
    """A number within bounds, which may be grouped as 9,000 or 9_000."""

    def parse(raw: str) -> float:
        try:
            # 9,000 as in the README, but not 1,5: that comma may be a decimal one.
            plain = raw.replace(",", "") if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", raw) else raw
            value = kind(plain.replace("_", ""))
        except ValueError as error:
            raise ValueError("must be a whole number" if kind is int else "must be a number") from error
        if not low <= value <= high:
            raise ValueError(f"must be from {low:,} to {high:,}")
        return value

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    """One of a few words, however it is capitalised."""
    known = {choice.lower(): choice for choice in choices}

    def parse(raw: str) -> str:
        if raw.lower() not in known:
            raise ValueError(f"must be {', '.join(choices[:-1])} or {choices[-1]}")
        return known[raw.lower()]

    return parse


def key(raw: str) -> str:
    """A key as it can stand in a header."""
    if len(raw) < MIN_KEY or not (raw.isascii() and raw.isprintable() and " " not in raw):
        raise ValueError(f"must be at least {MIN_KEY} printable ASCII characters without spaces, as keys are")
    return raw


def header_text(raw: str) -> str:
    """What a header can carry."""
    if not (raw.isascii() and raw.isprintable()):
        raise ValueError("must be printable ASCII, as headers are")
    return raw


def names(raw: str) -> tuple[str, ...]:
    """Names in small letters, between commas."""
    return tuple(name.strip().lower() for name in raw.split(",") if name.strip())


def scopes(raw: str) -> tuple[str, ...]:
    """Names as they are written, for OAuth tells them apart by their case, between commas or spaces."""
    return tuple(raw.replace(",", " ").split())


def endpoints(raw: str) -> frozenset[str]:
    """`host:port` pairs; a port must be named, so that one allowed service does not open a whole host."""
    found = set()
    for name in names(raw):
        endpoint = _ENDPOINT.fullmatch(name)
        if endpoint is None or not 0 < int(endpoint[3]) < 65_536:
            raise ValueError(f"{name!r} is not host:port")
        # As urls.py writes addresses: ::1, however long it was spelt. A malformed one raises ValueError too.
        host = str(ipaddress.IPv6Address(endpoint[1])) if endpoint[1] else endpoint[2]
        found.add(f"{host}:{int(endpoint[3])}")
    return frozenset(found)


def ports(raw: str) -> frozenset[int]:
    """Ports and ranges of ports, such as 80,443,8000-8999."""
    found: set[int] = set()
    for name in names(raw):
        span = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", name)
        first, last = (int(span[1]), int(span[2] or span[1])) if span else (0, 0)
        if not 0 < first <= last < 65_536:
            raise ValueError(f"{name!r} is neither a port nor a range such as 8000-8999")
        found.update(range(first, last + 1))
    return frozenset(found)


def proxy(raw: str) -> str:
    """The address of a proxy, which no user name is sent to."""
    found = re.fullmatch(r"http://([^/@,]+)/?", raw.lower())
    if found is None:
        raise ValueError("must be http://host:port, without a user name")
    endpoints(found[1])
    return f"http://{found[1]}"


def domains(raw: str) -> frozenset[str]:
    """Hosts and `*.` patterns in ASCII, as urls.py writes hosts."""
    found = set()
    for name in names(raw):
        try:
            found.add(_domain(name))
        except ValueError as error:
            raise ValueError(f"{name!r} is neither a host, such as example.com, nor *.example.com") from error
    return frozenset(found)


def _domain(name: str) -> str:
    if name.startswith("["):
        return str(ipaddress.IPv6Address(name[1:-1]))
    star, bare = ("*.", name[2:]) if name.startswith("*.") else ("", name)
    if not bare.isascii():
        import idna

        bare = idna.encode(bare, uts46=True).decode("ascii")
    domain = star + bare.removesuffix(".")
    if ".." in domain or not _DOMAIN.fullmatch(domain):
        raise ValueError
    return domain


def http_url(raw: str) -> str:
    """One URL that a query can be added to."""
    if not re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", raw, re.IGNORECASE):
        raise ValueError("must be an absolute http:// or https:// URL without a query")
    return raw


def api_url(raw: str) -> str:
    """The one address of an API, as it is asked."""
    if not _URL.fullmatch(raw):
        raise ValueError("must be one absolute http:// or https:// URL")
    return raw


def http_urls(raw: str) -> tuple[str, ...]:
    """URLs; a comma within one is its own."""
    found = _urls(raw)
    for url in found:
        if not _URL.fullmatch(url):
            raise ValueError(f"{url!r} is not an absolute http:// or https:// URL")
    return found


def known_urls(raw: str) -> frozenset[str]:
    """URLs; a comma within one is its own. A star stands only at an end, and never within the host."""
    found = frozenset(_urls(raw))
    for url in found:
        if not re.fullmatch(r"https?://[^\s/?#*]+(?:/[^\s#*]*\*?)?", url, re.IGNORECASE):
            raise ValueError(f"{url!r} is neither a URL nor the beginning of URLs, such as https://example.com/docs/*")
    return found


def _urls(raw: str) -> tuple[str, ...]:
    """What stands between commas or spaces that a URL follows."""
    return tuple(re.split(r"[\s,]+(?=https?://)", raw.strip().rstrip(","), flags=re.IGNORECASE))


def switch(raw: str) -> bool:
    """`on` or `off`."""
    return one_of("on", "off")(raw) == "on"


def store_address(raw: str) -> str:
    """`memory`, or the address of a PostgreSQL database, which may hold a password."""
    if raw.lower() != "memory" and not re.match(r"postgres(ql)?://", raw):
        raise ValueError("must be `memory` or an address that begins with postgresql://")
    return raw
