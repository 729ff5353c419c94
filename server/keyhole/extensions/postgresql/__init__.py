"""Store artifacts and calls in PostgreSQL, shared by several servers."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(port="keyhole.extensions.postgresql.store:SharedStores")
