"""Parsers of setting values. They raise ValueError with a message that describes valid values and quotes no key."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

WEB_PORTS: Final = frozenset(
    {80, 443, 8008, 8080}  # http, https and http-alt in IANA's registry of ports
    | {8000, 8081, 8443, 8888, 81, 3000, 4443, 5000, 9443}  # other common ports of servers and frameworks
    | {2052, 2053, 2082, 2083, 2086, 2087, 2095, 2096, 8880}  # the other ports on which Cloudflare serves sites
)
"""Ports that may be connected to by default. They are listed, because a list of forbidden ports is never complete: the
bad ports of WHATWG's Fetch standard lack Redis, Docker and etcd. No bad port is in this list."""
MIN_KEY: Final = 8
"""Minimum characters of a key. Real keys have about 30. Keys are removed from responses, and a shorter key may equal a
word."""

MIN_TOKEN: Final = 16
"""Minimum characters of an operator's token, not counting common words. Sixteen random characters suffice."""
MIN_DISTINCT: Final = 8
"""Minimum different characters of an operator's token. 99 % of random tokens of 16 hexadecimal digits have as many."""

_TOKEN = re.compile(rf"[A-Za-z0-9._~+/-]{{{MIN_TOKEN},1000}}")
_COMMON_WORDS = re.compile(
    r"password|passphrase|pass|secret|token|operator|keyhole|admin|root|user|change|default|example|letmein|welcome"
    r"|qwerty|qwertz|asdf|zxcv|test|demo|look|this|that|your|here|the|please|replace|with|insert|master|server|random"
)
"""Words that no random token contains. Their characters are not counted."""
_DOMAIN = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
_NUMERIC_END = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$")
_ENDPOINT = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):([0-9]{1,5})")
_URL = re.compile(r"https?://[^\s/?#]\S*", re.IGNORECASE)


def between(low: float, high: float, kind: type[int] | type[float]) -> Callable[[str], float]:
    """Return a parser of numbers from `low` to `high`, optionally with separators as in 9,000 or 9_000."""

    def parse(raw: str) -> float:
        try:
            # Accept 9,000, as in the README, but not 1,5, in which the comma may be a decimal separator.
            plain = raw.replace(",", "") if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", raw) else raw
            value = kind(plain.replace("_", ""))
        except ValueError as error:
            raise ValueError("must be a whole number" if kind is int else "must be a number") from error
        if not low <= value <= high:
            raise ValueError(f"must be from {low:,} to {high:,}")
        return value

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser that accepts one of `choices` in upper or lower case."""
    known = {choice.lower(): choice for choice in choices}

    def parse(raw: str) -> str:
        if raw.lower() not in known:
            raise ValueError(f"must be {', '.join(choices[:-1])} or {choices[-1]}")
        return known[raw.lower()]

    return parse


def key(raw: str) -> str:
    """Parse an API key, which must be valid in an HTTP header."""
    if len(raw) < MIN_KEY or not (raw.isascii() and raw.isprintable() and " " not in raw):
        raise ValueError(f"must be at least {MIN_KEY} printable ASCII characters without spaces")
    return raw


def token(raw: str) -> str:
    """Parse a token that an operator chose and a browser may keep in a cookie."""
    if not _TOKEN.fullmatch(raw):
        raise ValueError(f"must be at least {MIN_TOKEN} letters, digits and characters of -._~+/")
    if _is_guessable(raw.lower()):
        raise ValueError("can be guessed: take a random one, such as the output of `openssl rand -hex 32`")
    return raw


def _is_guessable(token: str) -> bool:
    """Return whether a token consists of common words, a repetition, or characters that follow each other."""
    rest = _COMMON_WORDS.sub("", token).strip("-._~+/")
    steps = sum(abs(ord(after) - ord(before)) <= 1 for before, after in pairwise(rest))
    is_repeated = token in (token + token)[1:-1]
    return len(rest) < MIN_TOKEN or len(set(rest)) < MIN_DISTINCT or is_repeated or 2 * steps > len(rest)


def header_text(raw: str) -> str:
    """Parse the value of an HTTP header."""
    if not (raw.isascii() and raw.isprintable()):
        raise ValueError("must be printable ASCII")
    return raw


def names(raw: str) -> tuple[str, ...]:
    """Parse names separated by commas, and convert them to lower case."""
    return tuple(name.strip().lower() for name in raw.split(",") if name.strip())


def choices_of(*known: str) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of `all`, `off` (no name) or some of the known names."""

    def parse(raw: str) -> tuple[str, ...]:
        chosen = names(raw)
        if chosen in {("all",), ("off",)}:
            return () if chosen == ("off",) else chosen
        if unknown := [name for name in chosen if name not in known]:
            raise ValueError(f"does not know {unknown[0][:40]!r}; the names are {', '.join(known)}, all and off")
        return chosen

    return parse


