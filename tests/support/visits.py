"""Visit pages with Debian's Chromium through Playwright, and report what a page must not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, expect, sync_playwright

from tests.support.chromium import find_chromium

WIDTHS: Final = (320, 768, 1280)
"""CSS pixels: the narrowest window of WCAG's reflow, a tablet, a laptop."""
HEIGHT: Final = 900
PATIENCE: Final = 20_000
"""Milliseconds until an element is there or a page is loaded; far more than either takes."""
_LINKS: Final = "a[href]:not([href$='/export']), iframe[src]"
"""Links to pages, without downloads."""
MAX_FRAMES: Final = 4
"""Frames with rendered texts that are opened: a third of all pages would be frames."""
Scheme = Literal["light", "dark"]
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Run Chromium until the block ends.

    Playwright keeps the thread's event loop running meanwhile, so a test that needs another uses a thread.
    """
    program = find_chromium()
    assert program
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass(slots=True)
class Visit:
    """A window of one person, and what its pages did that no page may do."""

    context: BrowserContext
    page: Page
    origin: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Load a page of the server, or of the file that `origin` names."""
        self.page.goto(self.origin + path)

    def overflows(self) -> list[int]:
        """Return the widths of WIDTHS at which the page is wider than the window."""
        found = []
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            if self.page.evaluate("document.documentElement.scrollWidth") > width:
                found.append(width)
        return found


@contextmanager
def visit(browser: Browser, link: str, *, scheme: Scheme = "light", scripts: bool = True) -> Iterator[Visit]:
    """Open a link in a new window until the block ends.

    Afterwards there must have been no request beyond the link's server, no dialog, no window and no error in the
    console.
    """
    origin = link.partition("/?")[0]
    context = browser.new_context(
        color_scheme=scheme, java_script_enabled=scripts, viewport={"width": 1280, "height": HEIGHT}
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    visit = Visit(context, page, origin)
    _watch(visit)
    try:
        page.goto(link)
        page.locator("main").wait_for()  # a link with a token leads on to a page
        page.wait_for_load_state()
        yield visit
    finally:
        context.close()
    assert visit.faults == [], visit.faults


def open_every_page(window: Visit) -> Iterator[str]:
    """Open every page of the server that the others link to, and yield the path of each.

    Of frames, only the first MAX_FRAMES are opened: they have no links, and differ in the text alone.
    """
    seen, left, frames = {"/"}, ["/"], 0
    while left:
        path = left.pop()
        if kind_of_page(path) == "rendered" and (frames := frames + 1) > MAX_FRAMES:
            continue
        window.open(path)
        yield path
        addresses = window.page.locator(_LINKS).evaluate_all(
            "all => all.map(one => new URL(one.getAttribute('href') ?? one.src, location).href)"
        )
        for link in map(urlsplit, addresses):
            is_window = "query" in link.query or "start" in link.query
            if f"{link.scheme}://{link.netloc}" == window.origin and not is_window and link.path not in seen:
                seen.add(link.path)
                left.append(link.path)


def kind_of_page(path: str) -> str:
    """Return what a page shows: its first folder, or its last if it has three."""
    parts = path.strip("/").split("/")
    return parts[-1] if len(parts) == 3 else parts[0]


def _watch(visit: Visit) -> None:
    """Write down requests beyond the origin, dialogs, further windows, and errors."""

    def write_request(request: Request) -> None:
        if not _is_own(visit, request.url):
            visit.faults.append(f"request {request.url}")

    def dismiss(dialog: Dialog) -> None:
        visit.faults.append(f"dialog {dialog.message}")
        dialog.dismiss()

    visit.context.on("request", write_request)
    visit.context.on("dialog", dismiss)
    visit.context.on("console", lambda message: visit.faults.append(f"console {message.type}: {message.text}"))
    visit.context.on("weberror", lambda error: visit.faults.append(f"error {error.error}"))
    visit.context.on("page", lambda page: visit.faults.append(f"window {page.url}"))


def _is_own(visit: Visit, url: str) -> bool:
    return url.startswith((f"{visit.origin}/", "data:")) or url == visit.origin
