"""Resolve host names, and discover the NAT64 prefixes of the network.

Lookups run in daemon threads, so that a hanging resolver blocks neither the event loop nor the exit.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine
from ipaddress import IPv6Address, IPv6Network
from threading import Thread
from typing import Any, Final

from keyhole.fetch.addresses import DISCOVERY_NAME, nat64_prefixes

DnsAnswers = list[tuple[Any, ...]]
"""Addresses as `socket.getaddrinfo` returns them, in the resolver's order."""


async def look_up(host: str, port: int) -> DnsAnswers:
    """Return the addresses of a name. Raises socket.gaierror and UnicodeError as `socket.getaddrinfo` does.

    The resolver cannot be cancelled and may hang for minutes. The process waits at exit for the threads of the event
    loop's own `getaddrinfo`, but not for a daemon thread.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[DnsAnswers] = loop.create_future()

    def set_result(answers: DnsAnswers, error: Exception | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(answers)

    def resolve() -> None:
        answers: DnsAnswers = []
        failure: Exception | None = None
        try:
            answers = list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(set_result, answers, failure)

    Thread(target=resolve, name=f"resolve {host}", daemon=True).start()
    return await future


# NAT64 prefixes: discovered as RFC 7050 says, from the IPv6 answers for a name that has IPv4 only.
#
# A NAT64 gateway forwards addresses under its prefix to the IPv4 addresses that they embed. A prefix only adds
# refusals: no address is allowed because of it, so a forged answer opens nothing.

LIFETIME: Final = 3 * 3_600.0
"""Seconds for which an answer is used. The resolver's interface does not return the answer's own lifetime."""
RETRY: Final = 600.0
"""Seconds between a failed lookup and the next: the network may have changed, but a lookup costs time."""
MAX_WAIT: Final = 0.5
"""Seconds that a connection waits for the lookup, once per lifetime. A later answer is used for the next connection.
Without an answer, no prefix is known, and addresses.py refuses the layouts that it can recognize under any prefix."""

LookUp = Callable[[str, int], Coroutine[Any, Any, DnsAnswers]]


class Nat64Prefixes:
    """The NAT64 prefixes of the network: looked up when first needed, then remembered."""

    def __init__(self, look_up: LookUp = look_up, now: Callable[[], float] = time.monotonic) -> None:
        """Create an empty memory. `now`: seconds of a clock that never goes back."""
        self._look_up = look_up
        self._now = now
        self._lock = asyncio.Lock()
        self._prefixes: frozenset[IPv6Network] = frozenset()
        self._expires = float("-inf")
        self._lookup: asyncio.Future[DnsAnswers] | None = None

    async def get(self) -> frozenset[IPv6Network]:
        """Return the prefixes. A failed lookup is no error: the last known prefixes are returned."""
        async with self._lock:
            if self._now() >= self._expires:
                self._expires = self._now() + RETRY
                self._lookup = asyncio.ensure_future(self._look_up(DISCOVERY_NAME, 443))
                self._lookup.add_done_callback(self._read)
                await asyncio.wait({self._lookup}, timeout=MAX_WAIT)
            return self._prefixes

    def _read(self, lookup: asyncio.Future[DnsAnswers]) -> None:
        """Remember the prefixes of an answer, even if it is late. After a failure, the last known prefixes stay."""
        if lookup.cancelled() or lookup.exception():
            return
        addresses = {str(answer[4][0]).partition("%")[0] for answer in lookup.result()}
        self._prefixes = nat64_prefixes(IPv6Address(address) for address in addresses if ":" in address)
        self._expires = self._now() + LIFETIME
