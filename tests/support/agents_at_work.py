"""Let agents work: real MCP clients call a real `keyhole serve` over stdio, which reads pages on loopback.

The pages are recorded ones, natural text under clear licences, and one that tries to harm a person who looks at it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import Implementation

from keyhole.cli.demo_site import fixtures_folder, recorded_pages
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve

LAST: Final = "the id in the result before"
"""Stands in the arguments of a call for the id of the latest stored text."""
HOSTILE_NAME: Final = '<img src="/leak/client" onerror="alert(1)"> \u202eagent 😈'
"""The name of a client that tries to write HTML and to turn the text around."""
_REFERENCE: Final = ("python-graphlib", "nodejs-permissions", "sqlite-queryplanner", "debian-faq-ja-customizing")
HITS: Final = {
    "/sqlite-wal": "Write-Ahead Logging",
    "/sqlite-queryplanner.html": "The SQLite Query Planner",
    "/missing": "Checkpoints explained",
    "/hostile.txt": '<b onclick="alert(9)">Thresholds</b> \u202e',
}
"""The paths and titles that a search finds."""
_HUGE: Final = "Rindfleischetikettierungsüberwachung" * 200
_ZALGO: Final = "".join(letter + "\u0351\u036b\u0343\u0324\u032f" * 4 for letter in "zalgo")
_MARKUP: Final = f"""
<script>fetch("/leak/script"); alert(1)</script><img src="/leak/image" onerror="alert(2)"><iframe src="/leak/frame">
</iframe><form action="/leak/form"><button autofocus>Send</button></form><svg onload="alert(3)"></svg>
<style>* {{ background: url(/leak/style) }}</style><link rel="stylesheet" href="/leak/sheet">
<meta http-equiv="refresh" content="0; url=/leak/refresh"><base href="http://127.0.0.1:9/">
</pre></div></main></body></html><!-- --><plaintext>
![image](/leak/markdown) [click](javascript:alert(4)) <a href="javascript:alert(5)">here</a>
\u202e right to left \u2066 שלום עולם مرحبا بالعالم 👩‍👩‍👧‍👦 🏴‍☠️ {_ZALGO} {_HUGE}
"""

Step = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


def hostile_markdown() -> str:
    """Return a Markdown page whose every paragraph tries to become a part of the page that shows it."""
    return "# </title><script>alert(0)</script> The vacuum threshold \u202e😈\n\n" + "\n\n".join(
        f"## Part {number}\n\nThe vacuum threshold of part {number}.\n{_MARKUP}" for number in range(8)
    )


def _answers() -> dict[str, bytes]:
    pages = {f"/{each.name}": (each.content_type, each.body) for each in recorded_pages().values()}
    for name in _REFERENCE:
        pages[f"/{name}.html"] = ("text/html", (fixtures_folder() / "reference" / f"{name}.html").read_bytes())
    hostile = hostile_markdown()
    title = "<title>&lt;script&gt;alert(6)&lt;/script&gt;</title>"
    words = "<p>The vacuum threshold &lt;img src=/leak/text onerror=alert(8)&gt; is \u202e high.</p>" * 30
    html = f"<!doctype html><html><head>{title}</head><body><main>{words}</main>{hostile.partition('Part 1')[2]}"
    pages["/hostile.txt"] = ("text/plain; charset=utf-8", hostile.encode())
    pages["/hostile.html"] = ("text/html; charset=utf-8", html.encode())
    surrogate = json.dumps(
        {"threshold": "\ud83d", "vacuum": "\udc00 lone surrogates \u0000 \u001b[31m", "rest": "x " * 5_000}
    )
    pages["/surrogates.json"] = ("application/json", surrogate.encode())
    return {path: response(body, Content_Type=kind) for path, (kind, body) in pages.items()}


def _respond(site: Site) -> Responder:
    """Answer with the pages. /notes changes with every request; /search is a search engine with the API of SearXNG."""
    answers = _answers()

    def talk(call: Call) -> None:
        if call.path == "/notes":
            count = sum(each.path == "/notes" for each in site.calls)
            notes = (f"## Version 1.{n}\n\nThe vacuum threshold is now {n}00 rows.\n\n" for n in range(1, count + 3))
            call.send(response(f"# Release notes\n\n{''.join(notes)}".encode(), Content_Type="text/markdown"))
        elif call.path.startswith("/search?"):
            hits = [{"url": site.url(path), "title": title, "content": title} for path, title in HITS.items()]
            call.send(response(json.dumps({"results": hits}).encode(), Content_Type="application/json"))
        else:
            call.send(answers.get(call.path, response(b"not here", "404 Not Found")))

    return talk


@contextmanager
def serve_pages() -> Iterator[Site]:
    """Serve the pages until the block ends."""
    with serve(_respond) as site:
        yield site


@dataclass(frozen=True, slots=True)
class Workplace:
    """A home folder of Keyhole and the site whose pages its agents read."""

    home: Path
    site: Site

    def environment(self) -> dict[str, str]:
        """Return the environment of Keyhole's processes."""
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        own = {"KEYHOLE_CONFIG": "off", "KEYHOLE_HOME": str(self.home), "KEYHOLE_ALLOW_PRIVATE": self.site.endpoint}
        return {**kept, **own, "KEYHOLE_ENGINES": "searxng", "KEYHOLE_SEARXNG_URL": self.site.url("")}

    @contextmanager
    def look(self) -> Iterator[str]:
        """Run `keyhole look` in a process of its own until the block ends; yield its link."""
        command = [sys.executable, "-m", "keyhole", "look", "--no-open", "--port", "0"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=self.environment(), stdout=pipe, stderr=pipe, text=True) as process:
            assert process.stdout
            try:
                yield process.stdout.readline().strip()
            finally:
                process.terminate()
                process.communicate(timeout=PATIENCE)

    def export(self, file: Path, *options: str) -> None:
        """Run `keyhole look --export`."""
        command = [sys.executable, "-m", "keyhole", "look", "--export", str(file), *options]
        subprocess.run(command, env=self.environment(), check=True, capture_output=True, timeout=60)

    def work(self, client: str, steps: Sequence[Step]) -> list[str]:
        """Make the calls as a client with this name, one after the other; return the texts of the results."""
        return self.begin(client, steps).result()

    def begin(self, client: str, steps: Sequence[Step]) -> Future[list[str]]:
        """Make the calls in a thread of their own."""
        with_thread = ThreadPoolExecutor(1)
        future = with_thread.submit(anyio.run, _call, self.environment(), client, steps)
        with_thread.shutdown(wait=False)
        return future

    def answer_questions(self) -> None:
        """Let three agents work: one reads on and asks again, one makes errors, and one reads hostile pages."""
        url = self.site.url
        threshold = "How is the vacuum threshold that triggers autovacuum defined?"
        self.work(
            "research-agent",
            [
                ("web_fetch", {"url": url("/routine-vacuuming"), "query": threshold, "max_chars": 2_000}),
                ("read_artifact", {"id": LAST, "offset": 4_000, "limit": 1_500}),
                ("read_artifact", {"id": LAST, "query": "transaction ID wraparound failure", "max_chars": 1_500}),
                ("read_artifact", {"id": LAST, "find": "vacuum base threshold"}),
                ("web_fetch", {"url": url("/sqlite-wal"), "query": "checkpoint starvation by long readers"}),
                ("web_fetch", {"url": url("/python-graphlib.html"), "query": "zanzibar cycles in a graph"}),
            ],
        )
        self.work(
            "review-agent",
            [
                ("web_fetch", {"url": url("/notes"), "query": "vacuum threshold"}),
                ("web_fetch", {"url": url("/notes"), "query": "vacuum threshold", "refresh": True}),
                ("web_fetch", {"url": url("/missing"), "query": "anything"}),
                ("search", {"query": "write-ahead log checkpoint"}),
                ("web_fetch", {"url": url("/debian-faq-ja-customizing.html"), "query": "キーボード 配列"}),
            ],
        )
        self.work(
            HOSTILE_NAME,
            [
                (
                    "web_fetch",
                    {"url": url("/hostile.txt"), "query": "vacuum threshold <script>alert(7)</script> \u202e"},
                ),
                ("web_fetch", {"url": url("/hostile.html"), "query": "vacuum threshold"}),
                ("web_fetch", {"url": url("/surrogates.json"), "query": "lone surrogates"}),
            ],
        )


async def _call(environment: dict[str, str], client: str, steps: Sequence[Step]) -> list[str]:
    server = StdioServerParameters(command=sys.executable, args=["-m", "keyhole", "serve"], env=environment)
    texts: list[str] = []
    async with Client(server, client_info=Implementation(name=client, version="1.0")) as session:
        id = ""
        for tool, arguments in steps:
            given = {name: id if value is LAST else value for name, value in arguments.items()}
            result = await session.call_tool(tool, given)
            texts.append(result.content[0].text)  # type: ignore[union-attr]
            if found := re.search(r'\bid="([^"]+)"', texts[-1]):
                id = found[1]
    return texts
