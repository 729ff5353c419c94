"""Send the requests of a sign-in, under the address rules of all fetches.

A server and its authorization server name the addresses, so each of them could name one inside the network. Two rules
follow from the server's own URL, which the user configured: a server on loopback may name other addresses on loopback,
and a server at a private address or name may name its own host and port. `KEYHOLE_ALLOW_PRIVATE` allows others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from keyhole.config.config import Config, build_user_agent
from keyhole.fetch.addresses import check_domain, is_private
from keyhole.fetch.backend import CheckedBackend
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.fetch.client import HttpFetcher
from keyhole.fetch.urls import DEFAULT_PORTS, Target, parse_target

MAX_BYTES: Final = 1_000_000
"""Bytes of an answer; metadata and tokens have some thousand."""


class SignInClient:
    """Sends requests for the sign-in at one server. Redirects are not followed, and no cookie is kept."""

    def __init__(self, config: Config, url: str) -> None:
        """`url`: that of the server behind the proxy."""
        server = urlsplit(url)
        self._host = (server.hostname or "").lower()
        port = server.port or DEFAULT_PORTS.get(server.scheme, 443)
        self._endpoint = f"{self._host}:{port}"
        self._config = replace(config, max_bytes=MAX_BYTES, ports=frozenset(config.ports) | {port})

    async def get(self, url: str) -> ApiReply:
        """Return the answer to a GET request. Raises KeyholeError."""
        return await self._send(ApiCall(url))

    async def post(self, url: str, headers: Mapping[str, str], content: bytes) -> ApiReply:
        """Return the answer to a POST request. Raises KeyholeError."""
        return await self._send(ApiCall(url, tuple(headers.items()), content))

    async def check(self, url: str) -> None:
        """Raise KeyholeError if the sign-in may not connect to this URL. No connection is made."""
        target = parse_target(url)
        config = self._config
        check_domain(target.host, frozenset(), config.deny_domains)
        allowed = config.allow_private | self._exempt(target)
        await CheckedBackend(allowed.__contains__, config.ports, deny=config.deny_domains).find_addresses(
            target.host, target.port
        )

    async def _send(self, call: ApiCall) -> ApiReply:
        # A fetcher for each request, so that no connection of one user serves another.
        exempt = self._exempt(parse_target(call.url))
        async with HttpFetcher(self._config, build_user_agent(self._config), apis=exempt) as fetcher:
            return await fetcher.send(call)

    def _exempt(self, target: Target) -> frozenset[str]:
        """Return the endpoint of a URL if the server may name it although it is private; else nothing."""
        if is_loopback(self._host):
            return frozenset({target.endpoint}) if is_loopback(target.host) else frozenset()
        is_own = target.endpoint == self._endpoint and is_private(self._host)
        return frozenset({target.endpoint}) if is_own else frozenset()


def is_loopback(host: str) -> bool:
    """Return whether a host is an address of loopback or `localhost`; what a name resolves to does not count."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
