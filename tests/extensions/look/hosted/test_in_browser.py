"""A person signs in with a real browser, while a page of another site tries to use the cookie."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keyhole.extensions.look.hosted.gate import COOKIE
from tests.extensions.look.hosted.test_two_tenants_look import call, look, start
from tests.support.chromium import MISSING, Chromium, ChromiumError, Page, find_chromium
from tests.support.loopback import Call, Responder, Site, response, serve
from tests.support.server_process import ThreadServer
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(find_chromium() is None, reason=MISSING)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with Chromium(reaches_loopback=True) as browser:
        yield browser


def visit(browser: Chromium, url: str, heading: str) -> Page:
    """Open an address in a new tab, and wait for a page with a heading."""
    target = browser.command("Target.createTarget", {"url": url})["targetId"]
    session = browser.command("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
    page = Page(browser, session, target)
    wait_for_text(page, heading)
    return page


def wait_for_text(page: Page, text: str) -> None:
    wait_for(lambda: text in read(page))


def read(page: Page) -> str:
    """Return the text of a page, "" while another one is loaded in its place."""
    try:
        return str(page.evaluate("document.readyState === 'complete' ? document.body.innerText : ''"))
    except ChromiumError:
        return ""


def sign_in(page: Page, token: str) -> None:
    page.evaluate(f"document.getElementById('token').value = '{token}'; document.forms[0].requestSubmit()")


def evil_pages(server: ThreadServer, id: str) -> Callable[[Site], Responder]:
    """Return the site of an attacker. For cookies, a port of the same host is the same site, like a sibling domain."""
    base = f"http://127.0.0.1:{server.port}/look"
    bodies = {
        "/sign-in": f"<form method=post action='{base}/sign-in'><input name=token value=token-attacker></form>",
        "/delete": f"<form method=post action='{base}/actions/delete-text'><input name=id value='{id}'></form>",
        "/embed": f"<h1>embeds</h1><iframe src='{base}/texts'></iframe><img src='{base}/texts'>",
    }

    def make(site: Site) -> Responder:
        def talk(call: Call) -> None:
            page = bodies.get(call.path, "") + "<script>document.forms[0]?.submit()</script>"
            call.send(response(page.encode(), Content_Type="text/html"))

        return talk

    return make


def test_a_person_signs_in_and_out_and_another_site_can_use_nothing(tmp_path: Path, chromium: Chromium) -> None:
    with start(tmp_path) as (server, site):
        id = call(server, "one", "web_fetch", url=site.url("/secret"))
        base = f"http://127.0.0.1:{server.port}/look"
        page = visit(chromium, f"{base}/texts", "Sign in")
        sign_in(page, "wrong")
        wait_for_text(page, "This token is not valid")
        sign_in(page, "token-one")
        wait_for_text(page, "zebrafish of /secret")
        assert page.evaluate("location.pathname + location.search") == "/look/texts"
        assert page.evaluate("document.cookie") == ""
        (cookie,) = chromium.command("Storage.getCookies")["cookies"]
        assert (cookie["name"], cookie["value"]) == (COOKIE, "token-one")
        assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")

        with serve(evil_pages(server, id)) as evil:
            for path in ("/sign-in", "/delete"):
                visit(chromium, evil.url(path), "Refused: the request comes from a page of another site.")
            visit(chromium, evil.url("/embed"), "embeds")
        (cookie,) = chromium.command("Storage.getCookies")["cookies"]
        assert cookie["value"] == "token-one"
        assert look(server, "one", f"/look/texts/{id}").status == 200

        page.evaluate("document.querySelector('form.person').requestSubmit()")
        wait_for_text(page, "Sign in with the token")
        assert chromium.command("Storage.getCookies")["cookies"] == []
