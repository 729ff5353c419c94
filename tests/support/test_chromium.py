"""The client for headless Chromium, tested with the real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.chromium import MISSING, Chromium, ChromiumError, find_chromium

pytestmark = pytest.mark.skipif(find_chromium() is None, reason=MISSING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


def test_a_page_is_utf_8_at_its_address_whatever_it_declares(browser: Chromium) -> None:
    html = "<!doctype html><meta charset=latin1><base href=https://base.example/a/><title>Ü</title><a href=b>日本</a>"
    with browser.page(html, url="https://page.example/x?y") as page:
        shown = page.evaluate(
            "[document.title, document.body.innerText, document.links[0].href, location.href, document.compatMode]"
        )
    assert shown == ["Ü", "日本", "https://base.example/a/b", "https://page.example/x?y", "CSS1Compat"]


@pytest.mark.parametrize(("scripts", "title"), [(False, "before"), (True, "after")])
def test_scripts_of_a_page_run_only_when_asked_for(browser: Chromium, scripts: bool, title: str) -> None:
    with browser.page("<title>before</title><script>document.title='after'</script>", scripts=scripts) as page:
        assert page.evaluate("document.title") == title


def test_a_page_reaches_nothing_else_and_stays_where_it_is(browser: Chromium) -> None:
    html = (
        "<meta http-equiv=refresh content='0;url=https://other.example/'><link rel=stylesheet href=style.css>"
        "<img src=a.png><iframe src=https://frame.example/></iframe><p>text</p>"
    )
    with browser.page(html) as page:
        assert page.evaluate("[document.body.innerText.trim(), location.href]") == ["text", "https://page.example/"]
        assert page.evaluate("document.images[0].naturalWidth") == 0


def test_the_viewport_has_a_fixed_size_and_a_screenshot_is_a_png(browser: Chromium) -> None:
    with browser.page("<p>text</p>") as page:
        assert page.evaluate("[innerWidth, innerHeight]") == [1280, 1024]
        assert page.screenshot().startswith(b"\x89PNG")


def test_a_script_that_raises_is_an_error_and_the_browser_continues(browser: Chromium) -> None:
    with browser.page("<p>text</p>") as page:
        with pytest.raises(ChromiumError, match="missing is not defined"):
            page.evaluate("missing")
        assert page.evaluate("1 + 1") == 2
