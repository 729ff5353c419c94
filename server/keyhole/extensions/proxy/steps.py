"""Define the steps that the relay returns, such as messages to send and results to bound, and its waiting requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from keyhole.extensions.proxy.merge import Pages
from keyhole.extensions.proxy.messages import Key, Message
from keyhole.extensions.proxy.rewrite import Intent

SILENT_SECONDS: Final = 30.0
"""Seconds after which a list of several servers is answered without those that are silent. Clients wait for 60."""
SILENT_AT_DISCOVER_SECONDS: Final = 6.0
"""The same for `server/discover`. The Python SDK waits 10 seconds, which begin before the proxy has started, and then
takes the proxy for an older server."""
DISCOVER_SECONDS: Final = 5.0
"""Seconds after which a server that is silent to `server/discover` gets `initialize`, as the specification advises."""


@dataclass(frozen=True, slots=True)
class ClientVersion:
    """The client's name and version, which decide the limits of its results."""

    name: str = ""
    version: str = ""


@dataclass(slots=True)
class Pending:
    """A request of the client that servers have not yet answered."""

    request: Message
    client: ClientVersion
    servers: list[str]
    """The servers whose answer is missing."""
    intent: Intent | None = None
    """The intent of a call whose result may be bounded, None for other requests."""
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The results so far, by server, of a request to several servers."""
    pages: dict[str, Pages] = field(default_factory=dict)
    """The lists of several servers, as far as they have come."""
    incomplete: dict[str, str] = field(default_factory=dict)
    """Why the answer of one of several servers is missing or cut, by its name."""
    failure: Message | None = None
    """The last error, which is the answer if no server has a result."""
    duplicates: int = 0
    """Further requests with the same id, which are refused once this one is answered."""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class ToClient:
    """A message for the client."""

    raw: bytes
    is_answer: bool = True
    """False for a notification or a request of a server."""
    token: Key | None = None
    """The token of the request that is answered, or of the request whose progress this is."""


@dataclass(frozen=True, slots=True)
class ToServer:
    """A message for a server."""

    server: str
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


@dataclass(frozen=True, slots=True)
class AwaitServers:
    """A request that several servers answer: after some seconds it is answered without those that are silent."""

    pending: Pending
    seconds: float


@dataclass(frozen=True, slots=True)
class AwaitGreeting:
    """A server that may not know `server/discover`: after some seconds it is greeted in the other era."""

    server: str
    seconds: float = DISCOVER_SECONDS


Step = ToClient | ToServer | BoundResult | ReadStored | AwaitServers | AwaitGreeting
