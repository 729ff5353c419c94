"""Start a Chromium with an empty profile behind a proxy, speak to it, and end all of its processes."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from keyhole.text.parse_json import parse_json

# The Chrome DevTools Protocol over two pipes: JSON messages separated by NUL. See
# https://chromedevtools.github.io/devtools-protocol/.

log = logging.getLogger(__name__)

MAX_MESSAGE: Final = 64 * 1024 * 1024
"""Largest message of the browser, in bytes. The HTML of a page is a message; it is bounded in visible.js."""

Handler = Callable[[Mapping[str, Any], str], None]
"""A function that takes the parameters of an event and the id of its session."""


class DevToolsError(Exception):
    """The browser refused a command, a script raised an exception, or the browser ended."""


class DevTools:
    """A connection to a browser. Commands may be sent concurrently; events are passed to handlers in their order."""

    def __init__(
        self, reader: asyncio.StreamReader, reading: asyncio.BaseTransport, writer: asyncio.WriteTransport
    ) -> None:
        self._reader = reader
        self._reading = reading
        self._writer = writer
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._handlers: dict[str, Handler] = {}
        self._failure = ""
        self._task = asyncio.create_task(self._receive())

    @classmethod
    async def open(cls, reading: int, writing: int) -> DevTools:
        """Take over the two ends of pipes and return the connection. They are closed if this is cancelled."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_MESSAGE)
        with ExitStack() as stack:
            source, sink = os.fdopen(reading, "rb", 0), os.fdopen(writing, "wb", 0)
            stack.callback(source.close)
            stack.callback(sink.close)
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
            stack.callback(transport.close)
            writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sink)
            stack.pop_all()
        return cls(reader, transport, writer)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` for each event of this name."""
        self._handlers[event] = handler

    async def send(self, method: str, parameters: Mapping[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """Send a command and return its result. Raises DevToolsError."""
        number = self.post(method, parameters, session)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self.check()
            return await future
        finally:
            del self._waiting[number]

    def post(self, method: str, parameters: Mapping[str, Any] | None = None, session: str = "") -> int:
        """Send a command whose result nobody waits for, and return its number."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        self._writer.write(json.dumps(message).encode() + b"\0")
        return number

    def check(self) -> None:
        """Raise DevToolsError if the browser or its page has ended."""
        if self._failure:
            raise DevToolsError(self._failure)

    def fail(self, reason: str) -> None:
        """Fail all commands that wait for an answer, and all later ones."""
        self._failure = self._failure or reason
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(DevToolsError(reason))

    async def aclose(self) -> None:
        """Close the pipes. Chromium ends when they are closed."""
        if not self._writer.is_closing():  # asyncio fails to abort a pipe that is closed
            self._writer.abort()
        self._reading.close()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _receive(self) -> None:
        try:
            while True:
                data = await self._reader.readuntil(b"\0")
                self._dispatch(parse_json(data[:-1]))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            self.fail("the browser ended")

    def _dispatch(self, message: Mapping[str, Any]) -> None:
        if "id" in message:
            future = self._waiting.get(message["id"])
            if future is None or future.done():
                return
            if "error" in message:
                future.set_exception(DevToolsError(str(message["error"].get("message"))))
            else:
                future.set_result(message["result"])
        elif handler := self._handlers.get(message.get("method", "")):
            handler(message.get("params", {}), message.get("sessionId", ""))


# The process of the browser: a supervisor starts it and ends its whole tree.

NAMES: Final = (
    "chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable",
    "google-chrome",
)  # fmt: skip
"""Programs to look for on PATH. The headless shell is first: it starts faster and needs less memory."""
MAX_MEMORY: Final = 1_000_000_000
"""Bytes of memory that one page and its browser may fill. The browser itself needs about 150 MB; see
benchmarks/browser."""
MAX_HEAP: Final = 512
"""Megabytes of JavaScript objects of one page."""
START_SECONDS: Final = 10.0
"""Seconds for the browser's start. It takes about 0.5 s on an idle machine."""
END_SECONDS: Final = 2.0
"""Seconds for the supervisor to kill all processes and to remove the profile, after which it is killed itself."""
SUPERVISOR: Final = Path(__file__).with_name("supervisor.py")
"""The script that runs the browser."""
DESKTOP_PROGRAMS: Final = ("gio", "xdg-email", "xdg-mime", "xdg-open", "xdg-settings")
"""Programs that Chromium starts by name, without asking: a page with a frame of `mailto:` starts the mail program. For
each of them, the browser finds a program that fails instead. The headless shell starts none of them."""
WIDTH: Final = 1280
HEIGHT: Final = 1024
"""Size of the window in CSS pixels: that of a small desktop screen, for which sites show their complete layout."""

FLAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "--headless": "opens no window",
        "--remote-debugging-pipe": "is controlled over two pipes and opens no port",
        # The network. Without the next four, requests go around the proxy: see test_escapes.py.
        "--proxy-bypass-list=<-loopback>": "sends requests to loopback through the proxy too",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp": "keeps WebRTC from sending UDP around the proxy",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp": "the same, as older versions name it",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1": "asks no name server, as WebRTC otherwise does",
        "--disable-quic": "sends no UDP for HTTP/3",
        "--dns-prefetch-disable": "resolves no names itself",
        "--disable-background-networking": "fetches no lists and updates of its own",
        "--disable-component-update": "likewise",
        "--disable-domain-reliability": "reports no failures to Google",
        "--disable-sync": "has no account",
        "--disable-breakpad": "sends no crash reports, and starts no process for them",
        "--no-pings": "sends no audits of links",
        "--disable-features=" + ",".join(
            (
                "AimEnabled", "AimServerEligibilityEnabled", "AimServerRequestOnStartupEnabled",
                "AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "DialMediaRouteProvider",
                "PreconnectToSearch", "PrewarmDefaultSearchEngine",
                "InterestFeedContentSuggestions", "MediaRouter", "OptimizationHints", "Translate", "WebBluetooth",
                "IsolateOrigins", "site-per-process",
            )
        ): "leaves out services that connect by themselves; the last two put all frames of a page into one process, "
        "which holds no data of other sites, since it shows one page without cookies",
        # The page.
        "--blink-settings=imagesEnabled=false": "does not request images, since only text is read",
        "--block-new-web-contents": "opens no further pages",
        "--deny-permission-prompts": "gives pages no rights that a person would be asked for",
        "--disable-notifications": "likewise",
        "--disable-print-preview": "does not print",
        "--mute-audio": "plays no sound",
        "--autoplay-policy=user-gesture-required": "does not load videos",
        f"--js-flags=--max-old-space-size={MAX_HEAP}": "bounds the memory of scripts",
        f"--window-size={WIDTH},{HEIGHT}": "shows the layout for desktops",
        "--hide-scrollbars": "gives the page the whole width",
        "--lang=en-US": "does not depend on the operator's locale",
        # The process.
        "--no-startup-window": "opens no page of its own, which would be another process",
        "--no-first-run": "shows no welcome page",
        "--no-default-browser-check": "asks nothing",
        "--disable-default-apps": "installs nothing",
        "--disable-extensions": "runs no code beside the page",
        "--disable-gpu": "needs no graphics",
        "--disable-software-rasterizer": "saves memory: there is no WebGL, which shows no text",
        "--force-gpu-mem-available-mb=8": "saves memory: keeps few of the painted areas of a tall page",
        "--enable-features=NetworkServiceInProcess2": "saves memory: the network has no process of its own, which "
        "on Linux is outside of the sandbox too",
        "--disable-dev-shm-usage": "does not fail where /dev/shm is small, as in containers",
        "--password-store=basic": "asks no keyring of the desktop",
        "--use-mock-keychain": "likewise, on macOS",
        "--disable-hang-monitor": "shows no dialog for a slow page; the deadline ends it",
        "--disable-renderer-backgrounding": "does not slow down the timers of a page without a window",
        "--disable-background-timer-throttling": "likewise",
        "--disable-backgrounding-occluded-windows": "likewise",
    }
)  # fmt: skip
"""The flags of every browser, and the reason for each."""


def find_browser(program: str = "") -> str | None:
    """Return the path of `program`, or of the first known browser on PATH; None if there is none."""
    return next(filter(None, map(shutil.which, [program] if program else NAMES)), None)


def browser_command(program: str, profile: str, port: int, user_agent: str) -> list[str]:
    """Return the command that starts a browser behind the proxy on this port of the loopback address."""
    own = (f"--user-data-dir={profile}", f"--proxy-server=http://127.0.0.1:{port}", f"--user-agent={user_agent}")
    return [program, *FLAGS, *own]


@dataclass(frozen=True, slots=True)
class Browser:
    """A running browser."""

    devtools: DevTools
    supervisor: subprocess.Popen[bytes]
    control: int
    """The descriptor of the supervisor's standard input."""
    profile: str

    @property
    def is_alive(self) -> bool:
        """True until the supervisor has ended the browser."""
        return self.supervisor.poll() is None

    def set_deadline(self, seconds: float) -> None:
        """Let the supervisor end the browser after `seconds`."""
        with suppress(BrokenPipeError):  # it has ended already
            os.write(self.control, f"{seconds:.3f}\n".encode())


async def start_browser(program: str, port: int, user_agent: str, seconds: float) -> Browser:
    """Start a browser that ends at the latest after `seconds`. Raises DevToolsError or OSError."""
    profile = tempfile.mkdtemp(prefix="keyhole-browser-")
    browser = await _launch(profile, browser_command(program, profile, port, user_agent), seconds)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(end_browser, browser)
        try:
            async with asyncio.timeout(START_SECONDS):
                await browser.devtools.send("Browser.getVersion")
        except TimeoutError as error:
            raise DevToolsError("the browser did not start") from error
        stack.pop_all()
    return browser


async def _launch(profile: str, command: list[str], seconds: float) -> Browser:
    """Start the supervisor, which starts the browser, and connect to the browser's pipes."""
    with ExitStack() as theirs, ExitStack() as ours:
        ours.callback(shutil.rmtree, profile, ignore_errors=True)
        (orders, control), (commands, writing), (reading, answers) = os.pipe(), os.pipe(), os.pipe()
        for descriptor in (control, writing, reading):
            ours.callback(os.close, descriptor)
        for descriptor in (orders, commands, answers):
            theirs.callback(os.close, descriptor)
        values = (seconds, MAX_MEMORY, profile, commands, answers)
        supervisor = subprocess.Popen(  # noqa: ASYNC220 - takes milliseconds
            [sys.executable, "-I", "-S", str(SUPERVISOR), *map(str, values), *command],
            stdin=orders,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(commands, answers),
            start_new_session=True,
            env=_environment(profile),
        )
        ours.pop_all()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_end, supervisor, control, profile)
        browser = Browser(await DevTools.open(reading, writing), supervisor, control, profile)
        stack.pop_all()
    return browser


async def end_browser(browser: Browser) -> None:
    """End all processes of a browser and remove its profile. Returns when both are done, or when it is cancelled."""
    try:
        await browser.devtools.aclose()
    finally:
        await _end(browser.supervisor, browser.control, browser.profile)


async def _end(supervisor: subprocess.Popen[bytes], control: int, profile: str) -> None:
    """End the supervisor, also if this is cancelled meanwhile."""
    await asyncio.shield(asyncio.to_thread(_end_supervisor, supervisor, control, profile))


def _end_supervisor(supervisor: subprocess.Popen[bytes], control: int, profile: str) -> None:
    os.close(control)  # the supervisor kills the browser's processes at the end of its input
    try:
        supervisor.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
    if supervisor.returncode:  # the supervisor was killed and could not do its work
        with suppress(ProcessLookupError):
            os.killpg(supervisor.pid, signal.SIGKILL)
        shutil.rmtree(profile, ignore_errors=True)


def _environment(profile: str) -> dict[str, str]:
    """Return the browser's environment: no settings and programs of a desktop, and all files in the profile."""
    programs = Path(profile, "programs")
    programs.mkdir()
    for name in DESKTOP_PROGRAMS:
        (programs / name).symlink_to(shutil.which("false") or "/bin/false")
    folders = dict.fromkeys(("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"), profile)
    return {
        "PATH": os.pathsep.join((str(programs), os.environ.get("PATH", os.defpath))),
        "LANG": "C.UTF-8",
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        **folders,
    }
