"""A network of this process alone: names and public addresses lead to servers on loopback, and nothing else connects.

Replaces `socket.getaddrinfo` and `socket.socket.connect`, so that the real client runs with its real checks. A
connection to any address that no lookup should have led to is recorded and refused.
"""

from __future__ import annotations

import ipaddress
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Final
from unittest import mock

from benchmarks.fetch.faults.cases import FULL, SITE, Lookup

DOMAIN: Final = "faults.example"
FULL_ADDRESS: Final = "93.187.0.1"


@dataclass(slots=True)
class Network:
    """The hosts of the running cases. `forbidden`: the addresses that must not be connected to, but were asked for."""

    ports: dict[str, int] = field(default_factory=dict)
    """The loopback port behind each public address."""
    lookups: dict[str, Sequence[Lookup]] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    """The address of each name's own server."""
    asked: Counter[str] = field(default_factory=Counter)
    forbidden: list[str] = field(default_factory=list)
    ended: Event = field(default_factory=Event)
    """Set at the end of the run, which ends the lookups that never answer."""

    def add(self, number: int, port: int, lookups: Sequence[Lookup]) -> str:
        """Give a server on loopback a name and a public address; return the name."""
        host, address = f"{number}.{DOMAIN}", f"93.184.{number // 250}.{number % 250 + 1}"
        self.ports[address], self.addresses[host], self.lookups[host] = port, address, lookups
        return host

    def getaddrinfo(self, host: Any, port: Any, *_others: Any, **_named: Any) -> Any:
        """Answer a lookup as the name's case says; other names do not exist."""
        if _is_address(str(host)):
            return [(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
        if host not in self.lookups:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        lookup = self.lookups[host][min(self.asked[host], len(self.lookups[host]) - 1)]
        self.asked[host] += 1
        if lookup.seconds:
            self.ended.wait(lookup.seconds)
        if lookup.error:
            raise lookup.error
        named_addresses = {SITE: self.addresses[host], FULL: FULL_ADDRESS}
        answers = [named_addresses.get(address, address) for address in lookup.addresses]
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in answers
        ]

    def connect(self, connection: socket.socket, address: Any) -> None:
        """Connect to the loopback server behind a public address; refuse every other address."""
        if connection.family == socket.AF_UNIX:
            _connect(connection, address)
        elif (port := self.ports.get(str(address[0]))) is not None:
            _connect(connection, ("127.0.0.1", port))
        else:
            if not _is_address(address[0]) or not ipaddress.ip_address(address[0]).is_global:
                self.forbidden.append(str(address[0]))
            raise ConnectionRefusedError(111, "connection refused")


_connect = socket.socket.connect


@contextmanager
def simulated_network() -> Iterator[Network]:
    """Replace name lookups and connections of this process until the block ends."""
    network = Network()
    with (
        _full_server() as port,
        mock.patch("socket.getaddrinfo", network.getaddrinfo),
        mock.patch.object(socket.socket, "connect", lambda connection, address: network.connect(connection, address)),
    ):
        network.ports[FULL_ADDRESS] = port
        try:
            yield network
        finally:
            network.ended.set()


@contextmanager
def _full_server() -> Iterator[int]:
    """Yield the port of a listener whose queue is full, so that the kernel lets further connections wait."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
