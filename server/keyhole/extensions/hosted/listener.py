"""Check that the settings are safe for an address, and open a listening socket on it."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.hosted.host_check import read_rules
from keyhole.serve.http.origins import LOOPBACK_HOSTS, is_secure_url

log = logging.getLogger(__name__)

_OAUTH_OPTIONS: Final = ("oauth_audience", "oauth_jwks_url", "oauth_scopes")
"""Settings that have no effect without `oauth_issuer`."""


@contextmanager
def open_listener(config: Config, host: str, port: int, *, shared: bool = False) -> Iterator[socket.socket]:
    """Yield a socket that listens on a host name or an IPv4 or IPv6 address. A name is resolved once.

    `shared`: True if several processes of this user listen on the port.
    Raises KeyholeError (invalid_argument) if the settings are not safe for the address, or the port cannot be used.
    """
    with _bind(config, host, port, shared=shared) as listener:
        listener.listen()  # now, so that a client that connects while the server loads is not refused
        yield listener


@contextmanager
def reserve_port(config: Config, host: str, port: int) -> Iterator[int]:
    """Yield a port on which processes can open shared listeners. For port 0, the system chooses one.

    Raises KeyholeError (invalid_argument) as `open_listener` does.
    """
    with _bind(config, host, port, shared=True) as bound:
        yield bound.getsockname()[1]


@contextmanager
def _bind(config: Config, host: str, port: int, *, shared: bool) -> Iterator[socket.socket]:
    family, address = _resolve(host, port)
    check_exposure(config, str(address[0]))
    if warning := exposure_warning(config):
        log.warning(warning)
    # IPPROTO_TCP is explicit because asyncio disables Nagle's algorithm only then. With that algorithm, the second
    # half of an answer waits up to 40 ms for the client's acknowledgement of the first half.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: {error.strerror}") from error
        yield listener


def listener_url(listener: socket.socket, path: str) -> str:
    """Return the URL of a bound socket for clients on this machine."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


def check_exposure(config: Config, address: str) -> None:
    """Check that the settings are safe for a server on `address`, a numeric address that others may be able to reach.

    Raises KeyholeError (invalid_argument), which names the settings to change.
    """
    read_rules(config)
    if error := _auth_error(config) or _exposure_error(config, address):
        raise KeyholeError(Code.INVALID_ARGUMENT, error)


def exposure_warning(config: Config) -> str:
    """Return a warning if a proxy may forward unauthenticated requests of other machines, or ""."""
    has_authentication = config.tokens_file is not None or config.oauth_issuer
    if has_authentication or all(rule.host in LOOPBACK_HOSTS for rule in read_rules(config).hosts):
        return ""
    return (
        "callers are not authenticated, and KEYHOLE_ALLOWED_HOSTS lets a proxy forward requests of other machines: "
        "the proxy must authenticate them"
    )


def is_loopback(address: str) -> bool:
    """Return whether a numeric address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _exposure_error(config: Config, address: str) -> str:
    if is_loopback(address):
        return ""
    missing = [] if config.allowed_hosts else ["KEYHOLE_ALLOWED_HOSTS (the names that clients use)"]
    if config.tokens_file is None and not config.oauth_issuer:
        missing.append("KEYHOLE_TOKENS_FILE or KEYHOLE_OAUTH_ISSUER (who may call)")
    if not missing:
        return ""
    return f"{address} is not loopback, so others can connect: set {' and '.join(missing)}, or serve on 127.0.0.1"


def _auth_error(config: Config) -> str:
    if config.tokens_file is not None and config.oauth_issuer:
        return "KEYHOLE_TOKENS_FILE and KEYHOLE_OAUTH_ISSUER are both set; unset one"
    if config.look and config.tokens_file is None and not config.oauth_issuer:
        return (
            "KEYHOLE_LOOK=on needs KEYHOLE_TOKENS_FILE or KEYHOLE_OAUTH_ISSUER; on your own machine, use `keyhole look`"
        )
    if config.operator_token and not config.look:
        return "KEYHOLE_OPERATOR_TOKEN is set without KEYHOLE_LOOK=on, so nothing is shown"
    if not config.oauth_issuer:
        unused = [f"KEYHOLE_{name.upper()}" for name in _OAUTH_OPTIONS if getattr(config, name)]
        return f"{unused[0]} is set without KEYHOLE_OAUTH_ISSUER, so no token would be required" if unused else ""
    if not config.public_url:
        return "KEYHOLE_OAUTH_ISSUER needs KEYHOLE_PUBLIC_URL, the URL of /mcp that tokens are issued for"
    for name in ("oauth_issuer", "oauth_jwks_url"):
        if (url := getattr(config, name)) and not is_secure_url(url):
            return f"KEYHOLE_{name.upper()} must be https, or on loopback: whoever can change the keys can forge tokens"
    return ""


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    if not host.strip():
        raise KeyholeError(Code.INVALID_ARGUMENT, "--host must be a name or an address; 0.0.0.0 is all of IPv4")
    if not 0 <= port < 65_536:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"port {port} cannot be used: a port is from 1 to 65,535")
    try:
        entries = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise KeyholeError(
            Code.INVALID_ARGUMENT, f"--host {host[:100]!r} cannot be resolved on this machine"
        ) from error
    # IPv4 first: `localhost` may be both, and clients try 127.0.0.1.
    family, _, _, _, address = min(entries, key=lambda entry: entry[0] is not socket.AddressFamily.AF_INET)
    return family, address
