"""Pages in a real Chromium whose text depends on the fragment of their address, or comes from a worker."""

from __future__ import annotations

import asyncio

import pytest

from keyhole.config.config import Config
from keyhole.extensions.browser.chromium import find_browser
from keyhole.extensions.browser.render import PageRenderer, Rendered
from tests.support.chromium import MISSING
from tests.support.loopback import response, serve

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason=MISSING)

TEXT = "The text that the page shows is longer than a notice of a few words. " * 4
HTML = "text/html; charset=utf-8"
LOAD = ".then(r => r.text()).then(postMessage)"
SHOW = "<p id=text></p><script>const show = e => { text.textContent = e.data };"
FILES = {
    "/routes": (HTML, f"<p>{TEXT}<p id=route><script>route.textContent = 'route ' + location.hash</script>"),
    "/worker": (HTML, f"{SHOW}new Worker('/script').onmessage = show</script>"),
    "/blob": (
        HTML,
        f"{SHOW}const code = new Blob([`fetch('${{origin}}/data'){LOAD}`]);"
        "new Worker(URL.createObjectURL(code)).onmessage = show</script>",
    ),
    "/nested": (HTML, f"{SHOW}new Worker('/outer').onmessage = show</script>"),
    "/outer": ("text/javascript", "new Worker('/script').onmessage = e => postMessage(e.data)"),
    "/script": ("text/javascript", f"fetch('/data'){LOAD}"),
    "/data": ("text/plain", TEXT),
}


async def allow(_: str) -> bool:
    return True


def render(path: str) -> Rendered:
    with serve({name: response(body.encode(), Content_Type=kind) for name, (kind, body) in FILES.items()}) as site:

        async def run() -> Rendered:
            renderer = PageRenderer(Config(allow_private=frozenset({site.endpoint})), "Keyhole-Test/1", str(PROGRAM))
            try:
                return await renderer.render(site.url(path), asyncio.get_running_loop().time() + 60, allow)
            finally:
                await renderer.aclose()

        return asyncio.run(run())


def test_a_page_is_shown_at_the_fragment_of_its_address() -> None:
    rendered = render("/routes#/orders/7")
    assert "route #/orders/7" in rendered.html
    assert rendered.url.endswith("/routes#/orders/7")


@pytest.mark.parametrize(("path", "requests"), [("/worker", 3), ("/blob", 3), ("/nested", 4)])
def test_a_page_whose_text_comes_from_a_worker_is_read_after_the_workers_requests(path: str, requests: int) -> None:
    rendered = render(path)
    assert TEXT.strip() in rendered.html
    assert rendered.requests == requests, "not the page, the scripts of workers and the data that the worker asked for"
