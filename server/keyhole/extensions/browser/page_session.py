"""Drive one page of a browser over the DevTools protocol: load it, wait until it has settled, read what is visible."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from keyhole.extensions.browser.chromium import HEIGHT, WIDTH, DevTools, DevToolsError, Handler
from keyhole.fetch.base import AllowsDocument

# Count the requests of a page that are under way, to tell when its network is quiet.

AWAITED: Final = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})
"""Kinds of requests that may change a page's text. Streams of events and sockets stay open and are not waited for."""
MAX_WAIT: Final = 5.0
"""Seconds after which a request is not waited for any more: it is a slow advertisement, or a poll that stays open."""
CHECK_SECONDS: Final = 0.02
"""Seconds between two checks of the requests."""


class NetworkActivity:
    """The requests of one page that are under way."""

    EVENTS: ClassVar = (
        "Network.requestWillBeSent",
        "Network.responseReceived",
        "Network.loadingFinished",
        "Network.loadingFailed",
    )

    def __init__(self, clock: Callable[[], float]) -> None:
        self.requests = 0
        """The number of requests, including refused ones."""
        self.status = 0
        """The status of the page's last document, 0 before it arrived."""
        self._clock = clock
        self._since: dict[str, float] = {}
        self._changed = clock()

    def handler(self, event: str) -> Handler:
        """Return the function that takes the events of this name."""
        return {
            "Network.requestWillBeSent": self._start,
            "Network.responseReceived": self._respond,
            "Network.loadingFinished": self._end,
            "Network.loadingFailed": self._end,
        }[event]

    def is_idle(self, seconds: float) -> bool:
        """Return True if no request was under way for `seconds`."""
        now = self._clock()
        overdue = [since + MAX_WAIT for since in self._since.values()]
        return all(end <= now for end in overdue) and now - max([self._changed, *overdue]) >= seconds

    async def wait_idle(self) -> None:
        """Wait until no request is under way."""
        while not self.is_idle(0):  # noqa: ASYNC110 - also the time itself ends the wait for a request
            await asyncio.sleep(CHECK_SECONDS)

    def _start(self, event: Mapping[str, Any], _session: str) -> None:
        self.requests += 1
        if event.get("type") in AWAITED:
            self._since[event["requestId"]] = self._changed = self._clock()

    def _respond(self, event: Mapping[str, Any], _session: str) -> None:
        if event.get("type") == "Document":
            self.status = int(event["response"]["status"])

    def _end(self, event: Mapping[str, Any], _session: str) -> None:
        if self._since.pop(event["requestId"], None) is not None:
            self._changed = self._clock()


# Drive one page of a browser over the DevTools protocol: load it, wait until it has settled, read what is visible.

REFUSED: Final = frozenset({"Image", "Media", "Font", "Ping", "CSPViolationReport"})
"""Kinds of requests that are refused, since they add no text. Scripts, styles and data are not paused at all: pausing
one takes two messages."""
PAUSED: Final = [{"resourceType": kind} for kind in sorted({"Document"} | REFUSED)]
FOLLOW: Final = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
"""The browser reports each worker before it runs."""
QUIET: Final = 0.2
"""Seconds without a change of the document and without a request, after which a page has settled. Frameworks render in
one task after the data arrived; the pause covers a chain of several tasks."""
QUIET_EMPTY: Final = 1.0
"""As `QUIET`, for a page that shows nearly no text or says that it is busy: timers or workers may still write text."""
EMPTY_CHARS: Final = 200
"""A page with fewer characters shows nearly no text, as in extract/html/prune.py."""
PATIENCE: Final = 2.0
"""Seconds after which a document that changes all the time, such as one with a clock, counts as quiet."""
SETTLE_SECONDS: Final = 8.0
"""Seconds after which a page that never settles is read as it is."""
MAX_HEIGHT: Final = 12_000
"""Largest height of the window in CSS pixels. A window as high as the page also loads content that waits for
scrolling."""
GROWTHS: Final = 3
"""How often the window is enlarged to the page's height. A list without end grows each time."""
MAX_HTML: Final = 20_000_000
"""Largest HTML of a page, in characters."""
WORLD: Final = "keyhole"
"""The isolated world of our scripts: it has its own copies of all functions, which a page cannot replace."""


