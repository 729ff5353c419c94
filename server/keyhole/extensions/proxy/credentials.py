"""Name the caller of a request by its credentials, and carry a server's demand for credentials to the caller."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.proxy.messages import parse

REFUSALS: Final = frozenset({401, 403})
"""The statuses with which a server asks for credentials, or for different ones."""
_ERROR: Final = re.compile(r'\b(error|scope)\s*=\s*"([\w.:/ -]{1,200})"')
"""The `error` and `scope` in a `WWW-Authenticate` header, if they are safe to show (RFC 6750, section 3)."""


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of a request. A session belongs to the caller that opened it."""

    tenant: str
    authorization: str = field(default="", repr=False)
    """The header `Authorization` that is handed on to the server; "" if there is none or it is for Keyhole."""


@dataclass(frozen=True, slots=True)
class AuthorizationDemand:
    """The refusal of a server: its HTTP status and its `WWW-Authenticate`, "" without one."""

    status: int
    challenge: str


def read_authorization(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the header `Authorization`, or ""."""
    return next((value.decode("latin-1") for name, value in headers if name == b"authorization"), "")


def authorization_error(status: int, challenge: str) -> KeyholeError:
    """Return the error for a 401 or 403. Its facts are the status and the header `WWW-Authenticate`."""
    said = ", ".join(f"{name} {value}" for name, value in _ERROR.findall(challenge))
    message = f"the server answered with HTTP status {status}{f' ({said})' if said else ''}: it needs an authorization"
    return KeyholeError(Code.AUTHORIZATION_REQUIRED, message, http_status=status, www_authenticate=challenge)


def find_demand(raw: bytes) -> AuthorizationDemand | None:
    """Return the demand that a message carries, None for other messages."""
    if Code.AUTHORIZATION_REQUIRED.encode() not in raw:
        return None
    (message,) = parse(raw)
    error = message.data.get("error")
    data = error.get("data") if isinstance(error, Mapping) else None
    if not isinstance(data, Mapping) or data.get("code") != Code.AUTHORIZATION_REQUIRED:
        return None
    status = data.get("http_status")
    return AuthorizationDemand(status if status in REFUSALS else 401, str(data.get("www_authenticate", "")))
