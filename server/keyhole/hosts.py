"""What each known client lets through: a table, each row with its source and date. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Host:
    """One client and the caps it sets on a result; None where it sets none."""

    name: str
    max_bytes: int | None = None
    """Of the serialized result."""
    max_chars: int | None = None
    """Of its text."""
    max_tokens: int | None = None
    """Of its text, as the client counts them."""
    timeout: float | None = None
    """Seconds that it waits for a call."""
    source: str = ""
    """Where the figures are from, with the date."""


UNKNOWN = Host("")
HOSTS: dict[str, Host] = {}
"""By `clientInfo.name`."""


def host_of(client: str) -> Host:
    """The row of a client that named itself so, `UNKNOWN` for one that is in no row."""
    return HOSTS.get(client, UNKNOWN)
