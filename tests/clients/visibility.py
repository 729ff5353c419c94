"""Ask Chromium which of the probes of visibility it shows, and compare its answers with the tables.

The answers depend on the browser and its fonts: the tables were made with Chromium and the font Liberation.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.extract.html.visibility.judge import is_visible, open_page
from tests.extract.html.visibility.probes import OPENED, PROBES
from tests.support.chromium import MISSING, Chromium, find_chromium

from .setup import Setup
from .steps import Steps

BROWSERS: Final = 2


def check(steps: Steps, _setup: Setup, _programs: Path) -> None:
    """Show each probe in the browser of this machine."""
    if find_chromium() is None:
        steps.skip("visibility", MISSING)
    else:
        steps.run(f"Chromium shows the marker of each of {len(PROBES)} probes as the tables say", _compare)


def _compare() -> None:
    # A browser waits for its pictures most of the time, so two of them need little more than half as long.
    with ThreadPoolExecutor(BROWSERS) as threads:
        wrong = [name for names in threads.map(_find_wrong, range(BROWSERS)) for name in names]
    assert not wrong, ", ".join(wrong)


def _find_wrong(first: int) -> list[str]:
    """Return the names of the probes that the browser does not show as the table says: each second one from `first`."""
    with Chromium() as browser, open_page(browser) as page:
        return [
            name
            for name, html, visible in PROBES[first::BROWSERS]
            if is_visible(page, html) is not (visible and name not in OPENED)
        ]
