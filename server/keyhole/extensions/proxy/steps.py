"""Define the steps that the relay returns, such as messages to send and results to bound, and its waiting requests."""

from __future__ import annotations

from dataclasses import dataclass

from keyhole.extensions.proxy.messages import Key, Message
from keyhole.extensions.proxy.rewrite import Intent


@dataclass(frozen=True, slots=True)
class ClientVersion:
    """The client's name and version, which decide the limits of its results."""

    name: str = ""
    version: str = ""


@dataclass(slots=True)
class Pending:
    """A request of the client that the server has not yet answered."""

    request: Message
    client: ClientVersion
    intent: Intent | None = None
    """The intent of a call whose result may be bounded, None for other requests."""
    duplicates: int = 0
    """Further requests with the same id, which are refused once this one is answered."""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class ToClient:
    """A message for the client."""

    raw: bytes
    is_answer: bool = True
    """False for a notification or a request of the server."""
    token: Key | None = None
    """The token of the request that is answered, or of the request whose progress this is."""


@dataclass(frozen=True, slots=True)
class ToServer:
    """A message for the server."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class BoundResult:
    """A response whose result exceeds the budget or may exceed it."""

    message: Message
    pending: Pending


@dataclass(frozen=True, slots=True)
class ReadStored:
    """A call of Keyhole's own tool."""

    request: Message
    client: ClientVersion


Step = ToClient | ToServer | BoundResult | ReadStored
