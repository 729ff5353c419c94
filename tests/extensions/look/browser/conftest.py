"""Pages of calls that agents made, served by `keyhole look`, and a browser that looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser

from tests.support.agents_at_work import Workplace, serve_pages
from tests.support.chromium import MISSING, find_chromium
from tests.support.visits import open_browser


@dataclass(frozen=True, slots=True)
class Looked:
    """A workplace whose agents have worked, and the link to its pages."""

    workplace: Workplace
    link: str


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run one browser for the tests of a file: Playwright keeps an event loop running, which other tests start."""
    if find_chromium() is None:
        pytest.skip(MISSING)
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="session")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looked]:
    """Let agents work once for all tests, and serve the pages that show it."""
    if find_chromium() is None:
        pytest.skip(MISSING)
    with serve_pages() as site:
        workplace = Workplace(tmp_path_factory.mktemp("looked"), site)
        workplace.answer_questions()
        with workplace.look() as link:
            yield Looked(workplace, link)
