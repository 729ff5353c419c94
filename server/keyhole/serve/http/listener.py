"""The socket that HTTP is served on: a host looked up, judged by exposure.py, and bound. Serves nothing."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.serve.http.exposure import check, concern

log = logging.getLogger(__name__)


@contextmanager
def listening(config: Config, host: str, port: int) -> Iterator[socket.socket]:
    """A bound socket for a host's name or its address, IPv4 or IPv6. What counts is where the name leads, once.

    Raises KeyholeError (invalid_argument) where the settings are not safe for it, or it cannot be bound.
    """
    family, address = _resolved(host, port)
    check(config, str(address[0]))
    if said := concern(config):
        log.warning(said)
    # Named as TCP: only then does asyncio switch off Nagle's algorithm, which holds back the second half of an answer
    # until the client has acknowledged the first, 40 ms later.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen()  # so that a client that comes while the rest is loaded waits and is not refused
        except OSError as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: {error.strerror}") from error
        yield listener


def url_of(listener: socket.socket, path: str) -> str:
    """Where clients on this machine reach a bound socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    if not host.strip():
        raise KeyholeError(Code.INVALID_ARGUMENT, "--host must be a name or an address; 0.0.0.0 is all of IPv4")
    if not 0 <= port < 65_536:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: a port is from 1 to 65,535")
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"--host {host[:100]!r} is not known on this machine") from error
    # IPv4 first, as before names were taken: `localhost` may be both, and clients try 127.0.0.1.
    family, _, _, _, address = min(found, key=lambda entry: entry[0] is not socket.AddressFamily.AF_INET)
    return family, address
