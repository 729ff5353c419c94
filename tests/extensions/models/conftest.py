"""The scorer server, shared by all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.scorer_requests import Server, run_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Run the scorer server in its own process."""
    with run_server() as server:
        yield server
