"""Find real addresses near a dead one, in the lists of its site and through the APIs of forges and registries."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(port="keyhole.extensions.dead_links.near_addresses:NearAddresses")
