"""Each test of this folder has a database of its own."""

from __future__ import annotations

import pytest

from tests.support.postgresql import Cluster, Database


@pytest.fixture
def database(postgresql: Cluster) -> Database:
    """An empty database."""
    return Database(postgresql, postgresql.database())
