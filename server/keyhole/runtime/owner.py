"""Name the owner of the running call, with whom it shares resources such as workers and connections.

The owner is the tenant. Without tenants it is the session, and for commands "". Tasks and threads that a call starts
with asyncio have its owner too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_owner: ContextVar[str] = ContextVar("owner", default="")


def current_owner() -> str:
    """Return the owner of the running call, or "" outside a call."""
    return _owner.get()


@contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """Set the owner of everything that runs in the block."""
    token = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(token)