class PageSession:
    """An empty page of a browser, prepared for one load."""

    def __init__(self, devtools: DevTools, user: str, secret: str) -> None:
        """Create it for a browser; `user` and `secret` authorize the browser at its proxy."""
        self._devtools = devtools
        self._credentials = {"response": "ProvideCredentials", "username": user, "password": secret}
        self._session = ""
        self._frame = ""
        self._allows: AllowsDocument | None = None
        self._decisions: set[asyncio.Task[None]] = set()
        self.network = NetworkActivity(asyncio.get_running_loop().time)

    async def open(self) -> None:
        """Open the page and enable what a load needs."""
        devtools = self._devtools
        # The browser's own requests belong to another context, so that they cannot use the credentials for the proxy.
        context = await devtools.send("Target.createBrowserContext", {"disposeOnDetach": True})
        self._frame = (await devtools.send("Target.createTarget", {"url": "about:blank", **context}))["targetId"]
        attached = await devtools.send("Target.attachToTarget", {"targetId": self._frame, "flatten": True})
        self._session = attached["sessionId"]
        devtools.on("Fetch.requestPaused", self._decide)
        devtools.on("Fetch.authRequired", self._authorize)
        devtools.on("Page.javascriptDialogOpening", self._dismiss)
        devtools.on("Inspector.targetCrashed", lambda *_: devtools.fail("the page crashed"))
        devtools.on("Target.attachedToTarget", self._follow)
        for event in self.network.EVENTS:
            devtools.on(event, self.network.handler(event))
        await asyncio.gather(
            devtools.send("Browser.setDownloadBehavior", {"behavior": "deny", **context}),
            self._send("Inspector.enable"),
            self._send("Page.enable"),
            self._send("Network.enable"),
            self._send("Network.setBypassServiceWorker", bypass=True),
            self._send("Target.setAutoAttach", **FOLLOW),
            self._send("Fetch.enable", patterns=PAUSED, handleAuthRequests=True),
            self._send("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}]),
            self._resize(HEIGHT),
        )

    async def load(self, url: str, allows: AllowsDocument) -> None:
        """Load a URL. Returns when the document begins to arrive. Raises DevToolsError if it does not."""
        self._allows = allows
        answer = await self._send("Page.navigate", url=url)
        if error := answer.get("errorText"):
            raise DevToolsError(str(error))

    async def settle(self, until: float) -> None:
        """Wait until the network and the document are quiet, also in a window as high as the page; at most `until`."""
        height = HEIGHT
        try:
            async with asyncio.timeout_at(until):
                for _ in range(GROWTHS):
                    page_height = await self._wait_quiet()
                    if page_height <= height or height == MAX_HEIGHT:
                        return
                    height = min(page_height, MAX_HEIGHT)
                    await self._resize(height)
                await self._wait_quiet()
        except TimeoutError:
            return

    async def read(self) -> tuple[str, str]:
        """Return the visible HTML of the page and its URL."""
        tree = (await self._send("Page.getFrameTree"))["frameTree"]
        frame = tree["frame"]
        if frame.get("unreachableUrl"):
            raise DevToolsError("the page did not load")
        return await self._read_frame(tree, frame["url"]), frame["url"] + frame.get("urlFragment", "")

    async def _read_frame(self, tree: Mapping[str, Any], page_url: str) -> str:
        """Return the visible HTML of a frame, with that of the frames in it that belong to the same site."""
        world = await self._world(tree["frame"]["id"])
        arguments: list[dict[str, Any]] = [{"value": MAX_HTML}]
        for child in tree.get("childFrames", ()):
            if is_same_site(child["frame"]["url"], page_url):
                try:
                    html = await self._read_frame(child, page_url)
                    owner = await self._send("DOM.getFrameOwner", frameId=child["frame"]["id"])
                    node = await self._send(
                        "DOM.resolveNode", backendNodeId=owner["backendNodeId"], executionContextId=world
                    )
                except DevToolsError:  # the frame has gone
                    continue
                arguments += [{"objectId": node["object"]["objectId"]}, {"value": html}]
        return str(await self._call(world, script("visible.js"), arguments))

    async def _wait_quiet(self) -> int:
        """Wait until the network and the document are quiet, and return the document's height."""
        while True:
            await self.network.wait_idle()
            try:
                world = await self._world(self._frame)
                limits = [
                    {"value": value} for value in (QUIET * 1000, QUIET_EMPTY * 1000, EMPTY_CHARS, PATIENCE * 1000)
                ]
                height = await self._call(world, script("quiet.js"), limits)
            except DevToolsError:
                self._devtools.check()  # otherwise the page has moved on to another document
                await asyncio.sleep(QUIET / 2)
                continue
            if self.network.is_idle(QUIET):
                return int(height)

    async def _world(self, frame: str) -> int:
        world = await self._send("Page.createIsolatedWorld", frameId=frame, worldName=WORLD)
        return int(world["executionContextId"])

    async def _call(self, world: int, function: str, arguments: list[dict[str, Any]]) -> Any:
        answer = await self._send(
            "Runtime.callFunctionOn",
            functionDeclaration=function,
            executionContextId=world,
            arguments=arguments,
            awaitPromise=True,
            returnByValue=True,
        )
        if details := answer.get("exceptionDetails"):
            raise DevToolsError(f"a script failed: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    async def _resize(self, height: int) -> None:
        await self._send(
            "Emulation.setDeviceMetricsOverride", width=WIDTH, height=height, deviceScaleFactor=1, mobile=False
        )

    async def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return await self._devtools.send(method, parameters, self._session)

    def _follow(self, event: Mapping[str, Any], _session: str) -> None:
        """Receive the network events of a worker that the page or another worker has started, and let it run."""
        worker = event["sessionId"]
        self._devtools.post("Network.enable", {}, worker)
        self._devtools.post("Target.setAutoAttach", FOLLOW, worker)
        self._devtools.post("Runtime.runIfWaitingForDebugger", {}, worker)

    def _decide(self, event: Mapping[str, Any], session: str) -> None:
        """Decide about a request that the browser has paused: documents need permission, `REFUSED` kinds fail."""
        task = asyncio.create_task(self._answer(event, session))
        self._decisions.add(task)
        task.add_done_callback(self._decisions.discard)

    async def _answer(self, event: Mapping[str, Any], session: str) -> None:
        url, kind, number = event["request"]["url"], event["resourceType"], event["requestId"]
        is_web = urlsplit(url).scheme in {"http", "https"}
        if kind not in REFUSED and self._allows and (not is_web or kind != "Document" or await self._allows(url)):
            self._devtools.post("Fetch.continueRequest", {"requestId": number}, session)
        else:
            self._devtools.post("Fetch.failRequest", {"requestId": number, "errorReason": "BlockedByClient"}, session)

    def _authorize(self, event: Mapping[str, Any], session: str) -> None:
        """Give the secret to the proxy. No site gets an answer."""
        is_proxy = event["authChallenge"].get("source") == "Proxy"
        answer = self._credentials if is_proxy else {"response": "CancelAuth"}
        parameters = {"requestId": event["requestId"], "authChallengeResponse": answer}
        self._devtools.post("Fetch.continueWithAuth", parameters, session)

    def _dismiss(self, _: Mapping[str, Any], session: str) -> None:
        """Close a dialog, which stops a page's scripts."""
        self._devtools.post("Page.handleJavaScriptDialog", {"accept": False}, session)


@cache
def script(name: str) -> str:
    """Return the JavaScript function in a file of this folder."""
    text = files("keyhole.extensions.browser").joinpath(name).read_text(encoding="utf-8")
    return text[text.index("function ") :] if not text.startswith("async") else text


def is_same_site(frame: str, page: str) -> bool:
    """Return True if a frame's URL belongs to the page's site: the same host, a subdomain, or a domain above it.

    A frame without an address of its own (about:srcdoc, blob:) belongs to the page.
    """
    if not frame.startswith(("http:", "https:")):
        return True
    hosts = [(urlsplit(url).hostname or "").removeprefix("www.") for url in (frame, page)]
    shorter, longer = sorted(hosts, key=len)
    return shorter == longer or ("." in shorter and longer.endswith("." + shorter))
