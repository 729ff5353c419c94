"""Check the accessibility of every page of `keyhole look` with axe-core, in Chromium."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.support.agents_at_work import Workplace, serve_pages
from tests.support.chromium import MISSING, find_chromium
from tests.support.visits import HEIGHT, SCHEMES, WIDTHS, Visit, kind_of_page, open_browser, open_every_page, visit

from .setup import Setup
from .steps import Steps

PACKAGES = ("axe-core",)
MOST: Final = 3
"""Pages of each kind that are checked; the newest calls read hostile pages."""
_RUN: Final = (
    "axe.run(document, {iframes: false}).then(({violations}) => violations"
    ".filter(each => ['serious', 'critical'].includes(each.impact))"
    ".map(({id, impact, nodes}) => [id, impact, nodes[0].html.slice(0, 200)]))"
)
"""Runs axe-core on a page; pages in frames are checked as pages of their own. Texts that pages wrote
have lesser faults, such as no heading."""


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Let agents work, then check the pages that show it, and an exported session."""
    if find_chromium() is None:
        steps.skip("look", MISSING)
        return
    axe = (programs.parent / "axe-core" / "axe.min.js").read_text("utf-8")
    export = setup.scratch / "session.html"
    with serve_pages() as site, open_browser() as browser:
        workplace = Workplace(setup.scratch / "looked", site)
        workplace.answer_questions()
        workplace.export(export)
        with workplace.look() as link, visit(browser, link) as window:
            steps.run("look: axe-core finds no serious fault in the pages", partial(_check_pages, window, axe))
        with visit(browser, export.as_uri()) as window:
            steps.run("look: nor in an exported session", partial(_check_page, window, axe, export.name))


def _check_pages(window: Visit, axe: str) -> None:
    kinds: Counter[str] = Counter()
    for path in open_every_page(window):
        kinds[kind_of_page(path)] += 1
        if kinds[kind_of_page(path)] > MOST:
            continue
        if kind_of_page(path) == "rendered":  # its sandbox lets no script end, so it is checked outside of it
            html = window.context.request.get(window.origin + path).text()
            window.page.goto("about:blank")
            window.page.set_content(html)
        _check_page(window, axe, path)
    window.open("/no/such/page")
    _check_page(window, axe, "the page of an error")
    window.faults.clear()  # Chromium logs the status 404


def _check_page(window: Visit, axe: str, name: str) -> None:
    """Check the page that is open, light and dark, narrow and wide. The policy of a page does not apply to evaluate."""
    window.page.evaluate(f"{axe};0")
    for scheme in SCHEMES:
        window.page.emulate_media(color_scheme=scheme)
        for width in (WIDTHS[0], WIDTHS[-1]):
            window.page.set_viewport_size({"width": width, "height": HEIGHT})
            found: list[Any] = window.page.evaluate(_RUN)
            assert found == [], f"{name}, {scheme}, {width} px: {found}"
