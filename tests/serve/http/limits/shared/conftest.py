"""A database for each test of this folder."""

from __future__ import annotations

import pytest

from tests.support.postgresql import Cluster, Database


@pytest.fixture
def database(postgresql: Cluster) -> Database:
    """Return an empty database."""
    return Database(postgresql, postgresql.database())
