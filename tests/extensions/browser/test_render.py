"""Pages that scripts write, rendered in a real Chromium behind the proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.browser.chromium import find_browser
from keyhole.extensions.browser.render import PageRenderer, Rendered
from tests.support.chromium import MISSING
from tests.support.loopback import Site, response, serve

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason=MISSING)

SECONDS = 60.0
"""Deadline of a page, which no test but that of the deadline reaches."""
TEXT = "The text that scripts write is longer than a notice. " * 6
PAGES = {
    "/app": "<!doctype html><title>App</title><div id=root></div><img src=/image><link rel=stylesheet href=/style>"
    "<iframe src=/frame></iframe><iframe src=/private></iframe><script src=/script></script>",
    "/script": "alert('hello'); history.pushState({}, '', '/app/start'); navigator.sendBeacon('/beacon');"
    "open('/other');"
    "const show = (path, where) => fetch(path).then(r => r.text()).then(t => { where.innerHTML = t });"
    "show('/data', root).then(() => new IntersectionObserver(entries => {"
    "if (entries[0].isIntersecting) show('/late', end) }).observe(end))",
    "/data": f"<h1>Title</h1><p>{TEXT}</p><p class=note>hidden</p><div style='height: 3000px'></div><p id=end>.</p>",
    "/late": "loaded on scrolling",
    "/style": ".note { display: none } @font-face { font-family: f; src: url(/font) } body { font-family: f }",
    "/frame": "<p>text of the frame</p>",
    "/private": "<p>a frame that is not allowed</p>",
    "/agent": f"<p>{TEXT}<script>document.write(navigator.userAgent + ' ' + document.cookie + localStorage.length);"
    "document.cookie = 'a=b'; localStorage.a = 1</script>",
    "/moving": "<p>first</p><script>location = '/agent'</script>",
    "/busy": f"<p>{TEXT}</p><p id=n></p><script>let i = 0; setInterval(() => {{ n.textContent = i++ }}, 20)</script>",
    "/greedy": "<p>text</p><script>const a = []; for (;;) a.push(new Array(1e6).fill(0.5));</script>",
    "/hanging": "<p>text</p><script>for (;;);</script>",
}
MEDIA = {"/script": "text/javascript", "/style": "text/css", "/data": "text/plain", "/late": "text/plain"}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    answers = {
        path: response(body.encode(), Content_Type=MEDIA.get(path, "text/html; charset=utf-8"))
        for path, body in PAGES.items()
    }
    missing = {"/file": response(b"PK", Content_Type="application/zip"), "/gone": response(b"<p>gone", "404 Not Found")}
    with serve({**answers, **missing}) as site:
        yield site


async def allow(url: str) -> bool:
    return not url.endswith("/private")


def render(site: Site, *paths: str, seconds: float = SECONDS) -> list[Rendered]:
    """Render pages one after the other with one renderer."""

    async def run() -> list[Rendered]:
        settings = Config(allow_private=frozenset({site.endpoint}))
        renderer = PageRenderer(settings, "Keyhole-Test/1", str(PROGRAM))
        try:
            loop = asyncio.get_running_loop()
            return [
                await renderer.render(path if "://" in path else site.url(path), loop.time() + seconds, allow)
                for path in paths
            ]
        finally:
            await renderer.aclose()

    return asyncio.run(run())


def failure(site: Site, path: str, seconds: float = SECONDS) -> KeyholeError:
    """Return the error of a page that cannot be rendered."""
    with pytest.raises(KeyholeError) as caught:
        render(site, path, seconds=seconds)
    return caught.value


def test_a_page_is_read_after_its_scripts_and_what_loads_on_scrolling(site: Site) -> None:
    site.calls.clear()
    (page,) = render(site, "/app")
    assert (page.url, page.status) == (site.url("/app/start"), 200)
    assert TEXT.strip() in page.html
    assert "loaded on scrolling" in page.html
    assert "text of the frame" in page.html
    assert "hidden" not in page.html
    assert "not allowed" not in page.html
    asked = {call.path for call in site.calls}
    assert {"/app", "/script", "/style", "/data", "/late", "/frame"} <= asked
    assert not asked & {"/private", "/image", "/font", "/beacon", "/other"}


def test_no_page_knows_of_another_and_each_sees_an_honest_browser(site: Site) -> None:
    for page in render(site, "/agent", "/moving"):
        assert "Keyhole-Test/1 0" in page.html
        assert page.url == site.url("/agent")
    assert {call.headers["user-agent"] for call in site.calls if call.path == "/agent"} == {"Keyhole-Test/1"}
    assert not [call for call in site.calls if "cookie" in call.headers]


def test_a_page_that_never_settles_is_read(site: Site) -> None:
    (page,) = render(site, "/busy")
    assert TEXT.strip() in page.html


def test_a_page_whose_script_never_ends_is_an_error_at_the_deadline(site: Site) -> None:
    assert failure(site, "/hanging", seconds=5).code is Code.TIMEOUT


def test_a_page_that_fills_its_memory_is_an_error_before_the_deadline(site: Site) -> None:
    error = failure(site, "/greedy")
    assert error.code is Code.JAVASCRIPT_REQUIRED
    assert "crashed" in error.message or "ended" in error.message


def test_a_download_and_a_forbidden_page_are_errors(site: Site) -> None:
    assert failure(site, "/file").code is Code.JAVASCRIPT_REQUIRED
    assert failure(site, "/private").code is Code.JAVASCRIPT_REQUIRED
    assert [page.status for page in render(site, "/gone")] == [404]


def test_a_private_address_is_refused_with_its_reason() -> None:
    with serve({"/": response(b"<p>private")}) as site:
        assert failure(Site(), site.url()).code is Code.BLOCKED_ADDRESS
        assert not site.calls
