"""Every page of `keyhole look` in Chromium: it shows what agents read, fits into its window, and obeys no text."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect

from tests.extensions.look.browser.conftest import Looked
from tests.support.agents_at_work import HOSTILE_NAME
from tests.support.visits import SCHEMES, Visit, kind_of_page, open_every_page, visit

KINDS = {"", "sessions", "calls", "texts", "rendered", "misses", "figures"}
"""The kinds of pages."""
TURNED = """() => {
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const apart = node.parentElement.closest("[dir=auto], pre") !== null;
    if (node.data.includes("\u202e")) found.push([node.data, apart]);
  }
  return found;
}"""
"""The texts with an override of the direction, and whether each has an element that ends it."""


def open_hostile_call(window: Visit) -> None:
    """Follow the links to the call that read the hostile Markdown page."""
    window.page.get_by_role("link", name=HOSTILE_NAME).click()
    window.page.get_by_role("link", name=re.compile("vacuum threshold <script>")).click()
    expect(window.page.get_by_role("heading", name="What the model got")).to_be_visible()


def test_every_page_opens_and_fits_into_narrow_and_wide_windows(browser: Browser, looked: Looked) -> None:
    found = set()
    with visit(browser, looked.link) as window:
        for path in open_every_page(window):
            found.add(kind_of_page(path))
            assert window.overflows() == [], path
    assert found == KINDS
    assert not [call.path for call in looked.workplace.site.calls if call.path.startswith("/leak")]


def test_a_page_that_an_agent_read_is_shown_as_text_and_adds_no_element(browser: Browser, looked: Looked) -> None:
    with visit(browser, looked.link) as window:
        open_hostile_call(window)
        result = window.page.locator("pre.result").text_content() or ""
        assert '<script>fetch("/leak/script")' in result and 'onerror="alert(2)"' in result
        added = "main :is(script, img, iframe:not([sandbox='']), style, link, meta, base, button[autofocus])"
        assert window.page.locator(added).count() == 0
        window.page.get_by_role("link", name="Open the text").first.click()
        window.page.get_by_text("The same part as rendered Markdown").click()
        frame = window.page.frame_locator("iframe")
        expect(frame.get_by_text("Part 1", exact=True)).to_be_visible()
        assert frame.locator("script, img, iframe, form, link, a[href]").count() == 0
        assert window.page.title().startswith("</title><script>alert(0)</script>")


def test_text_of_another_direction_does_not_turn_the_words_around_it(browser: Browser, looked: Looked) -> None:
    with visit(browser, looked.link) as window:
        open_hostile_call(window)
        turned = window.page.evaluate(TURNED)
        assert len(turned) > 3
        assert [text for text, is_apart in turned if not is_apart] == []


def test_the_pages_follow_the_colours_of_the_system(browser: Browser, looked: Looked) -> None:
    shown = []
    for scheme in SCHEMES:
        with visit(browser, looked.link, scheme=scheme) as window:
            shown.append(window.page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    light, dark = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in shown)
    assert light > 3 * 200 > 3 * 60 > dark


def test_the_pages_work_without_scripts(browser: Browser, looked: Looked) -> None:
    with visit(browser, looked.link, scripts=False) as window:
        page = window.page
        page.get_by_label("Words").fill("checkpoint starvation")
        page.get_by_role("button", name="Filter").click()
        page.get_by_role("link", name=re.compile("checkpoint starvation")).first.click()
        expect(page.locator("pre.result")).to_contain_text("checkpoint")
        page.get_by_text("The stored text, with what was left out folded").first.click()
        gap = page.locator("details.gap").first
        gap.locator("summary").click()
        expect(gap.locator("pre")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Copy"))).to_have_count(0)
        expect(page.locator("#live")).to_be_hidden()
