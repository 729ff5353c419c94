"""Run headless Chromium without network access: load HTML, evaluate JavaScript, take screenshots.

Chromium speaks the DevTools protocol over a socket, as JSON messages separated by NUL. See
https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

MISSING: Final = "Chromium is not installed (apt-get install chromium)"
WIDTH: Final = 1280
HEIGHT: Final = 1024
"""Size of the viewport in CSS pixels."""
_URL: Final = "https://page.example/"
_FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--no-first-run",
    "--no-default-browser-check", "--hide-scrollbars", "--force-color-profile=srgb", "--lang=en-US",
    "--no-startup-window", "--remote-debugging-pipe", f"--window-size={WIDTH},{HEIGHT}",
)  # fmt: skip


class ChromiumError(Exception):
    """Chromium refused a command, a script raised an exception, or the process or a page died."""


def find_chromium() -> str | None:
    """Return the path of the Chromium program, or None."""
    return shutil.which("chromium")


class Chromium:
    """A browser process for many pages, one page at a time. Use it in a `with` statement.

    `timeout` limits the start, each load and each evaluation, in seconds; a TimeoutError is raised after it.
    `reaches_loopback`: targets that are created with a command may load from 127.0.0.1.
    """

    def __init__(self, timeout: float = 30, *, reaches_loopback: bool = False) -> None:
        self._timeout = timeout
        self._folder = TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self._process, self._socket = _start(self._folder.name, reaches_loopback)
        self._received = bytearray()
        self._ids = itertools.count(1)
        self._events: list[dict[str, Any]] = []
        self._documents: dict[str, bytes] = {}  # the HTML of pages that are not loaded yet, by frame

    def __enter__(self) -> Self:
        self.command("Browser.setDownloadBehavior", {"behavior": "deny"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser and all of its processes, and remove its profile."""
        self._socket.close()  # Chromium quits when the connection is closed
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=self._timeout)
        self._folder.cleanup()

    @contextmanager
    def page(self, html: str, *, url: str = _URL, scripts: bool = False) -> Iterator[Page]:
        """Load HTML as the page at `url` and yield it; close it afterwards. Every other request of the page fails.

        The page's own scripts run only with `scripts`.
        """
        target = self.command("Target.createTarget", {"url": "about:blank"})["targetId"]
        try:
            session = self.command("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
            page = Page(self, session, target)
            page.command("Page.enable")
            page.command("Emulation.setScriptExecutionDisabled", value=not scripts)
            page.command(
                "Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False
            )
            page.command("Fetch.enable")
            self.load(page, html, url)
            yield page
        finally:
            self._documents.pop(target, None)
            self.command("Target.closeTarget", {"targetId": target})

    def load(self, page: Page, html: str, url: str = _URL) -> None:
        """Load other HTML into a page that is open, which takes a fraction of the time of opening another one."""
        self._documents[page.target] = html.encode("utf-8", "replace")  # the frame has the target's id
        self._events.clear()
        answer = page.command("Page.navigate", url=url)
        if "errorText" in answer:
            raise ChromiumError(f"the page did not load: {answer['errorText']}")
        self._wait_for_event("Page.loadEventFired", page.session)

    def command(self, method: str, parameters: Mapping[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """Send a DevTools command and return its result; raise ChromiumError if Chromium refuses it."""
        number = self._send(method, parameters or {}, session)
        deadline = time.monotonic() + self._timeout
        while True:
            message = self._receive(deadline)
            if message.get("id") == number:
                if "error" in message:
                    raise ChromiumError(f"{method}: {message['error'].get('message')}")
                result: dict[str, Any] = message["result"]
                return result

    def _wait_for_event(self, method: str, session: str) -> None:
        deadline = time.monotonic() + self._timeout
        while not any(event["method"] == method and event.get("sessionId") == session for event in self._events):
            self._receive(deadline)

    def _send(self, method: str, parameters: Mapping[str, Any], session: str) -> int:
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        self._socket.settimeout(self._timeout)
        self._socket.sendall(json.dumps(message).encode() + b"\0")
        return number

    def _receive(self, deadline: float) -> dict[str, Any]:
        """Return the next message. Requests of pages are answered here, because a page waits for them."""
        while b"\0" not in self._received:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            block = self._socket.recv(1 << 20)
            if not block:
                raise ChromiumError("Chromium ended")
            self._received += block
        data, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(data)
        if message.get("method") == "Fetch.requestPaused":
            self._answer_request(message["params"], message["sessionId"])
        elif message.get("method") == "Inspector.targetCrashed":
            raise ChromiumError("the page crashed")
        elif "method" in message:
            self._events.append(message)
        return message

    def _answer_request(self, request: Mapping[str, Any], session: str) -> None:
        """Answer a page's first request for itself with its HTML, and fail all others.

        Aborted navigations, such as `<meta http-equiv=refresh>`, leave the page as it is.
        """
        own = request["resourceType"] == "Document"
        html = self._documents.pop(request["frameId"], None) if own else None
        if html is None:
            self._send("Fetch.failRequest", {"requestId": request["requestId"], "errorReason": "Aborted"}, session)
            return
        answer = {
            "requestId": request["requestId"],
            "responseCode": 200,
            "responseHeaders": [{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
            "body": base64.b64encode(html).decode(),
        }
        self._send("Fetch.fulfillRequest", answer, session)


@dataclass(frozen=True, slots=True)
class Page:
    """A loaded page."""

    browser: Chromium
    session: str
    target: str = ""
    """The id of the page's target, which `Chromium.load` needs."""

    def evaluate(self, expression: str) -> Any:
        """Return the JSON value of a JavaScript expression; raise ChromiumError for an exception."""
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise ChromiumError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def screenshot(self, *, whole: bool = False) -> bytes:
        """Return a PNG of the viewport, or of the whole page."""
        result = self.command(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole, optimizeForSpeed=True
        )
        return base64.b64decode(result["data"])

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a DevTools command to this page and return its result."""
        return self.browser.command(method, parameters, self.session)


def _start(folder: str, reaches_loopback: bool) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start Chromium with an empty profile in `folder`; return the process and the connection to it."""
    program = find_chromium()
    if program is None:
        raise FileNotFoundError(MISSING)
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    with theirs:
        process = subprocess.Popen(
            # Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
            [
                "/bin/bash",
                "-c",
                f'exec "$@" 3<&{number} 4>&{number}',
                "bash",
                program,
                *_FLAGS,
                f"--host-resolver-rules=MAP * ~NOTFOUND{', EXCLUDE 127.0.0.1' if reaches_loopback else ''}",
                f"--user-data-dir={folder}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(number,),
            start_new_session=True,
            env={**os.environ, "HOME": folder},
        )
    return process, ours
