"""One cluster for the tests of this folder; each begins with empty tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from postgresql import Cluster, cluster


@pytest.fixture(scope="session")
def _running() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.fixture
def database(_running: Cluster) -> Cluster:
    """The cluster, without the tables of earlier tests."""
    _running.ask("DROP TABLE IF EXISTS keyhole_leases, keyhole_rates, keyhole_waits")
    return _running