def scopes(raw: str) -> tuple[str, ...]:
    """Parse OAuth scopes separated by commas or spaces. Scopes are case-sensitive."""
    return tuple(raw.replace(",", " ").split())


def endpoints(raw: str) -> frozenset[str]:
    """Parse `host:port` pairs. The port is required, so that allowing one service does not allow the whole host."""
    pairs = set()
    for name in names(raw):
        endpoint = _ENDPOINT.fullmatch(name)
        if endpoint is None or not 0 < int(endpoint[3]) < 65_536:
            raise ValueError(f"{name!r} is not host:port")
        # The form of urls.py: the shortest spelling, such as ::1. A malformed address raises ValueError too.
        host = str(ipaddress.IPv6Address(endpoint[1])) if endpoint[1] else endpoint[2]
        pairs.add(f"{host}:{int(endpoint[3])}")
    return frozenset(pairs)


def ports(raw: str) -> frozenset[int]:
    """Parse ports and ranges of ports, such as 80,443,8000-8999."""
    numbers: set[int] = set()
    for name in names(raw):
        span = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", name)
        first, last = (int(span[1]), int(span[2] or span[1])) if span else (0, 0)
        if not 0 < first <= last < 65_536:
            raise ValueError(f"{name!r} is neither a port nor a range such as 8000-8999")
        numbers.update(range(first, last + 1))
    return frozenset(numbers)


def proxy(raw: str) -> str:
    """Parse the address of a proxy. User names are not supported."""
    match = re.fullmatch(r"http://([^/@,]+)/?", raw.lower())
    if match is None:
        raise ValueError("must be http://host:port, without a user name")
    endpoints(match[1])  # raises ValueError if it is not host:port
    return f"http://{match[1]}"


def domains(raw: str) -> frozenset[str]:
    """Parse hosts and `*.` patterns, normalized as by urls.py."""
    patterns = set()
    for name in names(raw):
        try:
            patterns.add(_domain(name))
        except ValueError as error:
            raise ValueError(f"{name!r} is neither a host, such as example.com, nor *.example.com") from error
    return frozenset(patterns)


def _domain(name: str) -> str:
    if ":" in name and "%" not in name:
        bracketed = name.startswith("[") and name.endswith("]")  # optional, because no port follows
        return str(ipaddress.IPv6Address(name[1:-1] if bracketed else name))
    star, bare = ("*.", name[2:]) if name.startswith("*.") else ("", name)
    if not bare.isascii():
        import idna

        bare = idna.encode(bare, uts46=True).decode("ascii")
    domain = star + bare.removesuffix(".")
    if ".." in domain or not _DOMAIN.fullmatch(domain):
        raise ValueError
    # urls.py accepts a host that ends in a number only as plain dotted IPv4, so another form would match nothing.
    return str(ipaddress.IPv4Address(domain)) if _NUMERIC_END.search(domain) else domain


def http_url(raw: str) -> str:
    """Parse a base URL without a query."""
    if not re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", raw, re.IGNORECASE):
        raise ValueError("must be an absolute http:// or https:// URL without a query")
    return raw


def api_url(raw: str) -> str:
    """Parse the URL of an API, with an optional query."""
    if not _URL.fullmatch(raw):
        raise ValueError("must be one absolute http:// or https:// URL")
    return raw


def model_name(raw: str) -> str:
    """Parse `auto`, `off` or the name of a local model."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", raw):
        raise ValueError("must be `auto`, `off` or a name from `keyhole models`")
    return raw


def http_urls(raw: str) -> tuple[str, ...]:
    """Parse URLs separated by commas or spaces. A comma inside a URL belongs to it."""
    urls = _split_urls(raw)
    for url in urls:
        if not _URL.fullmatch(url):
            raise ValueError(f"{url!r} is not an absolute http:// or https:// URL")
    return urls


def known_urls(raw: str) -> frozenset[str]:
    """Parse URLs and URL prefixes that end in `*`, separated by commas or spaces. `*` is not allowed in the host."""
    urls = frozenset(_split_urls(raw))
    for url in urls:
        if not re.fullmatch(r"https?://[^\s/?#*]+(?:/[^\s#*]*\*?)?", url, re.IGNORECASE):
            raise ValueError(f"{url!r} is neither a URL nor a URL prefix, such as https://example.com/docs/*")
    return urls


def _split_urls(raw: str) -> tuple[str, ...]:
    """Split at commas and spaces that are followed by a URL."""
    return tuple(re.split(r"(?<![\s,])[\s,]++(?=https?://)", raw.strip().rstrip(","), flags=re.IGNORECASE))


def switch(raw: str) -> bool:
    """Parse `on` or `off`."""
    return one_of("on", "off")(raw) == "on"


def store_address(raw: str) -> str:
    """Parse `memory` or the URL of a PostgreSQL database, which may contain a password."""
    if raw.lower() != "memory" and not re.match(r"postgres(ql)?://", raw):
        raise ValueError("must be `memory` or a URL that begins with postgresql://")
    return raw
