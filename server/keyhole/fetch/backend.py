"""Connect to checked ports and addresses only.

If any address of a name is refused, no connection is made: a name that resolves to both public and private addresses
is an attack or a mistake. The connection goes to the address that was checked, without a second lookup, which prevents
DNS rebinding. Only the TCP connection uses the address: Host header, SNI and certificate name stay those of the URL.
Redirects connect through this backend too.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Sequence
from ipaddress import IPv6Network
from itertools import chain, zip_longest
from typing import Any, Final

import anyio
import httpcore
from anyio.abc import SocketStream
from httpcore._backends.anyio import AnyIOStream

from keyhole.config.parsers import WEB_PORTS
from keyhole.errors import Code, KeyholeError
from keyhole.fetch.addresses import address_refusal, is_address_denied, name_refusal, port_refusal
from keyhole.fetch.dns import Nat64Prefixes, look_up

# Several addresses: attempts to connect overlap, as RFC 8305 (Happy Eyeballs) says.
#
# An address that hangs delays the connection by a quarter of a second instead of by its own time-out. The addresses
# were checked before.

MAX_ADDRESSES: Final = 4
"""Addresses tried per connection: enough for two IPv4 and two IPv6 addresses, and few enough for one deadline."""
ATTEMPT_DELAY: Final = 0.25
"""Seconds without an answer after which the next address is tried too (RFC 8305, section 8)."""

Connect = Callable[[str], Awaitable[httpcore.AsyncNetworkStream]]
"""Connects to an address. Raises httpcore.ConnectError, httpcore.ConnectTimeout or, if the operator's proxy cannot
connect, KeyholeError (connect_failure): the next address may be tried."""
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


# The operator's proxy: a tunnel to a checked address.

MAX_HEAD: Final = 16_384
"""Bytes read of the proxy's response to CONNECT. Proxies send a few hundred; other servers may send anything."""

_SUCCESS: Final = re.compile(rb"HTTP/1\.[01] 2[0-9]{2}[ \r]")  # RFC 9110, section 9.3.6: any 2xx opens the tunnel
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r]")

UncheckedDial = Callable[[str, int], Awaitable[httpcore.AsyncNetworkStream]]
"""Connects to a host and port without any check."""


async def connect_through_proxy(
    proxy: str, address: str, port: int, dial: UncheckedDial
) -> httpcore.AsyncNetworkStream:
    """Return a stream to `address:port` through `proxy` (`http://host:port`).

    Raises KeyholeError: connect_failure.
    """
    host, _, proxy_port = proxy.removeprefix("http://").rpartition(":")
    try:
        stream = await dial(host.strip("[]"), int(proxy_port))
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY cannot be reached") from error
    is_open = False
    try:
        await _send_connect(stream, f"[{address}]:{port}" if ":" in address else f"{address}:{port}")
        is_open = True
    except httpcore.NetworkError as error:
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY closed the connection") from error
    finally:
        if not is_open:
            await stream.aclose()
    return stream


async def _send_connect(stream: httpcore.AsyncNetworkStream, authority: str) -> None:
    await stream.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode("ascii"))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = await stream.read(4_096)
        head += piece
        if not piece or len(head) > MAX_HEAD:
            raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY did not answer like a proxy")
    if not _SUCCESS.match(head):
        status = _STATUS.match(head)
        answer = f"HTTP {int(status[1])}" if status else "something other than HTTP"
        raise KeyholeError(Code.CONNECT_FAILURE, f"the proxy of KEYHOLE_PROXY answered {answer} for {authority}")
    # In HTTP and TLS the client sends first, so these bytes are the proxy's, not the site's response.
    if not head.endswith(b"\r\n\r\n"):
        raise KeyholeError(Code.CONNECT_FAILURE, "the proxy of KEYHOLE_PROXY sent data before the site could")


# TCP connections: closed if the caller is cancelled while they are being opened.


class TcpBackend(httpcore.AnyIOBackend):
    """Connects to IP addresses itself, and to names, such as that of a proxy, as httpcore does."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to `host:port`. Raises httpcore.ConnectError."""
        family = _family(host)
        if family is None:
            return await super().connect_tcp(host, port, timeout, local_address, socket_options)
        connection, stream = socket.socket(family, socket.SOCK_STREAM), None
        try:
            connection.setblocking(False)
            await asyncio.get_running_loop().sock_connect(connection, (host, port))
            stream = await SocketStream.from_socket(connection)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        finally:
            if stream is None:
                connection.close()
        return AnyIOStream(stream)


