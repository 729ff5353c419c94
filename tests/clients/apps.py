"""Show Keyhole's view of a call in the MCP Inspector's Apps view, in Chromium.

The Inspector is a host of the extension MCP Apps. It runs the view in a frame without rights, and answers its messages
with the extension's own package, `@modelcontextprotocol/ext-apps`.
"""

from __future__ import annotations

import base64
import json
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.support.chromium import Chromium, Page, find_chromium

from .npm import install_from_npm
from .setup import ANSWER, HOST, QUESTION, Setup, free_port, serve_http, wait_until_open
from .steps import Steps, end_group, run_program

PACKAGES = ("@modelcontextprotocol/inspector", "node")
NO_APP = 2
"""The exit code of the Inspector's command line for a tool without a view."""
OpenView = Callable[[Chromium, str], AbstractContextManager[Page]]
"""Calls web_fetch of the server at a URL, and shows the view until the block ends."""
_FAULTS = "axe.run().then(({violations}) => violations.map(({id, impact, nodes}) => [id, impact, nodes[0].html]))"
PATIENCE = 90.0
"""Seconds until the view is shown: the Inspector loads its own page, lists everything, and calls the tool before."""


def check(steps: Steps, setup: Setup, programs: Path) -> None:
    """Find the view with the command line, then show it in the browser: recorded, and with recording off."""
    unrecorded = Setup(setup.page, setup.command, {**setup.settings, "KEYHOLE_RECORD": "off"}, setup.scratch)
    with serve_http(setup) as url, serve_http(unrecorded) as silent:
        steps.run(
            "apps: the command line finds the view for a client with the extension",
            partial(_find, setup, programs, url),
        )
        steps.run("apps: it finds none for others", partial(_find_none, setup, programs, url))
        if find_chromium() is None:
            steps.skip("apps in the browser", "Chromium is not installed")
            return
        with _inspector(setup, programs) as open_view, Chromium(PATIENCE, reaches_loopback=True) as browser:
            with open_view(browser, url) as view:
                steps.run("apps: the view shows the passages of a call", partial(_check_record, view))
                steps.run("apps: axe-core finds no fault in it", partial(_check_access, view))
            with open_view(browser, silent) as view:
                steps.run("apps: it says that calls are not recorded", partial(_check_result, view))


def _find(setup: Setup, programs: Path, url: str) -> None:
    code, found = _app_info(setup, programs, url, "--advertise-apps")
    assert (code, found["resourceUri"]) == (0, "ui://keyhole/call"), found
    assert found["resourceMimeType"] == "text/html;profile=mcp-app", found


def _find_none(setup: Setup, programs: Path, url: str) -> None:
    code, found = _app_info(setup, programs, url)
    assert (code, found["hasApp"]) == (NO_APP, False), found


def _app_info(setup: Setup, programs: Path, url: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the answer of the Inspector's question whether a tool has a view."""
    asked = ["--method", "tools/call", "--tool-name", "web_fetch", "--app-info", *options]
    command = [str(programs / "mcp-inspector"), "--cli", url, "--transport", "http", "--format", "json", *asked]
    done = run_program(command, setup.client_env(programs), setup.scratch)
    found: dict[str, Any] = json.loads(done.stdout)["appInfo"]
    return done.returncode, found


def _words(view: Page) -> str:
    return str(view.evaluate("document.body.innerText"))


def _check_access(view: Page) -> None:
    axe = install_from_npm(("axe-core",)).parent / "axe-core" / "axe.min.js"
    view.evaluate(f"{axe.read_text('utf-8')};0")
    found = view.command("Runtime.evaluate", expression=_FAULTS, awaitPromise=True, returnByValue=True)
    assert found["result"]["value"] == [], found


def _check_record(view: Page) -> None:
    words = _words(view)
    assert ANSWER in words, words
    assert "characters left out" in words and "estimated" in words, words
    assert "Next call" in words and "read_artifact(" in words and QUESTION in words, words


def _check_result(view: Page) -> None:
    words = _words(view)
    assert "Keyhole is set to record no calls" in words, words
    assert ANSWER in words and "Next call" in words, words


@contextmanager
def _inspector(setup: Setup, programs: Path) -> Iterator[OpenView]:
    """Run the Inspector's web server until the block ends; yield a function that opens the view of a call."""
    port, token = free_port(), secrets.token_hex(24)
    env = {
        **setup.client_env(programs), "HOST": HOST, "CLIENT_PORT": str(port), "MCP_SANDBOX_PORT": str(free_port()),
        "MCP_AUTO_OPEN_ENABLED": "false", "MCP_INSPECTOR_API_TOKEN": token,
    }  # fmt: skip
    arguments = json.dumps({"url": setup.page, "query": QUESTION, "repeat": True}).encode()
    link = {
        "transport": "http", "autoConnect": token, "openApp": "web_fetch", "autoOpen": token,
        "appArgs": base64.urlsafe_b64encode(arguments).decode().rstrip("="),
    }  # fmt: skip

    @contextmanager
    def open_view(browser: Chromium, url: str) -> Iterator[Page]:
        address = f"http://{HOST}:{port}/?{urlencode({**link, 'serverUrl': url})}"
        target = browser.command("Target.createTarget", {"url": address})
        try:
            yield _find_view(browser)
        finally:
            browser.command("Target.closeTarget", target)

    log = setup.scratch / f"inspector-{port}.log"
    command = [str(programs / "mcp-inspector"), "--web"]
    with log.open("w", encoding="utf-8") as output, subprocess.Popen(
        command, env=env, stdout=output, stderr=output, text=True, start_new_session=True
    ) as process:  # fmt: skip
        try:
            wait_until_open(port, process, log)
            yield open_view
        finally:
            end_group(process)


def _find_view(browser: Chromium) -> Page:
    """Return the frame of the view when it shows the sizes of the call."""
    end = time.monotonic() + PATIENCE
    words = ""
    while time.monotonic() < end:
        time.sleep(0.5)
        for target in browser.command("Target.getTargets")["targetInfos"]:
            if target["type"] == "iframe":  # the view runs in a process of its own
                found = {"targetId": target["targetId"], "flatten": True}
                view = Page(browser, browser.command("Target.attachToTarget", found)["sessionId"])
                words = _words(view)
                if "bytes" in words:
                    return view
    raise AssertionError(f"the view shows no call: {words!r}")
