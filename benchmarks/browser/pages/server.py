"""Serve the pages and their APIs on loopback: `python -m benchmarks.browser.pages.server DIST`.

Prints the port as JSON and serves until standard input ends. Every page also runs /track.js, which asks for five things
of a private address, as trackers and attacks do. /counts tells how many connections and datagrams arrived there, and
how many other requests were answered here.
"""

from __future__ import annotations

import html
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from benchmarks.browser.pages.catalogue import BATCH, PAGES, Page

HOST: Final = "127.0.0.1"
PRIVATE_HOST: Final = "127.9.9.9"
"""An address that no page may reach."""
_SHELL: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<link rel="stylesheet" href="/apps/{app}.css"><script type="module" src="/apps/{app}.js"></script>
</head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>
"""
_TRACK: Final = """
const at = "%s";
fetch(`http://${at}/fetch`, { mode: "no-cors" }).catch(() => {});
new Image().src = `http://${at}/image`;
new WebSocket(`ws://${at}/socket`);
navigator.sendBeacon(`http://${at}/beacon`);
const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:${at}` }] });
peer.createDataChannel("track");
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
"""
_FRAME: Final = """<!doctype html><main></main><script>
fetch("/fragment/{name}/{part}").then((response) => response.text()).then((text) => {{
  document.querySelector("main").innerHTML = text;
}});
</script>"""
_TYPES: Final = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json"}


def section_html(section: dict[str, str]) -> str:
    """Return a section as HTML."""
    return f"<h2>{html.escape(section['heading'])}</h2><p>{html.escape(section['text'])}</p>"


def fragment(page: Page, part: str) -> str:
    """Return a part of a page's data as HTML: heading, sections, one section, notes (hidden), or poll (all of it)."""
    data = page.data
    heading = f"<h1>{html.escape(data['title'])}</h1><p>{html.escape(data['intro'])}</p>"
    sections = [section_html(section) for section in data["sections"]]
    notes = "".join(f'<p data-controller="secret">{text}</p>' for text in data["hidden"])
    kinds = {"heading": heading, "sections": "".join(sections), "notes": notes}
    kinds |= {f"section-{number}": text for number, text in enumerate(sections)}
    kinds["poll"] = f'{heading}{"".join(sections)}<div class="faint">{notes}</div>'
    if page.app == "turbo":
        return f'<turbo-frame id="{part}">{kinds[part]}</turbo-frame>'
    return kinds[part]


def events(page: Page) -> Iterator[dict[str, str]]:
    """Yield the elements that a stream of events adds to its page."""
    yield {"tag": "h1", "text": page.data["title"], "style": ""}
    yield {"tag": "p", "text": page.data["intro"], "style": ""}
    for section in page.data["sections"]:
        yield {"tag": "h2", "text": section["heading"], "style": ""}
        yield {"tag": "p", "text": section["text"], "style": ""}
    yield {"tag": "p", "text": " ".join(page.data["hidden"]), "style": "display: none"}


def api(page: Page, part: str, number: int) -> Any:
    """Return the answer of a page's API."""
    if part == "batch":
        items: Sequence[Any] = page.data["items"] + page.data["later"]
        return {"title": page.data["title"], "items": items[number * BATCH : (number + 1) * BATCH]}
    return page.parts[part] if part else page.data


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    dist: Path
    private: Private
    stopping: Event

    def do_GET(self) -> None:
        """Answer a request by the first part of its path."""
        url = urlsplit(self.path)
        kind, _, rest = url.path.removeprefix("/").partition("/")
        name, _, part = rest.partition("/")
        page = PAGES.get(name)
        self.private.counts["requests"] += kind != "counts"
        if kind == "events" and page:
            self._stream(page)
        elif kind == "api" and page:
            time.sleep(page.delay)
            number = int(parse_qs(url.query).get("number", ["0"])[0])
            self._send(json.dumps(api(page, part, number)), ".json")
        elif kind == "fragment" and page:
            time.sleep(page.delay)
            self._send(fragment(page, part), ".html")
        elif kind == "frame" and page:
            self._send(_FRAME.format(name=name, part=part), ".html")
        elif kind == "p" and page:
            self._send(self._tracked(_SHELL.format(name=name, app=page.app)), ".html")
        elif kind == "track.js":
            self._send(_TRACK % self.private.address, ".js")
        elif kind == "counts":
            self._send(json.dumps(self.private.counts), ".json")
        else:
            self._send_file(url.path.removeprefix("/"))

    def _tracked(self, text: str) -> str:
        return text.replace("</head>", '<script src="/track.js" async></script></head>', 1)

    def _send_file(self, path: str) -> None:
        """Send a built file, or a page of Next.js, whose file ends in `.html`."""
        file = (self.dist / path).resolve()
        if not file.suffix:
            file = file.with_suffix(".html")
        if not file.is_relative_to(self.dist) or not file.is_file():
            self._send("Not found", ".html", status=404)
        elif file.suffix == ".html":
            self._send(self._tracked(file.read_text(encoding="utf-8")), ".html")
        else:
            self._send(file.read_text(encoding="utf-8"), file.suffix)

    def _send(self, text: str, suffix: str, *, status: int = 200) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{_TYPES.get(suffix, 'text/plain')}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        with suppress(OSError):  # a page that is closed early closes its connections
            self.end_headers()
            self.wfile.write(body)

    def _stream(self, page: Page) -> None:
        """Send a page's events 50 ms apart, and leave the connection open."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            for event in events(page):
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                time.sleep(0.05)
            while not self.stopping.wait(1):
                self.wfile.write(b": still here\n\n")

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


class Private:
    """A private address that counts the connections and datagrams that reach it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._tcp = socket.create_server((PRIVATE_HOST, 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(self._tcp.getsockname())
        self.address = "{}:{}".format(*self._tcp.getsockname())
        for serve in (self._serve_tcp, self._serve_udp):
            Thread(target=serve, daemon=True).start()

    def _serve_tcp(self) -> None:
        while True:
            connection, _ = self._tcp.accept()
            self.counts["connections"] += 1
            connection.close()

    def _serve_udp(self) -> None:
        while True:
            self._udp.recv(2048)
            self.counts["datagrams"] += 1


@contextmanager
def serve_pages(dist: Path) -> Iterator[int]:
    """Serve the apps that were built in `dist`, in a thread; yield the port."""
    stopping = Event()
    members = {"dist": dist.resolve(), "private": Private(), "stopping": stopping}
    with ThreadingHTTPServer((HOST, 0), type("BoundHandler", (Handler,), members)) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.server_port
        stopping.set()
        server.shutdown()


@contextmanager
def run_server(dist: Path) -> Iterator[str]:
    """Run this server in a process; yield its endpoint, `host:port`."""
    command = [sys.executable, "-m", "benchmarks.browser.pages.server", str(dist)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield f"{HOST}:{json.loads(process.stdout.readline())['port']}"
        process.stdin.close()


def read_counts(endpoint: str) -> Counter[str]:
    """Return how many requests the server has answered, and what has reached the private address."""
    with urllib.request.urlopen(f"http://{endpoint}/counts") as response:
        return Counter(json.load(response))


def main() -> int:
    """Serve until standard input ends; return 0."""
    with serve_pages(Path(sys.argv[1])) as port:
        print(json.dumps({"port": port}), flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
