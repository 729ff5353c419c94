"""Whether the settings name a database through which servers share their limits. Connects to nothing."""

from __future__ import annotations

from keyhole.config.config import Config
from keyhole.serve.http.limits.shared.calls import SharedCalls
from keyhole.serve.http.limits.shared.hosts import SharedHosts
from keyhole.serve.http.limits.shared.leases import Leases
from keyhole.serve.http.limits.shared.link import Link


def shared_calls(config: Config) -> SharedCalls | None:
    """Every tenant's calls, where the store is PostgreSQL."""
    if not config.store.startswith("postgres"):
        return None
    return SharedCalls(Leases(Link(config.store)), config.calls_per_minute, config.calls_at_once)


def shared_hosts(config: Config) -> SharedHosts | None:
    """Every site's connections and waits, where the store is PostgreSQL."""
    return SharedHosts(Leases(Link(config.store))) if config.store.startswith("postgres") else None
