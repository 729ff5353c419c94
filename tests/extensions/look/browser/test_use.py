"""A person uses the pages of `keyhole look` in Chromium: watches agents, exports, copies, and deletes by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.extensions.look.browser.conftest import Looked
from tests.support.visits import visit

TABS = 60
"""Presses of the Tab key until an element must have the focus."""


def press_until_focused(page: Page, element: Locator) -> None:
    """Press Tab until the element has the focus, which must then be visible."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if element.evaluate("one => one === document.activeElement"):
            assert element.evaluate("one => getComputedStyle(one).outlineStyle") != "none"
            return
    raise AssertionError(f"{TABS} presses of Tab do not reach {element}")


def test_lists_show_the_calls_of_an_agent_while_it_works(browser: Browser, looked: Looked) -> None:
    site = looked.workplace.site
    with visit(browser, looked.link) as sessions, visit(browser, looked.link) as misses:
        misses.open("/misses")
        for window in (sessions, misses):
            window.page.evaluate("window.isTheSame = true")
            expect(window.page.locator("#live")).to_be_visible()
        steps = [
            ("web_fetch", {"url": site.url("/release-notes"), "query": "what is deprecated"}),
            ("web_fetch", {"url": site.url("/gone-for-good"), "query": "what is deprecated"}),
        ]
        looked.workplace.begin("live-agent", steps).result()
        expect(sessions.page.get_by_role("link", name="live-agent")).to_be_visible()
        expect(misses.page.locator("#list")).to_contain_text("what is deprecated")
        for window in (sessions, misses):
            assert window.page.evaluate("window.isTheSame")


def test_an_exported_file_needs_no_server_and_no_script(browser: Browser, looked: Looked, tmp_path: Path) -> None:
    file = tmp_path / "session.html"
    looked.workplace.export(file)
    assert "<script" not in file.read_text("utf-8").split("<main", 1)[0]
    for scripts in (True, False):
        with visit(browser, file.as_uri(), scripts=scripts) as window:
            assert window.overflows() == []
            window.page.locator("table.calls a").first.click()
            expect(window.page.locator(".exported-call:target pre.result")).to_be_visible()
            assert window.page.locator("form, script, iframe, img, link").count() == 0


def test_a_session_is_found_and_deleted_by_keyboard(browser: Browser, looked: Looked) -> None:
    steps = [("web_fetch", {"url": looked.workplace.site.url("/rust-ownership"), "query": "what is a move"})]
    looked.workplace.work("agent-to-delete", steps)
    with visit(browser, looked.link) as window:
        page = window.page
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        link = page.get_by_role("link", name="agent-to-delete")
        press_until_focused(window.page, link)
        page.keyboard.press("Enter")
        press_until_focused(window.page, page.locator("details.danger > summary"))
        page.keyboard.press("Enter")
        press_until_focused(window.page, page.locator("details.danger button").first)
        page.keyboard.press("Enter")
        expect(page.locator("#done")).to_contain_text("deleted")
        window.open("/")
        expect(page.get_by_role("link", name="agent-to-delete")).to_have_count(0)


def test_a_text_is_pinned_by_keyboard(browser: Browser, looked: Looked) -> None:
    with visit(browser, looked.link) as window:
        window.open("/texts")
        button = window.page.get_by_role("button", name=re.compile("^Pin")).first
        press_until_focused(window.page, button)
        window.page.keyboard.press("Enter")
        expect(window.page.locator("#done")).to_contain_text("pinned")


def test_the_exact_call_is_copied(browser: Browser, looked: Looked) -> None:
    with visit(browser, looked.link) as window:
        window.context.grant_permissions(["clipboard-write"])
        window.page.get_by_role("link", name="research-agent").click()
        window.page.locator("table.calls a").last.click()
        window.page.get_by_text("The exact call").click()
        window.page.get_by_role("button", name="Copy the call").click()
        expect(window.page.get_by_role("button", name="Copied")).to_be_visible()
