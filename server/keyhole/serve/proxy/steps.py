"""Define the steps that the relay returns, such as messages to send and results to bound, and its waiting requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keyhole.serve.proxy.messages import Key, Message
from keyhole.serve.proxy.rewrite import Intent


@dataclass(frozen=True, slots=True)
class Client:
    """The client's name and version, which decide the limits of its results."""

    name: str = ""
    version: str = ""


@dataclass(slots=True)
class Pending:
    """A request of the client that servers have not yet answered."""

    request: Message
    client: Client
    servers: list[str]
    """The servers whose answer is missing."""
    intent: Intent | None = None
    """The intent of a call whose result may be bounded, None for other requests."""
    gathers: bool = False
    """True if the answers of several servers become one."""
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """The results of the servers that have answered."""
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
    client: Client


@dataclass(frozen=True, slots=True)
class AwaitServers:
    """A request that several servers answer: after some seconds it is answered without those that are silent."""

    pending: Pending


Step = ToClient | ToServer | BoundResult | ReadStored | AwaitServers