def _family(host: str) -> socket.AddressFamily | None:
    """Return the family of an IP address, None for a name."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return family
    return None


# The checked backend: it connects to checked ports and addresses only.

IsAllowed = Callable[[str], bool]
"""Returns True if a `host:port` is on the operator's list of private endpoints."""


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """A network backend for httpcore that resolves a name, checks the addresses and connects to one of them.

    Endpoints on the operator's list may have any port, name and address. They bypass the proxy if they are in `direct`
    or have an address that is refused otherwise. No endpoint may have an address that the operator denies.
    """

    def __init__(
        self,
        is_allowed: IsAllowed,
        ports: Container[int] = WEB_PORTS,
        proxy: str = "",
        direct: Container[str] = frozenset(),
        deny: frozenset[str] = frozenset(),
        nat64: Nat64Prefixes | None = None,
    ) -> None:
        self._is_allowed = is_allowed
        self._ports = ports
        self._proxy = proxy
        self._direct = direct
        self._deny = deny
        self._nat64 = nat64 or Nat64Prefixes()
        self._tcp = TcpBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to `host:port`.

        Raises KeyholeError: dns_failure, blocked_address, domain_not_allowed, connect_failure.
        """
        endpoint = f"{host}:{port}"
        addresses = await self.find_addresses(host, port)
        is_private = self._is_allowed(endpoint) and any(map(address_refusal, addresses))
        is_direct = endpoint in self._direct or is_private

        async def dial(address: str, port: int) -> httpcore.AsyncNetworkStream:
            return await self._tcp.connect_tcp(address, port, timeout, local_address, socket_options)

        async def connect(address: str) -> httpcore.AsyncNetworkStream:
            if is_direct or not self._proxy:
                return await dial(address, port)
            return await connect_through_proxy(self._proxy, address, port, dial)

        try:
            return await connect_to_first(order_addresses(addresses), connect)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            raise KeyholeError(Code.CONNECT_FAILURE, f"could not connect to {host}:{port}") from error

    async def find_addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host, after one lookup, if all of them may be connected to.

        Raises KeyholeError: dns_failure, blocked_address, domain_not_allowed.
        """
        is_exempt = self._is_allowed(f"{host}:{port}")
        addresses = await (_resolve(host, port) if is_exempt else self._checked_addresses(host, port))
        if denied := next((address for address in addresses if is_address_denied(address, self._deny)), None):
            raise KeyholeError(
                Code.DOMAIN_NOT_ALLOWED, f"the operator's settings do not allow {denied}, the address of {host}"
            )
        return addresses

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Raise KeyholeError (blocked_address): a URL cannot name a Unix socket."""
        raise KeyholeError(Code.BLOCKED_ADDRESS, "Unix sockets cannot be fetched")

    async def sleep(self, seconds: float) -> None:
        """Sleep. httpcore calls this between its own retries, which are disabled."""
        await asyncio.sleep(seconds)

    async def _checked_addresses(self, host: str, port: int) -> list[str]:
        if reason := port_refusal(port, self._ports):
            raise KeyholeError(Code.BLOCKED_ADDRESS, f"port {port} is refused ({reason})")
        if reason := name_refusal(host):
            raise KeyholeError(Code.BLOCKED_ADDRESS, f"{host} is refused ({reason})")
        addresses = await _resolve(host, port)
        _raise_for_refused(host, addresses)
        if any(":" in address for address in addresses):
            _raise_for_refused(host, addresses, await self._nat64.get())
        return addresses


async def start_tls(
    stream: httpcore.AsyncNetworkStream, context: ssl.SSLContext, host: str
) -> httpcore.AsyncNetworkStream:
    """Return a stream that encrypts `stream` with TLS. Raises KeyholeError (tls_failure)."""
    secured = None
    try:
        secured = await stream.start_tls(context, host)
    except httpcore.ConnectError as error:
        reason = getattr(error.__cause__, "verify_message", "") or "the TLS handshake failed"
        raise KeyholeError(Code.TLS_FAILURE, f"{host}: {reason}") from error
    finally:
        # httpcore closes the connection after an error, but not after the cancellation of a stalled handshake.
        if secured is None:
            with anyio.CancelScope(shield=True):
                await stream.aclose()
    return secured


def _raise_for_refused(host: str, addresses: Iterable[str], nat64: Collection[IPv6Network] = ()) -> None:
    for address in addresses:
        if reason := address_refusal(address, nat64):
            name = host if host == address else f"{host} resolves to {address}, which"
            raise KeyholeError(Code.BLOCKED_ADDRESS, f"{name} is refused ({reason})")


async def _resolve(host: str, port: int) -> list[str]:
    try:
        answers = await look_up(host, port)
    except (socket.gaierror, UnicodeError) as error:
        # EAI_AGAIN: the resolver reached no name server, mostly because there is no network.
        has_no_server = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
        fault = f"no name server answered for {host}" if has_no_server else f"the name {host} could not be resolved"
        raise KeyholeError(Code.DNS_FAILURE, fault) from error
    # A dict keeps the resolver's order, which is the order of preference of RFC 6724.
    addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
    if not addresses:
        raise KeyholeError(Code.DNS_FAILURE, f"the name {host} has no address")
    return addresses
