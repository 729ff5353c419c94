"""One server for all tests of this folder: it keeps nothing but what it was asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.scorer_requests import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server in its own process."""
    with running() as server:
        yield server
