"""Limit how many tokens an address may try, in the form or in cookies: a token that a person chose can be guessed."""

from __future__ import annotations

import hashlib
import ipaddress
from collections import OrderedDict
from typing import Final

from keyhole.serve.http.token_bucket import Rate, TokenBuckets

REFUSED_PER_MINUTE: Final = 10
"""Invalid tokens of one address per minute, also the most at once: more than a person mistypes, and no more than 14,400
guesses a day. Behind a proxy, all addresses are that of the proxy."""
MAX_ACCEPTED: Final = 1_000
"""Tokens that are remembered as valid, about 200 KB. The least recently used are dropped first."""
_NETWORK_BITS: Final = 64
"""Bits of an IPv6 address that count: a customer of a provider has all addresses that share them."""


class Attempts:
    """Counts the invalid tokens of each address. A token that was valid here is checked without a limit.

    So the attempts of others, also of those behind the same proxy, stop nobody who has signed in.
    """

    def __init__(self) -> None:
        self._rate = TokenBuckets(Rate(REFUSED_PER_MINUTE))
        self._accepted: OrderedDict[bytes, None] = OrderedDict()

    def begin(self, address: str, token: str, now: float) -> float:
        """Return 0 if a token may be checked now, else the seconds to wait. Call `end` after the check."""
        return 0.0 if _digest(token) in self._accepted else self._rate.take(_network(address), now)

    def end(self, address: str, token: str, *, is_valid: bool | None) -> None:
        """Record whether a token is valid, None if that could not be checked."""
        digest = _digest(token)
        was_valid = digest in self._accepted
        if is_valid:
            self._accepted[digest] = None
            self._accepted.move_to_end(digest)
            if len(self._accepted) > MAX_ACCEPTED:
                self._accepted.popitem(last=False)
        elif is_valid is False:
            self._accepted.pop(digest, None)
        if is_valid is not False and not was_valid:
            self._rate.refund(_network(address))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _network(address: str) -> str:
    """Return the network that counts as one address."""
    try:
        if (parsed := ipaddress.ip_address(address)).version == 6:
            return str(ipaddress.ip_network((int(parsed) >> _NETWORK_BITS << _NETWORK_BITS, _NETWORK_BITS)))
    except ValueError:  # a socket without an address
        pass
    return address
