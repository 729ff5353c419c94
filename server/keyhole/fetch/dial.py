"""Connect to one of several addresses of a host, as RFC 8305 (Happy Eyeballs) says.

Attempts overlap: an address that hangs delays the connection by a quarter of a second instead of by its own time-out.
The addresses were checked before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain, zip_longest
from typing import Final

import httpcore

from keyhole.errors import KeyholeError

MAX_ADDRESSES: Final = 4
"""Addresses tried per connection: enough for two IPv4 and two IPv6 addresses, and few enough for one deadline."""
ATTEMPT_DELAY: Final = 0.25
"""Seconds after which the next address is tried beside one that has not answered (RFC 8305, section 8)."""

Connect = Callable[[str], Awaitable[httpcore.AsyncNetworkStream]]
"""Connects to an address. Raises httpcore.ConnectError, httpcore.ConnectTimeout or, if the operator's proxy cannot,
KeyholeError (connect_failure): the next one may be tried."""
Attempt = asyncio.Future[httpcore.AsyncNetworkStream]

_closing: set[asyncio.Future[None]] = set()
"""The streams that are being closed. The event loop itself holds no strong reference to a task."""


def order_addresses(addresses: Sequence[str]) -> list[str]:
    """Return the addresses to try: the families in turn, the resolver's choice first (RFC 8305, section 4)."""
    preferred = [address for address in addresses if (":" in address) == (":" in addresses[0])]
    others = [address for address in addresses if address not in preferred]
    return [address for address in chain(*zip_longest(preferred, others)) if address][:MAX_ADDRESSES]


async def connect_to_first(
    addresses: Sequence[str], connect: Connect, delay: float = ATTEMPT_DELAY
) -> httpcore.AsyncNetworkStream:
    """Return a stream to the address that answers first.

    The next address is tried when an attempt has failed or has lasted for `delay` seconds. Raises the failure of the
    last attempt, and every other exception of `connect` at once.
    """
    left = list(addresses)
    started: list[Attempt] = []
    running: set[Attempt] = set()
    winner: Attempt | None = None
    failure: Exception = httpcore.ConnectError("no address")
    try:
        while winner is None and (left or running):
            if left:
                started.append(asyncio.ensure_future(connect(left.pop(0))))
                running.add(started[-1])
            done, running = await asyncio.wait(
                running, timeout=delay if left else None, return_when=asyncio.FIRST_COMPLETED
            )
            winner = next((attempt for attempt in done if attempt.exception() is None), None)
            if winner is None:
                failure = next((_connect_failure(attempt) for attempt in done), failure)
    finally:  # nothing is awaited here: a cancellation would lose the stream of the winner
        for attempt in started:
            if attempt is not winner:
                attempt.cancel()
                attempt.add_done_callback(_close_stream)
    if winner is None:
        raise failure
    return winner.result()


def _connect_failure(attempt: Attempt) -> Exception:
    """Return the failure to connect to an address. Raises any other exception."""
    try:
        attempt.result()
    except (httpcore.ConnectError, httpcore.ConnectTimeout, KeyholeError) as error:
        return error
    raise AssertionError("the attempt succeeded")


def _close_stream(attempt: Attempt) -> None:
    """Close the stream of an attempt that has connected, in a task of its own."""
    if not attempt.cancelled() and attempt.exception() is None:
        closing = asyncio.ensure_future(attempt.result().aclose())
        _closing.add(closing)
        closing.add_done_callback(_closing.discard)
