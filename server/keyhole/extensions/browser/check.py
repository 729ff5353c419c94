"""Check the browser that renders pages: find it, and render a page of loopback whose text a script writes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from dataclasses import replace
from typing import Final

from keyhole.cli.terminal import Finding, Level
from keyhole.config.config import Config, build_user_agent
from keyhole.errors import KeyholeError

AREA: Final = "Browser"
TIMEOUT: Final = 12.0
"""Seconds to start a browser and render one small page: several times the duration on a slow machine."""
ANSWER: Final = "The lamp burns until sunrise."
_PAGE: Final = (
    '<!doctype html><html lang="en"><title>The light</title><main id="root"></main>'
    f"<script>document.getElementById('root').innerHTML = '<p>{ANSWER}</p>'</script></html>"
)
_INSTALL: Final = "Install it (Debian: chromium-headless-shell, elsewhere Chromium or Chrome), or set KEYHOLE_BROWSER."
_SANDBOX: Final = (
    "import sys; from keyhole.extensions.browser.supervisor import can_sandbox; sys.exit(not can_sandbox())"
)


def check(config: Config, program: str | None = None) -> list[Finding]:
    """Return findings on the rendering of pages. `program`: the browser to use, by default an installed one."""
    from keyhole.extensions.browser.chromium import find_browser

    program = program or find_browser(str(config.browser or ""))
    if config.render == "off":
        found = f"{program} was found" if program else "no Chromium was found"
        fix = "To read pages whose text scripts write, set KEYHOLE_RENDER=auto."
        return [Finding(AREA, "rendering", Level.NOTE, f"off; {found}", fix if program else f"{fix} {_INSTALL}")]
    if program is None:
        return [Finding(AREA, "rendering", Level.FAIL, f"{config.browser or 'a Chromium'} was not found", _INSTALL)]
    return [_check_rendering(config, program), *_check_sandbox()]


def _check_rendering(config: Config, program: str) -> Finding:
    from keyhole.cli.demo_site import RecordedPage, serve

    start = time.monotonic()
    with serve({"light": RecordedPage("light", "", "text/html; charset=utf-8", _PAGE.encode())}) as port:
        try:
            html = asyncio.run(_render(config, program, f"127.0.0.1:{port}"))
        except KeyholeError as error:
            fix = "Run it by hand to see its output; in a container, give /tmp more space and allow more processes."
            return Finding(AREA, "rendering", Level.FAIL, f"{program}: {error}", fix)
    if ANSWER not in html:
        return Finding(AREA, "rendering", Level.FAIL, f"{program} did not show what a script wrote", _INSTALL)
    return Finding(AREA, "rendering", Level.OK, f"{program} rendered a page in {time.monotonic() - start:.1f} s")


async def _render(config: Config, program: str, endpoint: str) -> str:
    from keyhole.extensions.browser.render import PageRenderer

    async def allows(_: str) -> bool:
        return True

    own = replace(config, allow_private=frozenset({endpoint}), proxy="", allow_domains=frozenset())
    renderer = PageRenderer(own, build_user_agent(config), program)
    try:
        deadline = asyncio.get_running_loop().time() + TIMEOUT
        return (await renderer.render(f"http://{endpoint}/light", deadline, allows)).html
    finally:
        await renderer.aclose()


def _check_sandbox() -> list[Finding]:
    """Return a warning if Chromium runs without its sandbox. The test forks, so it runs in a separate process."""
    if subprocess.run([sys.executable, "-P", "-c", _SANDBOX], capture_output=True, check=False).returncode == 0:
        return []
    fix = "Run Keyhole as a user other than root, on a system that permits user namespaces."
    message = "Chromium runs without it: a fault in Chromium would let a page run programs as this user"
    return [Finding(AREA, "sandbox", Level.WARN, message, fix)]
