"""Give each of several servers names and URIs of its own, whatever the others list.

A name that the client sees begins with the name of its server. It depends only on the names in the configuration file
and on the name that the server gave, so neither the order of lists nor a server that is down or late changes it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.rewrite import PREFIXED_READER, READER

MAX_NAME: Final = 60
"""Characters of a name. Clients add their own prefix, and model APIs accept 64."""
MAX_PREFIX: Final = 30
"""Characters of a server's prefix. The other half of `MAX_NAME` is for its own names."""
MAX_REMEMBERED: Final = 10_000
"""Digest names that are remembered for each server; its oldest are forgotten first. Servers have some dozens."""
SCHEME: Final = "keyhole:"
"""Start of a URI of one of several servers: `keyhole:SERVER:URI`."""
APP_SCHEME: Final = "ui://"
"""Scheme of the resources of MCP Apps. Hosts require it, so these become `ui://keyhole/SERVER/…`."""
APP_START: Final = f"{APP_SCHEME}keyhole/"

_DIGITS: Final = 10
"""Hexadecimal digits of a name's digest: 40 bits. Only names of one server can collide in them."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST: Final = re.compile(rf"[0-9a-f]{{{_DIGITS}}}(_|$)")
_PREFIX_DIGEST: Final = re.compile(rf"_[0-9a-f]{{{_DIGITS}}}(_|$)")
_RESERVED: Final = frozenset({READER, PREFIXED_READER})
"""The names of Keyhole's own tool."""


class Names:
    """The names and URIs of several servers, as the client sees them."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._prefixes = server_prefixes(servers)
        self._servers = {prefix: server for server, prefix in self._prefixes.items()}
        self._long_first = sorted(self._servers, key=len, reverse=True)
        self._digests: dict[str, dict[str, str]] = {server: {} for server in servers}
        """The own names of each server that are shown with a digest, by the name that the client sees."""

    def shown(self, server: str, name: str) -> str:
        """Return the name under which the client sees a tool or prompt of a server.

        A name that is too long, or would begin with the prefix of another server, contains a digest.
        """
        shown, known = self._form(server, name), self._digests[server]
        if shown != f"{self._prefixes[server]}_{name}":
            known.setdefault(shown, name)
            if len(known) > MAX_REMEMBERED:
                del known[next(iter(known))]
        return shown

    def _form(self, server: str, name: str) -> str:
        prefix = self._prefixes[server]
        plain = f"{prefix}_{name}"
        is_free = plain not in _RESERVED and not _DIGEST.match(name) and self._owner(plain) == server
        if is_free and len(plain) <= MAX_NAME:
            return plain
        return f"{prefix}_{_digest(name)[:_DIGITS]}_{name}"[:MAX_NAME]

    def find(self, shown: str) -> tuple[str, str]:
        """Return the server of a name that the client sees, and the name that this server knows.

        Raises KeyholeError: invalid_argument.
        """
        server = self._owner(shown)
        if server is not None:
            name = self._digests[server].get(shown, shown[len(self._prefixes[server]) + 1 :])
            if self._form(server, name) == shown:
                return server, name
        raise KeyholeError(Code.INVALID_ARGUMENT, f"no server has listed {shown[:64]!r}")

    def shown_uri(self, server: str, uri: str) -> str:
        """Return the URI, or URI template, under which the client sees a resource of a server."""
        prefix = self._prefixes[server]
        if uri.startswith(APP_SCHEME):
            return f"{APP_START}{prefix}/{uri.removeprefix(APP_SCHEME)}"
        return f"{SCHEME}{prefix}:{uri}"

    def find_uri(self, shown: str) -> tuple[str, str]:
        """Return the server of a URI that the client sees, and the URI that this server knows.

        Raises KeyholeError: invalid_argument, with the form that such a URI has.
        """
        for start, separator, own_start in ((SCHEME, ":", ""), (APP_START, "/", APP_SCHEME)):
            prefix, found, rest = shown.removeprefix(start).partition(separator)
            if shown.startswith(start) and found and prefix in self._servers:
                return self._servers[prefix], own_start + rest
        forms = ", ".join(f"{SCHEME}{prefix}:URI" for prefix in self._servers)
        raise KeyholeError(Code.INVALID_ARGUMENT, f"a URI names its server, as in resources/list: {forms}"[:1_000])

    def _owner(self, shown: str) -> str | None:
        """Return the server with the longest prefix that a name begins with."""
        return next((self._servers[each] for each in self._long_first if shown.startswith(f"{each}_")), None)


def server_prefixes(servers: Sequence[str]) -> Mapping[str, str]:
    """Return the prefix of each server: its name, with a digest where it is too long or not unique."""
    plain = {server: _UNSAFE.sub("_", server) for server in servers}
    counts = Counter(plain.values())
    taken: set[str] = set()
    prefixes: dict[str, str] = {}
    for server, prefix in plain.items():
        if counts[prefix] == 1 and len(prefix) <= MAX_PREFIX and not _PREFIX_DIGEST.search(prefix):
            prefixes[server] = prefix
            taken.add(prefix)
    for server in servers:
        if server not in prefixes:
            prefixes[server] = _digest_prefix(server, plain[server], taken)
            taken.add(prefixes[server])
    return {server: prefixes[server] for server in servers}


def _digest_prefix(server: str, plain: str, taken: set[str]) -> str:
    """Return the beginning of a server's name with a digest of 9 digits, which no name of a tool begins with."""
    digest = _digest(server)
    start = _PREFIX_DIGEST.split(plain[: MAX_PREFIX - _DIGITS])[0]
    ends = (digest[first : first + _DIGITS - 1] for first in range(len(digest) - _DIGITS))
    return next(each for each in (f"{start}_{end}" for end in ends) if each not in taken)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
