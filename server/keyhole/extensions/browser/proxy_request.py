"""Parse the requests of a browser to its proxy, and write what is sent to the site in their place.

A proxy receives two forms of requests (RFC 9112, section 3.2): `CONNECT host:port` opens a tunnel, which browsers use
for https and for WebSockets, and `GET http://host/path` is forwarded. Only the destination is checked here. What a
browser says to a site after that is not interpreted, as it could say the same through a tunnel.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.fetch.urls import parse_target

USER: Final = "keyhole"
"""The user name of a browser at the gateway. The password is the secret of the browser's process."""

_LINE: Final = re.compile(r"([A-Z]{1,20}) (\S+) HTTP/1\.1")
_HTTP_URL: Final = re.compile(r"http://([^/?#]*+)(/?[^#]*)")
_CREDENTIALS: Final = "proxy-authorization"
_NOT_FORWARDED: Final = frozenset({"connection", "keep-alive", "proxy-connection", _CREDENTIALS})
"""Fields between the browser and the proxy. The secret is among them."""
_LENGTH: Final = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request to the proxy, whose destination is well-formed but not yet checked."""

    host: str
    port: int
    head: bytes
    """The head to send to the site, or b"" for a tunnel."""
    body_size: int
    """Bytes of the body, which follow the head."""
    credentials: str
    """The value of Proxy-Authorization, or ""."""

    @property
    def is_tunnel(self) -> bool:
        """True for a CONNECT request."""
        return not self.head


def basic_credentials(secret: str) -> str:
    """Return the Proxy-Authorization of a browser that has the secret (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{USER}:{secret}".encode()).decode("ascii")


def parse_request(head: bytes) -> ProxyRequest:
    """Parse the head of a request, with the empty line at its end. Raises KeyholeError: invalid_url, protocol_error."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    fields = [(name.lower(), line) for line in lines for name, _, _ in [line.partition(":")]]
    line = _LINE.fullmatch(first)
    if line is None:
        raise KeyholeError(Code.PROTOCOL_ERROR, "not a request for a proxy")
    method, address = line.groups()
    credentials = _value(fields, _CREDENTIALS)
    if method == "CONNECT":
        target = parse_target(f"https://{address}/")
        return ProxyRequest(target.host, target.port, b"", 0, credentials)
    url = _HTTP_URL.fullmatch(address)
    length = _value(fields, "content-length") or "0"
    if url is None or _value(fields, "transfer-encoding") or not _LENGTH.fullmatch(length):
        raise KeyholeError(Code.PROTOCOL_ERROR, "not a request that a browser sends to a proxy")
    authority, path = url.groups()
    target = parse_target(f"http://{authority}/")
    kept = [line for name, line in fields if name not in _NOT_FORWARDED]
    # The path is sent as the browser wrote it: the browser has resolved it, and nothing is decided by it here.
    path = path if path.startswith("/") else f"/{path}"
    forwarded = "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""])
    return ProxyRequest(target.host, target.port, forwarded.encode("latin-1"), int(length), credentials)


def _value(fields: list[tuple[str, str]], wanted: str) -> str:
    """Return the value of the first field with a name, or ""."""
    return next((line.partition(":")[2].strip() for name, line in fields if name == wanted), "")
